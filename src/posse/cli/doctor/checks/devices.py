"""Device classes whose drivers publish nothing, pools with slices missing, and claims of unknown classes."""

import re
from collections import defaultdict
from collections.abc import Iterator

from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding, error, names, warning
from posse.kinds.registry import DEVICE_CLASS, RESOURCE_CLAIM, RESOURCE_SLICE
from posse.model.device import ResourceSlice
from posse.model.resource_claim import DeviceClass, ResourceClaim

_DRIVER = re.compile(r"""device\.driver\s*==\s*["']([^"']+)["']""")


def check_devices(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    slices = list(facts.all_of(RESOURCE_SLICE, ResourceSlice))
    classes = list(facts.all_of(DEVICE_CLASS, DeviceClass))
    drivers = {one.spec.driver for one in slices}
    for one in classes:
        wanted = _drivers_of(one)
        if wanted and not wanted & drivers:
            yield warning(
                f"DeviceClass {one.metadata.name} is for devices of {names(sorted(wanted))}, "
                "which publishes no ResourceSlices",
                "see whether its DaemonSet runs on the nodes: kubectl get resourceslices, and its logs",
            )
    yield from _incomplete_pools(slices)
    yield from _unknown_classes(facts, {one.metadata.name for one in classes})


def _drivers_of(one: DeviceClass) -> set[str]:
    texts = [selector.cel.expression for selector in one.spec.selectors if selector.cel is not None]
    return {driver for text in texts for driver in _DRIVER.findall(text)}


def _incomplete_pools(slices: list[ResourceSlice]) -> Iterator[DoctorFinding]:
    pools: dict[tuple[str, str], list[ResourceSlice]] = defaultdict(list)
    for one in slices:
        pools[one.spec.driver, one.spec.pool.name].append(one)
    for (driver, pool), found in sorted(pools.items()):
        newest = max(one.spec.pool.generation for one in found)
        current = [one for one in found if one.spec.pool.generation == newest]
        stated = max(one.spec.pool.resource_slice_count for one in current)
        if len(current) < stated:
            yield warning(
                f"pool {pool} of {driver} has {len(current)} of {stated} ResourceSlices, so it is not used",
                f"restart the driver {driver} where the pool is, or look at its log",
            )


def _unknown_classes(facts: ClusterFacts, classes: set[str]) -> Iterator[DoctorFinding]:
    unknown: dict[str, list[str]] = defaultdict(list)
    for claim in facts.all_of(RESOURCE_CLAIM, ResourceClaim):
        for name in _classes_of(claim) - classes:
            unknown[name].append(f"{claim.metadata.namespace}/{claim.metadata.name}")
    for name, claims in sorted(unknown.items()):
        yield error(
            f"DeviceClass {name} does not exist, and these claims ask for it: {names(claims)}",
            "create the class (its driver's installation does), or correct the claims",
        )


def _classes_of(claim: ResourceClaim) -> set[str]:
    requests = claim.spec.devices.requests
    exact = {request.exactly.device_class_name for request in requests if request.exactly is not None}
    return exact | {one.device_class_name for request in requests for one in request.first_available}
