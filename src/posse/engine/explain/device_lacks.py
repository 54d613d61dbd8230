"""Requests for devices that find too few: which devices match, where they are, and who holds them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from posse.engine.devices.devices import Devices
from posse.engine.devices.needs import claim_names, pod_claims
from posse.engine.devices.records import DeviceRecord
from posse.engine.devices.requests import Alternative
from posse.engine.devices.selecting import SelectorFailed, SelectorsTooCostly, new_allowance
from posse.engine.devices.wants import Want
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord
from posse.model.pod import Pod

_MAX_PLACES = 3
_MAX_HOLDERS = 5


@dataclass(frozen=True, slots=True)
class DevicePlace:
    """Matching devices of one node, or of a pool that several nodes reach."""

    where: str
    matching: int
    free: int


@dataclass(frozen=True, slots=True)
class DeviceHolder:
    """A claim that holds matching devices."""

    claim: str
    users: tuple[str, ...]
    """Pods and groups that it is reserved for."""
    devices: int


@dataclass(frozen=True, slots=True)
class DeviceLack:
    """One request of one claim, and the devices that it could have."""

    claim: str
    request: str
    class_name: str
    wanted: int
    """0 for all that match."""
    matching: int
    tainted: int
    """Matching devices with taints that the request does not tolerate."""
    places: tuple[DevicePlace, ...]
    """Most free devices first."""
    holders: tuple[DeviceHolder, ...]

    @property
    def most_free(self) -> int:
        """The largest number of free devices in one place."""
        return self.places[0].free if self.places else 0

    @property
    def finds_enough(self) -> bool:
        """Whether one place has enough: then other requests, or rules, keep the pod away from there."""
        return self.most_free >= max(self.wanted, 1)


def device_lacks(state: ClusterState, record: PodRecord) -> tuple[DeviceLack, ...]:
    """The requests of the pod that lack devices; all of them, if each finds enough somewhere."""
    needs = record.pod_class.devices
    if needs is None or needs.problem or not len(state.nodes):
        return ()
    devices = state.devices
    found = [
        _lack(devices, _name(want, record.pod), wanted)
        for want in devices.wants(needs)
        for request in want.shape.requests
        for wanted in request.alternatives
    ]
    return tuple([one for one in found if not one.finds_enough] or found)


def _name(want: Want, pod: Pod) -> str:
    """A claim that was made from a template goes by the name that all pods of the template have for it."""
    entries = [one.entry for one in pod_claims(pod) if one.key is not None]
    made = [one.name for one in entries if one.resource_claim_template_name]
    return want.claim if want.position < 0 or want.claim in made else claim_names(pod)[want.position]


def _lack(devices: Devices, claim: str, wanted: Alternative) -> DeviceLack:
    matching = list(_matching(devices, wanted))
    tolerated = [one for one in matching if wanted.tolerates(one.taints)]
    places: dict[str, list[DeviceRecord]] = {}
    for one in tolerated:
        places.setdefault(one.node_name or "/".join(one.pool), []).append(one)
    counted = [
        DevicePlace(where, len(there), sum(1 for one in there if wanted.is_admin or devices.is_free(one)))
        for where, there in places.items()
    ]
    counted.sort(key=lambda one: (-one.free, -one.matching, one.where))
    return DeviceLack(
        claim,
        wanted.name,
        wanted.class_name,
        wanted.count,
        len(matching),
        len(matching) - len(tolerated),
        tuple(counted[:_MAX_PLACES]),
        tuple(_holders(devices, tolerated)),
    )


def _matching(devices: Devices, wanted: Alternative) -> Iterator[DeviceRecord]:
    """A selector that fails on a device does not match it here; the pod's own message tells of that."""
    allowance = new_allowance()
    for pool in devices.inventory.pools():
        for device in pool.devices:
            try:
                if devices.answers.searches.selecting.matches(wanted, device.kind, allowance):
                    yield device
            except (SelectorFailed, SelectorsTooCostly):
                continue


def _holders(devices: Devices, matching: Sequence[DeviceRecord]) -> Iterator[DeviceHolder]:
    wanted = dict.fromkeys(one.id for one in matching)
    found = []
    for record in devices.book.claims.values():
        held = sum(1 for one in record.used if one.device in wanted)
        if held:
            users = tuple(f"{one.resource.removesuffix('s')} {one.name}" for one in record.consumers)
            found.append(DeviceHolder(str(record.key), users, held))
    found.sort(key=lambda one: (-one.devices, one.claim))
    yield from found[:_MAX_HOLDERS]
