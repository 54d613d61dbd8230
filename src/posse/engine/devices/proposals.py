"""Devices of the pods on nodes: those of a draft are proposals, which may change for a later pod.

A pod that finds no devices beside the others of the draft gets some if all of them find devices together.
Once the draft is committed, they stay as they are.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from posse.engine.devices.answers import DeviceAnswers
from posse.engine.devices.claims import ClaimBook
from posse.engine.devices.inventory import Inventory
from posse.engine.devices.needs import DeviceNeeds, NamedClaim, OwnClaim, claim_keys, extended_key
from posse.engine.devices.plugin_nodes import PluginNodes
from posse.engine.devices.promises import HeldDevices, Promise, used_of
from posse.engine.devices.selecting import small_allowance
from posse.engine.devices.usage import DevicesInUse, UsedDevice
from posse.engine.devices.wants import AllocationError, Grant, SearchCutShort
from posse.engine.keys import ClaimKey
from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.nodes.node_table import NodeTable
from posse.model.pod import Pod

_MAX_REFUSED = 10_000


class DevicePlacement(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A pod on a node, with the claims that it uses by promise."""

    uid: str
    row: int
    needs: DeviceNeeds
    keys: tuple[ClaimKey, ...]
    """All its claims, in the order of its needs."""
    promised: tuple[ClaimKey, ...]
    revised: tuple[tuple[ClaimKey, tuple[Grant, ...]], ...] = ()
    """Former devices of other pods of the draft, which were changed for this one."""


class Held(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What a removed pod held, to be held again."""

    placed: DevicePlacement
    promises: tuple[tuple[ClaimKey, Promise], ...]
    is_open: bool


class NoDevicesError(Exception):
    """A pod was put on a node without devices for its claims: a bug of ours."""


@dataclass(slots=True, eq=False)
class Proposals:
    """The parts of the device state are those of `Devices`."""

    nodes: NodeTable
    inventory: Inventory
    book: ClaimBook
    in_use: DevicesInUse
    held: HeldDevices
    answers: DeviceAnswers
    plugin_nodes: PluginNodes
    use_changed: Callable[[Iterable[UsedDevice]], None]
    _placed: dict[str, DevicePlacement] = field(default_factory=dict)
    _open: dict[str, None] = field(default_factory=dict)
    """Pods of the draft in progress, whose devices may still change."""
    _reserved: dict[str, tuple[UsedDevice, ...]] = field(default_factory=dict)
    """Devices held for pods with a nominated node, by uid, while others are tried."""
    _refused: dict[tuple[DeviceNeeds, int], tuple[int, ...]] = field(default_factory=dict)
    """Needs and rows for which other devices in the draft were of no help, and the state at that time."""

    @property
    def open_rows(self) -> list[int]:
        """Rows with pods of the draft in progress."""
        return list(dict.fromkeys(self._placed[uid].row for uid in self._open))

    def add_revisable(self, needs: DeviceNeeds, rows: Rows, found: BoolArray) -> None:
        """Add rows where the pod gets devices if those of other pods of the draft change."""
        numbers = np.arange(self.nodes.alive.size)[rows]
        has_open = np.isin(numbers, self.open_rows)
        refused = ~found & self.nodes.alive[rows]
        # Rows with pods of the draft differ by these; others are equal if their states are.
        for position in np.flatnonzero(refused & has_open).tolist():
            found[position] = self._is_revisable(needs, int(numbers[position]))
        others = np.flatnonzero(refused & ~has_open) if needs.spans_nodes else ()
        if len(others):
            states = self.inventory.row_states()[numbers[others]]
            _, firsts, kinds = np.unique(states, return_index=True, return_inverse=True)
            samples = numbers[others][firsts].tolist()
            found[others] = np.array([self._is_revisable(needs, row) for row in samples])[kinds]

    def _is_revisable(self, needs: DeviceNeeds, row: int) -> bool:
        """Filters, counts and reports ask the same of one draft."""
        inventory = self.inventory
        state = (
            inventory.version,
            inventory.span_version,
            self.held.changes,
            int(inventory.row_states()[row]),
        )
        if self._refused.get((needs, row)) == state:
            return False
        is_found = self._revised(needs, None, row) is not None
        if not is_found:
            if len(self._refused) >= _MAX_REFUSED:
                self._refused.clear()
            self._refused[needs, row] = state
        return is_found

    # --- pods on nodes -----------------------------------------------------------------------------------

    def place(self, uid: str, pod: Pod, needs: DeviceNeeds, row: int) -> None:
        """Give the pod its devices on the row, where it passes. Undone by `take_back`."""
        node, keys = self.nodes.names[row], tuple(claim_keys(pod))
        if needs.extended:
            needs = self.plugin_nodes.needs_on(needs, row)
            keys = (*keys, extended_key(pod))[: len(needs.claims)]
        waiting = self._waiting(needs, keys)
        solution = self.answers.solution(needs, row) if self._is_reached(needs, row) else None
        revised: list[tuple[ClaimKey, tuple[Grant, ...]]] = []
        if solution is None:
            choice = self._revised(needs, keys, row)
            if choice is None:
                raise NoDevicesError(
                    f"no devices for pod {pod.metadata.namespace}/{pod.metadata.name} on {node}"
                )
            for key in [key for key in choice if key in self.held.promises]:
                revised.append((key, self.held.promises[key].grants))
                self.held.revise(key, choice[key])
            solution = [choice[key] for key in waiting]
        for key, grants in zip(waiting, solution, strict=True):
            self.held.promise(key, grants, node)
        promises = self.held.promises
        promised = tuple([key for key in keys if key in promises])
        for key in promised:
            promises[key].users[uid] = None
        self._placed[uid] = DevicePlacement(uid, row, needs, keys, promised, tuple(revised))
        self._open[uid] = None

    def _waiting(self, needs: DeviceNeeds, keys: Sequence[ClaimKey]) -> list[ClaimKey]:
        pairs = zip(needs.claims, keys, strict=True)
        return [key for claim, key in pairs if self.answers.claims.is_waiting(claim)]

    def _is_reached(self, needs: DeviceNeeds, row: int) -> bool:
        return not needs.spans_nodes or bool(self.answers.claims.reachable(needs)[row])

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
        return self.answers.claims.is_waiting(claim)

    def _allocated_reaches(self, key: ClaimKey, row: int) -> bool:
        record = self.book.claims.get(key)
        return record is not None and bool(
            self.answers.claims.reachable(DeviceNeeds((NamedClaim(key, record.uid),)))[row]
        )

    def _solved_together(
        self, claims: dict[ClaimKey, OwnClaim | NamedClaim], rows: dict[ClaimKey, list[int]]
    ) -> dict[ClaimKey, tuple[Grant, ...]] | None:
        mine = [(key, self.held.promises[key].used) for key in claims if key in self.held.promises]
        for _, used in mine:
            self.in_use.remove(used)
        try:
            wants = [
                self.answers.claims.want(claim, self.inventory.offer_at_all(list(dict.fromkeys(rows[key]))))
                for key, claim in claims.items()
            ]
            solution = self.answers.searches.found(wants, small_allowance())
        except (AllocationError, SearchCutShort):
            solution = None
        finally:
            for _, used in mine:
                self.in_use.add(used)
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
            self.nodes.touch_all(list(dict.fromkeys(self._placed[uid].row for uid in self._open)))
            self._open.clear()

    # --- pods with a nominated node ----------------------------------------------------------------------

    def reserve(self, uid: str, needs: DeviceNeeds, row: int, leaving: Sequence[str]) -> None:
        """Hold the devices that the pod will have on the row once these pods have left.

        Undone by `unreserve`.
        """
        if needs.problem:
            return
        needs = self.plugin_nodes.needs_on(needs, row)
        with self.held.clearing():
            promised = {one: self._placed[one].promised if one in self._placed else () for one in leaving}
            for one, keys in promised.items():
                self.held.set_aside(one, keys)
            solution = self.answers.solution(needs, row) if self._is_reached(needs, row) else None
            for one, keys in promised.items():
                self.held.put_back(one, keys)
        if solution is not None:
            used = self._reserved[uid] = used_of([one for grants in solution for one in grants])
            self.in_use.add(used)
            self.held.changes += 1
            self.use_changed(used)

    def unreserve(self, uid: str) -> None:
        used = self._reserved.pop(uid, None)
        if used is not None:
            self.in_use.remove(used)
            self.held.changes += 1
            self.use_changed(used)
