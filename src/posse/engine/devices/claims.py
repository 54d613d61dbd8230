"""Claims and device classes as the cluster shows them, and the pods that use each claim."""

from collections.abc import Iterable, Sequence

import msgspec

from posse.engine.devices.records import DeviceId
from posse.engine.devices.requests import ClaimShape, UnknownClassError, shape_of
from posse.engine.devices.usage import UsedDevice
from posse.engine.keys import ClaimKey
from posse.model.placement import NodeSelector
from posse.model.quantity import QuantityError, nano_value
from posse.model.resource_claim import (
    EXTENDED_RESOURCE_CLAIM_ANNOTATION,
    AllocationResult,
    DeviceClass,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimSpec,
)

_encoder = msgspec.msgpack.Encoder(order="deterministic")
POD_CONSUMER = ("", "pods")
MAX_CONSUMERS = 256


class DeviceClaimRecord(msgspec.Struct, frozen=True, gc=False, eq=False):
    key: ClaimKey
    claim: ResourceClaim
    uid: str
    owner: str
    """Uid of the object that it was made for; empty for a claim that a user made."""
    allocation: AllocationResult | None
    used: tuple[UsedDevice, ...]
    """Devices that no other claim can have, once it is allocated."""
    consumers: Sequence[ResourceClaimConsumerReference]
    is_slow: bool
    """Whether devices of it take time to be ready."""
    is_for_extended_resources: bool

    @property
    def pod_uids(self) -> list[str] | None:
        """Uids of the pods it is reserved for; None if it is reserved for anything else, or nothing."""
        uids = [one.uid for one in self.consumers if is_pod(one)]
        return uids if uids and len(uids) == len(self.consumers) else None

    @property
    def selector(self) -> NodeSelector | None:
        """The nodes from which its devices can be used."""
        return self.allocation.node_selector if self.allocation is not None else None


def _record_of(key: ClaimKey, claim: ResourceClaim) -> DeviceClaimRecord:
    metadata, allocation = claim.metadata, claim.status.allocation
    results = allocation.devices.results if allocation is not None else ()
    owners = [one.uid for one in metadata.owner_references if one.controller]
    return DeviceClaimRecord(
        key,
        claim,
        metadata.uid,
        owners[0] if owners else "",
        allocation,
        used_by(allocation),
        claim.status.reserved_for,
        is_slow=bool([one for one in results if one.binding_conditions]),
        is_for_extended_resources=EXTENDED_RESOURCE_CLAIM_ANNOTATION in metadata.annotations,
    )


def is_pod(consumer: ResourceClaimConsumerReference) -> bool:
    return (consumer.api_group, consumer.resource) == POD_CONSUMER


def used_by(allocation: AllocationResult | None) -> tuple[UsedDevice, ...]:
    """Access for administrators takes no device away from others."""
    if allocation is None:
        return ()
    used = []
    for one in allocation.devices.results:
        if not one.admin_access:
            consumed = None
            if one.share_id is not None:
                consumed = tuple(
                    (name, _amount(one.consumed_capacity[name])) for name in sorted(one.consumed_capacity)
                )
            used.append(UsedDevice(DeviceId(one.driver, one.pool, one.device), consumed))
    return tuple(used)


def _amount(quantity: str | float) -> int:
    try:
        return nano_value(quantity)
    except QuantityError:
        return 0


class ClaimBook:
    def __init__(self) -> None:
        self.claims: dict[ClaimKey, DeviceClaimRecord] = {}
        self.classes: dict[str, DeviceClass] = {}
        self._suspects: dict[ClaimKey, None] = {}
        """Claims that are allocated for pods which may not have started."""
        self._shapes: dict[bytes, ClaimShape | str] = {}
        self._users: dict[ClaimKey, dict[str, None]] = {}
        """Uids of the pods that name a claim, known or not."""
        self._reserved: dict[str, dict[ClaimKey, None]] = {}
        """Claims that are reserved for a pod, by its uid."""
        self.slow_claims = 0
        """Claims with devices that take time to be ready."""
        self._made: dict[str, dict[ClaimKey, None]] = {}
        """Claims for extended resources, by uid of the pod."""
        self._backing: dict[str, DeviceClass] | None = None
        self._released: dict[ClaimKey, tuple[str, str]] = {}
        """Claims that were released, with uid and version: they may lose their devices at any time."""
        self._deleted: dict[ClaimKey, dict[str, None]] = {}
        """Uids of claims that were deleted while they were written: the answer may still show them."""

    def put_claim(self, claim: ResourceClaim) -> None:
        key = ClaimKey(claim.metadata.namespace, claim.metadata.name)
        self.drop_claim(key)
        record = self.claims[key] = _record_of(key, claim)
        self.slow_claims += record.is_slow
        if record.is_for_extended_resources:
            self._made.setdefault(record.owner, {})[key] = None
        if record.allocation is not None and record.consumers:
            self.suspect(key)
        for one in record.consumers:
            self._reserved.setdefault(one.uid, {})[key] = None

    def note_release(self, record: DeviceClaimRecord) -> None:
        self._released[record.key] = record.uid, record.claim.metadata.resource_version

    def forget_release(self, key: ClaimKey) -> None:
        """The release failed, or the claim is gone."""
        self._released.pop(key, None)

    def is_released(self, record: DeviceClaimRecord) -> bool:
        """Whether this version of the claim was released; a newer one shows what has become of that."""
        released = self._released.get(record.key)
        return released is not None and released == (record.uid, record.claim.metadata.resource_version)

    def note_deleted(self, key: ClaimKey, uid: str) -> None:
        self._deleted.setdefault(key, {})[uid] = None

    def forget_deleted(self, key: ClaimKey) -> None:
        """No write of the claim is under way any more."""
        self._deleted.pop(key, None)

    def suspect(self, key: ClaimKey) -> None:
        """Have a look at the claim in the next round: its pods may not have started."""
        self._suspects[key] = None

    def take_suspects(self) -> list[ClaimKey]:
        taken, self._suspects = list(self._suspects), {}
        return taken

    def knows_newer(self, claim: ResourceClaim) -> bool:
        """Answers to writes and watches overtake each other."""
        key = ClaimKey(claim.metadata.namespace, claim.metadata.name)
        if claim.metadata.uid in self._deleted.get(key, ()):
            return True
        known = self.claims.get(key)
        if known is None or known.uid != claim.metadata.uid:
            return False
        ours, theirs = known.claim.metadata.resource_version, claim.metadata.resource_version
        return ours.isdigit() and theirs.isdigit() and int(ours) > int(theirs)

    def drop_claim(self, key: ClaimKey) -> None:
        record = self.claims.pop(key, None)
        if record is None:
            return
        self.slow_claims -= record.is_slow
        if record.is_for_extended_resources:
            made = self._made.get(record.owner, {})
            made.pop(key, None)
            if not made:
                self._made.pop(record.owner, None)
        for one in record.consumers:
            reserved = self._reserved.get(one.uid, {})
            reserved.pop(key, None)
            if not reserved:
                self._reserved.pop(one.uid, None)

    def put_class(self, device_class: DeviceClass) -> None:
        self.classes[device_class.metadata.name] = device_class
        self._shapes.clear()
        self._backing = None

    def drop_class(self, name: str) -> None:
        self.classes.pop(name, None)
        self._shapes.clear()
        self._backing = None

    @property
    def backing(self) -> dict[str, DeviceClass]:
        """The class for each extended resource that devices stand for; the newest, if several name it."""
        if self._backing is None:
            named = [one for one in self.classes.values() if one.spec.extended_resource_name]
            named.sort(key=lambda one: (one.metadata.creation_timestamp, one.metadata.name))
            self._backing = {str(one.spec.extended_resource_name): one for one in named}
        return self._backing

    def shape(self, spec: ResourceClaimSpec) -> ClaimShape | str:
        """The shape of a claim, or why it cannot be read."""
        key = _encoder.encode(spec.devices)
        known = self._shapes.get(key)
        if known is None:
            try:
                known = shape_of(spec, self.classes)
            except (UnknownClassError, QuantityError) as error:
                known = str(error)
            self._shapes[key] = known
        return known

    def made_for(self, uid: str) -> list[ClaimKey]:
        """Claims that were made for the extended resources of a pod."""
        return list(self._made.get(uid, ()))

    def note_user(self, key: ClaimKey, uid: str) -> Sequence[str]:
        """Returns the pod that was the only user until now, if this is another."""
        users = self._users.setdefault(key, {})
        alone = list(users) if len(users) == 1 and uid not in users else ()
        users[uid] = None
        return alone

    def is_only_user(self, key: ClaimKey, uid: str) -> bool:
        users = self._users.get(key, {})
        return len(users) == 1 and uid in users

    def forget_user(self, key: ClaimKey, uid: str) -> None:
        users = self._users.get(key, {})
        users.pop(uid, None)
        if not users:
            self._users.pop(key, None)

    def users(self, key: ClaimKey) -> list[str]:
        return list(self._users.get(key, ()))

    def reserved_for(self, uid: str) -> Iterable[ClaimKey]:
        return list(self._reserved.get(uid, ()))
