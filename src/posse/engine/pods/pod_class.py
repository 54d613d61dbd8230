"""A class: pods that every rule treats equally, apart from how others see their labels.

A class is compiled and evaluated once for all its pods. Its key is the encoded form of every field that some
rule reads, and the terms, whose meaning depends on namespace and labels. A cluster has few classes and many
pods.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec

from posse.engine.devices.devices import Devices
from posse.engine.devices.needs import DeviceNeeds
from posse.engine.keys import ClaimKey
from posse.engine.nodes.node_table import Load, NodeTable, image_key, load_of
from posse.engine.nodes.resources import Amounts, effective_requests, scoring_requests
from posse.engine.pods.affinity_terms import HostPort, PodTerms, host_ports
from posse.engine.pods.policy import PodReader
from posse.engine.pods.selectors import PodQuery
from posse.engine.storage.book import VolumeNeeds, volume_needs
from posse.model.limits import require_within_limits
from posse.model.pod import Pod, PodSpec

ClassKey = tuple[bytes, PodTerms, VolumeNeeds | None, DeviceNeeds | None]

_encoder = msgspec.msgpack.Encoder(order="deterministic")


@dataclass(slots=True, eq=False)
class PodClass:
    spec: PodSpec
    """The spec of the first member; rules read only what the key covers."""
    requests: tuple[tuple[int, int], ...]
    """(resource index, amount), without zero amounts. The indexes are held until the class leaves."""
    amounts: tuple[tuple[str, int], ...]
    """The requests by name."""
    limited: tuple[tuple[int, int], ...]
    """The requests that a node must have capacity for."""
    load: Load
    """The requests, and their scoring amounts, as they are added to a node's columns."""
    terms: PodTerms
    queries: tuple[PodQuery, ...]
    """Every count of pods that the terms need."""
    ports: tuple[HostPort, ...]
    images: tuple[str, ...]
    """One entry per container and image volume, in any order."""
    volumes: VolumeNeeds | None
    """Claims and disks; None for the many pods that have neither."""
    devices: DeviceNeeds | None
    """Claims for devices; None for the many pods without any."""
    key: ClassKey
    member_count: int = 0

    def uses_any(self, claims: Collection[ClaimKey]) -> bool:
        return self.volumes is not None and any(use.key in claims for use in self.volumes.claims)


def key_of(pod: Pod, terms: PodTerms, devices: DeviceNeeds | None) -> ClassKey:
    spec = pod.spec
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    # Most pods have neither init containers nor volumes.
    first, volumes = spec.init_containers, spec.volumes
    parts = (
        [(c.resources, c.restart_policy, c.ports, c.image) for c in first] if first else (),
        [(c.resources, c.ports, c.image) for c in spec.containers],
        spec.resources,
        spec.overhead,
        spec.node_selector,
        affinity,
        spec.tolerations,
        spec.scheduler_name,
        [volume.image for volume in volumes if volume.image is not None] if volumes else (),
    )
    try:
        encoded = _encoder.encode(parts)
    except OverflowError:
        # A quantity may be a number of more than 64 bits.
        encoded = repr(parts).encode()
    return encoded, terms, volume_needs(pod) if volumes else None, devices


class ClassTable:
    """Classes with at least one member. A class leaves with its last member."""

    def __init__(self, nodes: NodeTable, reader: PodReader, devices: Devices | None = None) -> None:
        self._nodes = nodes
        self._reader = reader
        self._devices = devices
        self._classes: dict[ClassKey, PodClass] = {}

    def __len__(self) -> int:
        return len(self._classes)

    def join(self, pod: Pod) -> PodClass:
        key = key_of(pod, self._reader.terms(pod), self._device_needs(pod))
        pod_class = self._classes.get(key)
        if pod_class is None:
            pod_class = self._classes[key] = self._compile(pod, key)
        pod_class.member_count += 1
        return pod_class

    def _device_needs(self, pod: Pod) -> DeviceNeeds | None:
        devices = self._devices
        may_need = devices is not None and (pod.spec.resource_claims or devices.book.classes)
        return devices.needs(pod) if devices is not None and may_need else None

    def leave(self, pod_class: PodClass) -> None:
        pod_class.member_count -= 1
        if not pod_class.member_count:
            del self._classes[pod_class.key]
            self._nodes.release_resources(index for index, _ in pod_class.requests)

    def _compile(self, pod: Pod, key: ClassKey) -> PodClass:
        """LimitError: the pod is not to be read."""
        require_within_limits(pod)
        needed = effective_requests(pod)
        limits = self._reader.policy(pod).limits
        of_devices = dict(key[3].extended_amounts) if key[3] is not None else {}
        indexes = dict(zip(needed, self._nodes.hold_resources(list(needed)), strict=True))
        limited = {n: wanted for n, wanted in needed.items() if limits.cover(n) and n not in of_devices}
        requests = _indexed(indexes, needed)
        return PodClass(
            spec=pod.spec,
            requests=requests,
            amounts=tuple(sorted(needed.items())),
            load=load_of(requests, scoring_requests(pod)),
            limited=_indexed(indexes, limited),
            terms=key[1],
            queries=key[1].queries,
            ports=host_ports(pod),
            images=_images(pod.spec),
            volumes=key[2],
            devices=key[3],
            key=key,
        )


def _indexed(indexes: Mapping[str, int], amounts: Amounts) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((indexes[name], wanted) for name, wanted in amounts.items()))


def _images(spec: PodSpec) -> tuple[str, ...]:
    names = [container.image for container in (*spec.init_containers, *spec.containers)]
    names += [
        str(volume.image.get("reference", "")) for volume in spec.volumes if isinstance(volume.image, dict)
    ]
    return tuple(sorted(image_key(name) for name in names))
