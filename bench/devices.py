"""Gangs with device claims, the engine alone: 5,000 nodes with 8 devices each, of 12 kinds.

The figure includes absorbing groups, claims and pods, deciding, and absorbing claims and bindings as the API
shows them afterwards. Devices are absorbed before, as in a running cluster.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from bench.engine_speed import pods_per_second
from bench.inputs import NAMESPACE, bound, gangs, nodes
from bench.measuring import Figure, Stopwatch, median_run
from posse.engine.decisions import Bind, ClaimAllocation
from posse.engine.devices.pools import PoolReader
from posse.engine.devices.requests import shape_of
from posse.engine.devices.selecting import Selecting, new_allowance
from posse.engine.engine import Engine
from posse.engine.events import Observed
from posse.engine.options import EngineOptions
from posse.model.device import Device, DeviceAttribute, ResourcePool, ResourceSlice, ResourceSliceSpec
from posse.model.meta import ObjectMeta, OwnerReference
from posse.model.node import Node
from posse.model.pod import Pod, PodResourceClaim, PodResourceClaimStatus
from posse.model.resource_claim import (
    CELDeviceSelector,
    DeviceClaim,
    DeviceClass,
    DeviceClassSpec,
    DeviceRequest,
    DeviceSelector,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
)
from posse.model.workload import PodGroup

_NODES = 5000
_DEVICES = 8
_KINDS = 12
_NOW = 1000.0
_DRIVER = "gpu.example.com"
_SELECTOR = f'device.attributes["{_DRIVER}"].generation < 6'


def measure() -> list[Figure]:
    cluster = nodes(_NODES)
    slices = [_slice(node.metadata.name, number % _KINDS) for number, node in enumerate(cluster)]
    groups, pods = gangs(1_000, 3)
    claimed = [_with_claim(one) for one in pods]
    watch = median_run(lambda: _schedule(cluster, slices, groups, claimed))
    return [
        pods_per_second("1,000 gangs of 3 with a device each, 5,000 nodes", watch, len(pods)),
        _selector(slices),
    ]


def _schedule(
    cluster: Sequence[Node],
    slices: Sequence[ResourceSlice],
    groups: Sequence[PodGroup],
    pods: Sequence[tuple[Pod, ResourceClaim]],
) -> Stopwatch:
    engine, watch = Engine(EngineOptions()), Stopwatch()
    engine.absorb(Observed(_device_class()))
    for node, devices in zip(cluster, slices, strict=True):
        engine.absorb(Observed(node))
        engine.absorb(Observed(devices))
    events = [Observed(group) for group in groups]
    for pod, claim in pods:
        events += (Observed(claim), Observed(pod))
    with watch.part("absorb"):
        for event in events:
            engine.absorb(event)
    with watch.part("decide"):
        decisions = engine.decide(_NOW)
        while engine.has_work:
            decisions += engine.decide(_NOW)
    binds = [decision for decision in decisions if isinstance(decision, Bind)]
    places = {placed.pod.uid: placed.node for bind in binds for placed in bind.placements}
    written = {one.uid: one for bind in binds for one in bind.claims}
    if len(places) != len(pods) or len(written) != len(pods):
        raise AssertionError(f"{len(places)} of {len(pods)} pods were placed: the figure would mean nothing")
    shown = [Observed(_allocated(claim, written[claim.metadata.uid])) for _, claim in pods]
    shown += [Observed(bound(pod, places[pod.metadata.uid])) for pod, _ in pods]
    with watch.part("confirm"):
        for event in shown:
            engine.absorb(event)
        engine.decide(_NOW)
    return watch


def _selector(slices: Sequence[ResourceSlice]) -> Figure:
    """A selector that was evaluated before, on all devices of the cluster."""
    reader, selecting = PoolReader(), Selecting()
    devices = [device for one in slices for device in reader.read([one], ()).devices]
    wanted = shape_of(_claim_spec(), {"gpu": _device_class()}).alternatives[0]
    allowance = new_allowance()
    for device in devices:
        selecting.matches(wanted, device.kind, allowance)
    found = 0

    def select() -> Stopwatch:
        nonlocal found
        watch = Stopwatch()
        with watch.part("select"):
            kinds = dict.fromkeys(device.kind for device in devices)
            answers = {kind: selecting.matches(wanted, kind, allowance) for kind in kinds}
            found = sum(answers[device.kind] for device in devices)
        return watch

    watch = median_run(select)
    detail = f"{found:,} of them match"
    return Figure(
        f"A selector on {len(devices):,} devices of {_KINDS} kinds", watch.total * 1e3, "ms", detail
    )


def _device_class() -> DeviceClass:
    return DeviceClass(
        metadata=ObjectMeta(name="gpu"),
        spec=DeviceClassSpec(selectors=(_cel(f'device.driver == "{_DRIVER}"'),)),
    )


def _slice(node: str, kind: int) -> ResourceSlice:
    attributes = {
        "model": DeviceAttribute(string_value=f"model-{kind}"),
        "generation": DeviceAttribute(int_value=kind),
    }
    return ResourceSlice(
        metadata=ObjectMeta(name=node, uid=f"slice-{node}"),
        spec=ResourceSliceSpec(
            driver=_DRIVER,
            pool=ResourcePool(name=node, generation=1, resource_slice_count=1),
            node_name=node,
            devices=tuple(Device(name=f"gpu-{n}", attributes=attributes) for n in range(_DEVICES)),
        ),
    )


def _claim_spec() -> ResourceClaimSpec:
    asked = ExactDeviceRequest(device_class_name="gpu", count=1, selectors=(_cel(_SELECTOR),))
    return ResourceClaimSpec(devices=DeviceClaim(requests=(DeviceRequest(name="gpu", exactly=asked),)))


def _cel(expression: str) -> DeviceSelector:
    return DeviceSelector(cel=CELDeviceSelector(expression=expression))


def _with_claim(pod: Pod) -> tuple[Pod, ResourceClaim]:
    """The pod with a claim that was made for it."""
    name, meta = f"{pod.metadata.name}-gpu", pod.metadata
    owner = OwnerReference(kind="Pod", name=meta.name, uid=meta.uid, controller=True)
    claim = ResourceClaim(
        metadata=ObjectMeta(name=name, namespace=NAMESPACE, uid=f"claim-{name}", owner_references=(owner,)),
        spec=_claim_spec(),
    )
    entry = PodResourceClaim(name="gpu", resource_claim_template_name="gpu")
    status = PodResourceClaimStatus(name="gpu", resource_claim_name=name)
    spec = replace(pod.spec, resource_claims=(entry,))
    return replace(pod, spec=spec, status=replace(pod.status, resource_claim_statuses=(status,))), claim


def _allocated(claim: ResourceClaim, decided: ClaimAllocation) -> ResourceClaim:
    status = ResourceClaimStatus(allocation=decided.allocation, reserved_for=decided.consumers)
    return replace(claim, status=status)
