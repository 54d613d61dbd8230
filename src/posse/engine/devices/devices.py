"""The device side of the cluster state: where a pod finds devices for its claims, and which it was promised.

Within a draft, pods keep their nodes but not their devices: a pod that finds none beside the others of the
draft gets some if all their devices can be chosen anew. Pods without claims never come here.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from posse.engine.devices.answers import DeviceAnswers, Reply
from posse.engine.devices.claims import ClaimBook
from posse.engine.devices.inventory import Inventory
from posse.engine.devices.needs import (
    DeviceNeeds,
    NamedClaim,
    NeedsReader,
    OwnClaim,
    claim_keys,
    extended_key,
)
from posse.engine.devices.promises import HeldDevices, Promise, used_of
from posse.engine.devices.records import DeviceRecord
from posse.engine.devices.search import (
    AllocationError,
    Grant,
    Offer,
    SearchCutShort,
    Want,
)
from posse.engine.devices.usage import DevicesInUse, UsedDevice
from posse.engine.events import DeviceObject
from posse.engine.keys import ClaimKey
from posse.engine.nodes.arrays import ALL_ROWS, BoolArray, IntArray, Rows
from posse.engine.nodes.node_table import NodeTable
from posse.model.device import DeviceTaintRule, ResourceSlice
from posse.model.pod import Pod
from posse.model.resource_claim import EXTENDED_RESOURCE_CLAIM_ANNOTATION, DeviceClass, ResourceClaim

_MAX_REMEMBERED = 10_000

Cell = TypeVar("Cell", np.bool_, np.int64)


@dataclass(frozen=True, slots=True)
class DeviceChange:
    """What an event has changed."""

    nodes: Sequence[str]
    """Nodes where a pod may find devices now."""
    is_everywhere: bool
    """Whether that holds for all nodes."""
    pods: Sequence[str] | None
    """Uids of pods whose needs may have changed; None if those of all may have."""


@dataclass(frozen=True, slots=True, eq=False)
class DevicePlacement:
    """A pod on a node, with the claims that it uses by promise."""

    uid: str
    row: int
    needs: DeviceNeeds
    keys: tuple[ClaimKey, ...]
    """All its claims, in the order of its needs."""
    promised: tuple[ClaimKey, ...]
    revised: tuple[tuple[ClaimKey, tuple[Grant, ...]], ...] = ()
    """Former devices of other pods of the draft, which were chosen anew for this one."""


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What a removed pod held, to be held again."""

    placed: DevicePlacement
    promises: tuple[tuple[ClaimKey, Promise], ...]
    is_open: bool


class Devices:
    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._in_use = DevicesInUse()
        self.book = ClaimBook()
        self.inventory = Inventory(nodes, self._in_use)
        self.held = HeldDevices(self.book, self._in_use, self._use_changed)
        self.answers = DeviceAnswers(nodes, self.inventory, self.book, self._in_use, self.held)
        self.version = 0
        """Grows with every change of devices and claims that could make a waiting pod fit."""
        self._reader = NeedsReader(self.book)
        self._placed: dict[str, DevicePlacement] = {}
        self._open: dict[str, None] = {}
        """Pods of the draft in progress, whose devices may still be chosen anew."""
        self._reserved: dict[str, tuple[UsedDevice, ...]] = {}
        """Devices held for pods with a nominated node, by uid, while others are tried."""
        self._faults: dict[DeviceNeeds, str] = {}
        """Why needs cannot be decided on, such as a selector that fails; empty if they can."""
        self._unchecked: dict[DeviceNeeds, None] = {}
        """Needs that were not checked since devices have changed."""

    # --- what the cluster shows --------------------------------------------------------------------------

    def put(self, obj: DeviceObject) -> DeviceChange:
        self.version += 1
        match obj:
            case ResourceClaim():
                return self._claim_changed(obj, is_there=True)
            case DeviceClass():
                self.book.put_class(obj)
                return self._class_changed()
            case ResourceSlice():
                self.inventory.put_slice(obj)
            case DeviceTaintRule():
                self.inventory.put_rule(obj)
        return self._inventory_changed()

    def drop(self, obj: DeviceObject) -> DeviceChange:
        self.version += 1
        match obj:
            case ResourceClaim():
                return self._claim_changed(obj, is_there=False)
            case DeviceClass():
                self.book.drop_class(obj.metadata.name)
                return self._class_changed()
            case ResourceSlice():
                self.inventory.drop_slice(obj)
            case DeviceTaintRule():
                self.inventory.drop_rule(obj.metadata.name)
        return self._inventory_changed()

    def _claim_changed(self, claim: ResourceClaim, *, is_there: bool) -> DeviceChange:
        key = ClaimKey(claim.metadata.namespace, claim.metadata.name)
        known = self.book.claims.get(key)
        if known is None and is_there and claim.status.allocation is None:
            # Most claims are seen before they hold anything.
            self.book.put_claim(claim)
            self.held.changes += 1
            return DeviceChange((), is_everywhere=False, pods=self.book.users(key))
        before = known.used if known is not None else ()
        if is_there:
            self.book.put_claim(claim)
        else:
            self.book.drop_claim(key)
        self.held.recount(key)
        self.held.forget_gone()
        freed = [one.device for one in before if one.device not in self._in_use or one.consumed is not None]
        nodes = self.inventory.note_use(freed)
        is_everywhere = any(self.inventory.is_spanned(device) for device in freed)
        pods = self.book.users(key)
        if EXTENDED_RESOURCE_CLAIM_ANNOTATION in claim.metadata.annotations:
            pods += [one.uid for one in claim.metadata.owner_references if one.controller]
        return DeviceChange(nodes, is_everywhere, pods)

    def _class_changed(self) -> DeviceChange:
        self.inventory.version += 1
        return DeviceChange((), is_everywhere=True, pods=None)

    def _inventory_changed(self) -> DeviceChange:
        did_span = self.inventory.has_spanning_pools
        nodes, is_everywhere = self.inventory.take_changes()
        changes_needs = did_span != self.inventory.has_spanning_pools or any(self._faults.values())
        self._unchecked |= dict.fromkeys(self._faults)
        self._faults.clear()
        return DeviceChange(nodes, is_everywhere, None if changes_needs else ())

    @property
    def has_unchecked(self) -> bool:
        return bool(self._unchecked)

    def take_faulty(self) -> list[DeviceNeeds]:
        """Needs that could be decided on, and cannot any more since devices have changed."""
        unchecked, self._unchecked = self._unchecked, {}
        for needs in unchecked:
            self._faults.setdefault(needs, self.error(needs))
        return [needs for needs in unchecked if self._faults[needs]]

    @property
    def has_slow_devices(self) -> bool:
        """Whether drivers have devices that take time to be ready."""
        return self.inventory.slow_pools > 0 or self.book.slow_claims > 0

    # --- needs of pods -----------------------------------------------------------------------------------

    def needs(self, pod: Pod) -> DeviceNeeds | None:
        """The needs of the pod; None for the many pods without claims."""
        for key in claim_keys(pod):
            self.book.note_user(key, pod.metadata.uid)
        needs = self._reader.read(pod, spans_nodes=self.inventory.has_spanning_pools)
        if needs.problem:
            return needs
        if not (needs.claims or needs.extended):
            return None
        fault = self._faults.get(needs)
        if fault is None:
            if len(self._faults) > _MAX_REMEMBERED:
                self._faults.clear()
            fault = self._faults[needs] = self.error(needs)
        return replace(needs, problem=fault, is_error=True) if fault else needs

    def forget(self, pod: Pod) -> None:
        """The pod is gone."""
        for key in claim_keys(pod):
            self.book.forget_user(key, pod.metadata.uid)
        self.held.pod_gone(pod.metadata.uid)

    def wants(self, needs: DeviceNeeds) -> list[Want]:
        """The claims of a pod that have no devices; those of extended resources included."""
        full = needs.lacking(tuple(name for name, _ in needs.extended_amounts)) if needs.extended else needs
        return self.answers.wants(full, Offer((), {}))

    def is_free(self, device: DeviceRecord) -> bool:
        """Whether no claim holds the device as a whole."""
        return device.kind.is_shareable or device.id not in self._in_use

    def has_lists(self, needs: DeviceNeeds) -> bool:
        """Whether claims without devices list alternatives."""
        waiting = self.answers.wants(needs, Offer((), {}))
        return any(want.shape.has_lists for want in waiting)

    # --- answers -----------------------------------------------------------------------------------------

    def passes(self, needs: DeviceNeeds, rows: Rows) -> BoolArray:
        """Rows where a pod gets devices for all its claims."""
        if needs.extended:
            return self._spread(needs, rows, self.passes, np.bool_) & self._has_resources(needs, rows)
        found = np.equal(self.answers.replies(needs, rows), Reply.YES)
        if needs.spans_nodes:
            found &= self.answers.reachable(needs)[rows]
        if self._open:
            self._add_revisable(needs, rows, found)
        return found

    def replies(self, needs: DeviceNeeds, rows: Rows) -> IntArray:
        if needs.extended:
            return self._spread(needs, rows, self.replies, np.int64)
        return self.answers.replies(needs, rows)

    def when_empty(self, needs: DeviceNeeds, rows: Rows) -> BoolArray:
        """Rows where a pod would get devices if none were in use."""
        if needs.extended:
            return self._spread(needs, rows, self.when_empty, np.bool_)
        return self.answers.when_empty(needs, rows)

    def preference(self, needs: DeviceNeeds) -> IntArray:
        if needs.extended:
            return self._spread(
                needs, ALL_ROWS, lambda one, rows: self.answers.preference(one)[rows], np.int64
            )
        return self.answers.preference(needs)

    def error(self, needs: DeviceNeeds) -> str:
        """The first error on any node; empty if there is none."""
        kinds = [self._needs_on(needs, row) for row in self._sample(needs)] if needs.extended else [needs]
        return next((text for one in kinds if (text := self.answers.error(one))), "")

    def _sample(self, needs: DeviceNeeds) -> list[int]:
        """One row for each set of extended resources that nodes lack."""
        lacking = np.array([self._lacks(name) for name, _ in needs.extended_amounts])
        _, first = np.unique(lacking, axis=1, return_index=True)
        rows: list[int] = first.tolist()
        return rows

    def _lacks(self, resource: str) -> BoolArray:
        line = self._nodes.resource(resource)
        lacks: BoolArray = np.equal(self._nodes.allocatable[line], 0)
        return lacks

    def _needs_on(self, needs: DeviceNeeds, row: int) -> DeviceNeeds:
        """The needs on one row: without the extended resources that it offers itself."""
        if not needs.extended:
            return needs
        lacking = tuple(name for name, _ in needs.extended_amounts if self._lacks(name)[row])
        return needs.lacking(lacking)

    def _spread(
        self,
        needs: DeviceNeeds,
        rows: Rows,
        ask: Callable[[DeviceNeeds, Rows], NDArray[Cell]],
        kind: type[Cell],
    ) -> NDArray[Cell]:
        """Ask for the rows of each set of extended resources that nodes lack."""
        numbers = np.arange(self._nodes.alive.size)[rows]
        found = np.zeros(numbers.shape, dtype=kind)
        lacking = np.array([self._lacks(name)[rows] for name, _ in needs.extended_amounts])
        groups, which = np.unique(lacking, axis=1, return_inverse=True)
        names = [name for name, _ in needs.extended_amounts]
        for number in range(groups.shape[1]):
            there = np.flatnonzero(which.ravel() == number)
            some = tuple(
                name for name, is_lacking in zip(names, groups[:, number], strict=True) if is_lacking
            )
            found[there] = ask(needs.lacking(some), numbers[there])
        return found

    def _has_resources(self, needs: DeviceNeeds, rows: Rows) -> BoolArray:
        """Rows that have enough left of those extended resources that they offer themselves."""
        nodes = self._nodes
        enough = nodes.alive[rows]
        for name, wanted in needs.extended_amounts:
            line = nodes.resource(name)
            free = nodes.allocatable[line][rows] - nodes.requested[line][rows]
            enough = enough & (self._lacks(name)[rows] | (free >= wanted))
        return enough

    def mixes(
        self, needs: Sequence[DeviceNeeds | None], numbers: Sequence[int], row: int
    ) -> tuple[tuple[int, ...], ...] | None:
        """Mixes of pods with these needs, up to these numbers, that find local devices together on the row.

        Without mixes that others contain. None if there are too many to try. Pods without needs are not
        limited, which -1 stands for.
        """
        return self.answers.mixes(needs, numbers, row)

    def counts_exactly(self, needs: DeviceNeeds) -> bool:
        """Whether `most` is no mere bound."""
        return not (needs.extended or needs.spans_nodes or self._open) and self.answers.counts_exactly(needs)

    def most(self, needs: DeviceNeeds, rows: Rows) -> IntArray:
        """Upper bound on further pods with these needs, which concern devices of one node only."""
        if needs.extended:
            return self._spread(needs, rows, self.most, np.int64)
        pods = self.answers.most(needs, rows)
        if self._open:
            # Devices of these may be chosen anew, so that more pods fit than beside the present ones.
            numbers = np.arange(self._nodes.alive.size)[rows]
            for row in dict.fromkeys(self._placed[uid].row for uid in self._open):
                offer = self.inventory.offer_at(row)
                limit = self.answers.upper_limit(self.answers.wants(needs, offer), offer)
                pods = np.where(numbers == row, np.maximum(pods, limit), pods)
        return pods

    def _add_revisable(self, needs: DeviceNeeds, rows: Rows, found: BoolArray) -> None:
        """Add rows where the pod gets devices if those of other pods of the draft are chosen anew."""
        numbers = np.arange(self._nodes.alive.size)[rows]
        if needs.spans_nodes:
            candidates = np.flatnonzero(~found & self._nodes.alive[rows])
        else:
            there = dict.fromkeys(self._placed[uid].row for uid in self._open)
            candidates = np.flatnonzero(~found & np.isin(numbers, list(there)))
        known: dict[tuple[int, bool], bool] = {}
        states = self.inventory.row_states()
        occupied = dict.fromkeys(self._placed[uid].row for uid in self._open)
        for position in candidates.tolist():
            row = int(numbers[position])
            # Rows with pods of the draft differ by these.
            key = (row, True) if row in occupied else (int(states[row]), False)
            if key not in known:
                known[key] = self._revised(needs, None, row) is not None
            found[position] = known[key]

    # --- pods on nodes -----------------------------------------------------------------------------------

    def place(self, uid: str, pod: Pod, needs: DeviceNeeds, row: int) -> None:
        """Give the pod its devices on the row, where it passes. Undone by `take_back`."""
        node, keys = self._nodes.names[row], tuple(claim_keys(pod))
        if needs.extended:
            needs = self._needs_on(needs, row)
            keys = (*keys, extended_key(pod))[: len(needs.claims)]
        waiting = self._waiting(needs, keys)
        solution = self.answers.solution(needs, row) if self._is_reached(needs, row) else None
        revised: list[tuple[ClaimKey, tuple[Grant, ...]]] = []
        if solution is None:
            anew = self._revised(needs, keys, row)
            if anew is None:
                raise NoDevicesError(
                    f"no devices for pod {pod.metadata.namespace}/{pod.metadata.name} on {node}"
                )
            for key in [key for key in anew if key in self.held.promises]:
                revised.append((key, self.held.promises[key].grants))
                self.held.revise(key, anew[key])
            solution = [anew[key] for key in waiting]
        for key, grants in zip(waiting, solution, strict=True):
            self.held.promise(key, grants, node)
        promised = tuple(key for key in keys if key in self.held.promises)
        for key in promised:
            self.held.promises[key].users[uid] = None
        self._placed[uid] = DevicePlacement(uid, row, needs, keys, promised, tuple(revised))
        self._open[uid] = None

    def _waiting(self, needs: DeviceNeeds, keys: Sequence[ClaimKey]) -> list[ClaimKey]:
        pairs = zip(needs.claims, keys, strict=True)
        return [key for claim, key in pairs if self.answers.is_waiting(claim)]

    def _is_reached(self, needs: DeviceNeeds, row: int) -> bool:
        return not needs.spans_nodes or bool(self.answers.reachable(needs)[row])

    def _revised(
        self, needs: DeviceNeeds, keys: Sequence[ClaimKey] | None, row: int
    ) -> dict[ClaimKey, tuple[Grant, ...]] | None:
        """Devices for this pod and all pods of the draft that it may take some from; None if there are none.

        Without keys, claims of the pod itself get keys that nothing else has.
        """
        others = [self._placed[uid] for uid in self._open]
        if not needs.spans_nodes:
            others = [one for one in others if one.row == row]
        if not others:
            return None
        own = (
            keys
            if keys is not None
            else [
                claim.key if isinstance(claim, NamedClaim) else ClaimKey("", str(number))
                for number, claim in enumerate(needs.claims)
            ]
        )
        claims: dict[ClaimKey, OwnClaim | NamedClaim] = {}
        rows: dict[ClaimKey, list[int]] = {}
        for where, listed, those in (
            *((one.row, one.needs.claims, one.keys) for one in others),
            (row, needs.claims, tuple(own)),
        ):
            for claim, key in zip(listed, those, strict=True):
                if self._may_change(claim, key):
                    claims[key] = claim
                    rows.setdefault(key, []).append(where)
                elif not self._allocated_reaches(key, where):
                    return None
        return self._solved_together(claims, rows)

    def _may_change(self, claim: OwnClaim | NamedClaim, key: ClaimKey) -> bool:
        """Whether the devices of the claim are chosen in this draft."""
        promise = self.held.promises.get(key)
        if promise is not None:
            return all(uid in self._open for uid in promise.users)
        return self.answers.is_waiting(claim)

    def _allocated_reaches(self, key: ClaimKey, row: int) -> bool:
        record = self.book.claims.get(key)
        return record is not None and bool(
            self.answers.reachable(DeviceNeeds((NamedClaim(key, record.uid),)))[row]
        )

    def _solved_together(
        self, claims: dict[ClaimKey, OwnClaim | NamedClaim], rows: dict[ClaimKey, list[int]]
    ) -> dict[ClaimKey, tuple[Grant, ...]] | None:
        mine = [(key, self.held.promises[key].used) for key in claims if key in self.held.promises]
        for _, used in mine:
            self._in_use.remove(used)
        try:
            wants = [
                self.answers.want(claim, self.inventory.offer_at_all(list(dict.fromkeys(rows[key]))))
                for key, claim in claims.items()
            ]
            solution = self.answers.search().run(wants)
        except (AllocationError, SearchCutShort):
            solution = None
        finally:
            for _, used in mine:
                self._in_use.add(used)
        return dict(zip(claims, solution, strict=True)) if solution is not None else None

    def take_back(self, uid: str) -> None:
        """Undo `place`, in reverse order of the placements."""
        placed = self._placed[uid]
        self.remove(uid)
        for key, grants in placed.revised:
            if key in self.held.promises:
                self.held.revise(key, grants)

    def remove(self, uid: str) -> Held | None:
        """The pod leaves its node; its promises end. Returns what `restore` needs."""
        placed = self._placed.pop(uid, None)
        if placed is None:
            return None
        is_open = uid in self._open
        self._open.pop(uid, None)
        return Held(placed, tuple((key, self.held.leave(key, uid)) for key in placed.promised), is_open)

    def restore(self, held: Held) -> None:
        uid = held.placed.uid
        for key, promise in held.promises:
            self.held.use(key, promise, uid)
        self._placed[uid] = held.placed
        if held.is_open:
            self._open[uid] = None

    def settle(self) -> None:
        """The draft is committed: devices of its pods stay as they are."""
        if self._open:
            self._nodes.touch_all(list(dict.fromkeys(self._placed[uid].row for uid in self._open)))
            self._open.clear()

    def span_holders(self) -> dict[str, None]:
        """Uids of pods whose claims hold devices that several nodes can reach."""
        return dict.fromkeys(
            uid
            for record in self.book.claims.values()
            if any(self.inventory.is_spanned(one.device) for one in record.used)
            for uid in record.pod_uids or ()
        )

    # --- pods with a nominated node ----------------------------------------------------------------------

    def reserve(self, uid: str, needs: DeviceNeeds, row: int, leaving: Sequence[str]) -> None:
        """Hold the devices that the pod will have on the row once these pods have left.

        Undone by `unreserve`.
        """
        if needs.problem:
            return
        needs = self._needs_on(needs, row)
        with self.held.clearing():
            for one in leaving:
                self.held.set_aside(one)
            solution = self.answers.solution(needs, row) if self._is_reached(needs, row) else None
            for one in leaving:
                self.held.put_back(one)
        if solution is not None:
            used = self._reserved[uid] = used_of([one for grants in solution for one in grants])
            self._in_use.add(used)
            self._use_changed(used)

    def unreserve(self, uid: str) -> None:
        used = self._reserved.pop(uid, None)
        if used is not None:
            self._in_use.remove(used)
            self._use_changed(used)

    # --- changes -----------------------------------------------------------------------------------------

    def _use_changed(self, devices: Iterable[UsedDevice]) -> None:
        for node in self.inventory.note_use([one.device for one in devices]):
            row = self._nodes.row_of.get(node)
            if row is not None:
                self._nodes.touch(row)


class NoDevicesError(Exception):
    """A pod was put on a node without devices for its claims: a bug of ours."""
