"""Devices that placed pods were promised, until the cluster shows the allocation, and what claims hold.

Each claim counts once: with the allocation that the cluster shows, else with its promise. A promise holds
while a pod that uses it is on its node. What is being written counts until the outcome is known, whatever
has become of the pod.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import msgspec

from posse.engine.devices.claims import ClaimBook, DeviceClaimRecord
from posse.engine.devices.needs import extended_key_of, owner_of_extended
from posse.engine.devices.usage import DevicesInUse, UsedDevice
from posse.engine.devices.wants import Grant
from posse.engine.keys import ClaimKey


class _ClaimWrite(msgspec.Struct, frozen=True, gc=False):
    holder: ClaimKey
    used: tuple[UsedDevice, ...]


class Promise(msgspec.Struct, eq=False, gc=False):
    grants: tuple[Grant, ...]
    node: str
    """The node for which the devices were chosen."""
    users: dict[str, None] = msgspec.field(default_factory=dict)
    """Uids of the pods on nodes that use it."""

    @property
    def used(self) -> tuple[UsedDevice, ...]:
        return used_of(self.grants)


def used_of(grants: Iterable[Grant]) -> tuple[UsedDevice, ...]:
    """Access for administrators takes no device away from others."""
    return tuple(
        [
            UsedDevice(
                one.device.id, tuple(sorted(one.consumed.items())) if one.consumed is not None else None
            )
            for one in grants
            if not one.wanted.is_admin
        ]
    )


class HeldDevices:
    """The devices that each claim holds now."""

    def __init__(
        self, book: ClaimBook, in_use: DevicesInUse, changed: Callable[[Iterable[UsedDevice]], None]
    ) -> None:
        self.promises: dict[ClaimKey, Promise] = {}
        self._book = book
        self._in_use = in_use
        self._changed = changed
        """Called with devices whose use has changed."""
        self._held: dict[ClaimKey, tuple[UsedDevice, ...]] = {}
        self._set_aside: dict[str, int] = {}
        """Pods that count as gone, with their claims, while a draft has removed them."""
        self._gone: dict[str, None] = {}
        """Pods that are gone, and still have reservations: their claims come free soon."""
        self._is_clearing = False
        self._writes: dict[ClaimKey, tuple[_ClaimWrite, ...]] = {}
        """Claims that are being written, in the order of their rounds."""
        self._written: dict[ClaimKey, dict[UsedDevice, None]] = {}
        """The devices of these writes, by the key that they count for."""
        self.changes = 0
        """Grows when a claim changes in the cluster, or gets or loses a promise or a user of it.

        Also when devices are reserved for pods.
        """

    def recount(self, key: ClaimKey) -> None:
        """Have the claim hold what it holds by now."""
        self.changes += 1
        record, promise = self._book.claims.get(key), self.promises.get(key)
        if promise is not None and self._is_left(promise):
            promise = None
        if record is not None and self._is_promised_to_owner(record):
            holds: tuple[UsedDevice, ...] = ()
        elif record is not None and record.allocation is not None:
            holds = () if promise is None and self._is_free(record) else record.used
        else:
            holds = promise.used if promise is not None else ()
            if key in self._written:
                holds = tuple(dict.fromkeys((*holds, *self._written[key])))
        self._hold(key, holds)
        owner = owner_of_extended(key)
        for made in self._book.made_for(owner) if owner else ():
            self.recount(made)

    def _is_promised_to_owner(self, record: DeviceClaimRecord) -> bool:
        """Whether the pod was promised these devices before the claim was made for them."""
        if not record.is_for_extended_resources:
            return False
        return extended_key_of(record.key.namespace, record.owner) in self.promises

    def _hold(self, key: ClaimKey, holds: tuple[UsedDevice, ...]) -> None:
        before = self._held.get(key, ())
        if before == holds:
            return
        self._in_use.remove(before)
        self._in_use.add(holds)
        if holds:
            self._held[key] = holds
        else:
            del self._held[key]
        self._changed((*before, *holds))

    def is_held(self, key: ClaimKey) -> bool:
        return key in self._held

    def _is_free(self, record: DeviceClaimRecord) -> bool:
        """Whether every pod that it is reserved for counts as gone."""
        uids = record.pod_uids
        if uids is None or not (self._set_aside or self._is_clearing):
            return False
        return all(uid in self._set_aside or (self._is_clearing and uid in self._gone) for uid in uids)

    def _is_left(self, promise: Promise) -> bool:
        """Whether every pod that uses it counts as gone."""
        users = promise.users
        return bool(self._set_aside and users) and all(uid in self._set_aside for uid in users)

    # --- pods that count as gone -------------------------------------------------------------------------

    def set_aside(self, uid: str, promised: Iterable[ClaimKey] = ()) -> None:
        """Count the pod as gone, with what it was promised. Undone by `put_back`."""
        self._set_aside[uid] = self._set_aside.get(uid, 0) + 1
        self._recount_of(uid, promised)

    def put_back(self, uid: str, promised: Iterable[ClaimKey] = ()) -> None:
        self._set_aside[uid] -= 1
        if not self._set_aside[uid]:
            del self._set_aside[uid]
        self._recount_of(uid, promised)

    def pod_gone(self, uid: str) -> None:
        if self._book.reserved_for(uid):
            self._gone[uid] = None

    def forget_gone(self) -> None:
        """Drop pods whose reservations have ended."""
        if self._gone:
            for uid in [uid for uid in self._gone if not self._book.reserved_for(uid)]:
                del self._gone[uid]

    @property
    def is_any_clearing(self) -> bool:
        """Whether claims of pods that are gone still hold devices."""
        self.forget_gone()
        return bool(self._gone)

    @contextmanager
    def clearing(self) -> Iterator[None]:
        """Count claims as free whose pods are all gone: their devices come free without any eviction."""
        if self._is_clearing or not self.is_any_clearing:
            yield
            return
        keys = dict.fromkeys(key for uid in self._gone for key in self._book.reserved_for(uid))
        self._is_clearing = True
        for key in keys:
            self.recount(key)
        try:
            yield
        finally:
            self._is_clearing = False
            for key in keys:
                self.recount(key)

    def _recount_of(self, uid: str, promised: Iterable[ClaimKey]) -> None:
        for key in dict.fromkeys((*self._book.reserved_for(uid), *promised)):
            self.recount(key)

    # --- writes ------------------------------------------------------------------------------------------

    def write_begins(self, claim: ClaimKey, holder: ClaimKey, used: tuple[UsedDevice, ...]) -> None:
        """Hold the devices until `write_ends`; they count for the claim, or for what stands for it."""
        self._writes[claim] = (*self._writes.get(claim, ()), _ClaimWrite(holder, used))
        self._count_writes(claim, holder)

    def write_ends(self, claim: ClaimKey) -> tuple[UsedDevice, ...]:
        """Returns the devices that it held."""
        writes = self._writes.get(claim)
        if not writes:
            return ()
        ended, *left = writes
        if left:
            self._writes[claim] = tuple(left)
        else:
            del self._writes[claim]
        self._count_writes(claim, ended.holder)
        return ended.used

    def is_written(self, claim: ClaimKey) -> bool:
        return claim in self._writes

    def _count_writes(self, claim: ClaimKey, holder: ClaimKey) -> None:
        used = dict.fromkeys([used for one in self._writes.get(claim, ()) for used in one.used])
        if used:
            self._written[holder] = used
        else:
            self._written.pop(holder, None)
        if tuple(used) != self._held.get(holder):
            self.recount(holder)

    # --- promises ----------------------------------------------------------------------------------------

    def promise(self, key: ClaimKey, grants: tuple[Grant, ...], node: str) -> Promise:
        known = self.promises[key] = Promise(grants, node)
        self.recount(key)
        return known

    def revise(self, key: ClaimKey, grants: tuple[Grant, ...]) -> None:
        self.promises[key].grants = grants
        self.recount(key)

    def use(self, key: ClaimKey, promise: Promise, uid: str) -> None:
        """Have the pod use the promise, which is made again if no other pod used it."""
        known = self.promises.setdefault(key, promise)
        known.users[uid] = None
        self.recount(key)

    def leave(self, key: ClaimKey, uid: str) -> Promise:
        promise = self.promises[key]
        del promise.users[uid]
        self.changes += 1
        if not promise.users:
            del self.promises[key]
            self.recount(key)
        return promise
