"""On which rows a pod would find devices for its claims: searched once for all rows of equal state."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from posse.engine.devices.binding import failure
from posse.engine.devices.claims import ClaimBook
from posse.engine.devices.inventory import Inventory
from posse.engine.devices.needs import DeviceNeeds, NamedClaim, OwnClaim
from posse.engine.devices.promises import HeldDevices
from posse.engine.devices.requests import ClaimShape
from posse.engine.devices.search import (
    MAX_DEPTH,
    MAX_STEPS,
    AllocationError,
    AllocationFault,
    DeviceSearch,
    Offer,
    SearchCutShort,
    Solution,
    Want,
)
from posse.engine.devices.selecting import Allowance, Selecting, new_allowance
from posse.engine.devices.usage import DevicesInUse
from posse.engine.nodes.arrays import ALL_ROWS, BoolArray, IntArray, Rows
from posse.engine.nodes.node_table import NodeTable

_MAX_TABLES = 2_000
_MAX_MIXES = 500
_MOST_ALTERNATIVES = 8
_MAX_SOLVED = 100_000
_NOTHING = Offer((), {})
_MIN_STEPS = 300
"""What a search may take at any rate, beside what it takes to see every device a few times."""
_MAX_OWN_STEPS = 5_000
"""What a search may take beside the allowance."""
MAX_PODS = 256
"""Pods of one class that are counted on a node; more than any node has devices for."""


class Reply(IntEnum):
    UNKNOWN = -1
    NO = 0
    YES = 1
    ERROR = 2
    CUT_SHORT = 3


@dataclass(slots=True, eq=False)
class _Table:
    """Replies by state of a row, while the stamp is the same."""

    stamp: tuple[int, ...]
    replies: IntArray = field(default_factory=lambda: np.full(16, Reply.UNKNOWN, dtype=np.int64))
    solutions: dict[int, Solution] = field(default_factory=dict)
    errors: dict[int, AllocationFault] = field(default_factory=dict)
    is_doubtful: bool = False

    def room_for(self, states: int) -> None:
        if self.replies.size < states:
            more = max(states, 2 * self.replies.size) - self.replies.size
            self.replies = np.pad(self.replies, (0, more), constant_values=Reply.UNKNOWN)


class DeviceAnswers:
    def __init__(
        self, nodes: NodeTable, inventory: Inventory, book: ClaimBook, in_use: DevicesInUse, held: HeldDevices
    ) -> None:
        self.selecting = Selecting()
        self._nodes = nodes
        self._inventory = inventory
        self._book = book
        self._in_use = in_use
        self._held = held
        self._cut_short_at = -1
        """Version of the devices when a search was last cut short."""
        self._allowances: dict[DeviceNeeds, Allowance] = {}
        """What is left for searches of pods with these needs."""
        self._allowed_at = -1
        """Version of the devices when these were given."""
        self._tables: dict[tuple[str, DeviceNeeds], _Table] = {}
        self._solved: dict[tuple[int, tuple[ClaimShape, ...]], Solution | None] = {}
        """By state of a row and what claims ask for, whatever their names; only where devices are local."""
        self._solved_at = -1
        """Version of the devices when these were found."""

    # --- the answers for a pod ---------------------------------------------------------------------------

    def replies(self, needs: DeviceNeeds, rows: Rows = ALL_ROWS) -> IntArray:
        """Whether the claims of the pod that have no devices would find some; see also `reachable`."""
        return self._looked_up("now", needs, rows, self._search)

    def in_doubt(self, needs: DeviceNeeds) -> BoolArray:
        """Rows where the search was cut short."""
        return np.equal(self.replies(needs), Reply.CUT_SHORT)

    def when_empty(self, needs: DeviceNeeds, rows: Rows = ALL_ROWS) -> BoolArray:
        """The same if no device were in use."""
        return np.equal(self._looked_up("empty", needs, rows, self._search_empty), Reply.YES)

    def most(self, needs: DeviceNeeds, rows: Rows = ALL_ROWS) -> IntArray:
        """How many pods with these needs find devices on each row, for claims of their own and local devices.

        No choice of devices serves more of them.
        """
        return np.maximum(self._looked_up("most", needs, rows, self._count), 0)

    def solution(self, needs: DeviceNeeds, row: int) -> Solution | None:
        """The devices on this row for `wants`; None if there are none."""
        state = int(self._inventory.row_states()[row])
        found = self._table("now", needs).solutions.get(state)
        if found is None:
            if self.replies(needs, np.array([row]))[0] != Reply.YES:
                return None
            found = self._tables["now", needs].solutions[state]
        devices = self._inventory.devices_at(row)
        return [tuple([one.at(devices[one.position]) for one in grants]) for grants in found]

    def preference(self, needs: DeviceNeeds) -> IntArray:
        """The higher, the earlier in their lists are the alternatives that requests get on a row."""
        replies, states = self.replies(needs), self._inventory.row_states()
        solutions = self._tables["now", needs].solutions
        points = np.zeros(self._inventory.state_count, dtype=np.int64)
        for state in np.unique(states[np.equal(replies, Reply.YES)]).tolist():
            points[state] = sum(map(sum, self._listed(needs, solutions[state])))
        return points[states]

    def _listed(self, needs: DeviceNeeds, solution: Solution) -> Iterator[Iterator[int]]:
        for want, grants in zip(self.wants(needs, _NOTHING), solution, strict=True):
            given = dict.fromkeys(one.wanted for one in grants)
            yield (
                _MOST_ALTERNATIVES - request.alternatives.index(wanted)
                for request in want.shape.requests
                if request.is_list
                for wanted in given
                if wanted in request.alternatives
            )

    def fault(self, needs: DeviceNeeds) -> AllocationFault | None:
        """The first on any node."""
        replies = np.where(self._nodes.alive, self.replies(needs), Reply.NO)
        rows = np.flatnonzero(np.equal(replies, Reply.ERROR))
        if not rows.size:
            return None
        return self._tables["now", needs].errors[int(self._inventory.row_states()[rows[0]])]

    def reachable(self, needs: DeviceNeeds) -> BoolArray:
        """Rows from which the devices of claims can be used that have devices."""
        there = self._nodes.alive.copy()
        for claim in needs.claims:
            if isinstance(claim, NamedClaim):
                there &= self.reaches(claim)
        return there

    def reaches(self, claim: NamedClaim) -> BoolArray:
        """Rows from which the devices of the claim can be used; all of them, if it has none."""
        record = self._book.claims.get(claim.key)
        if record is not None and record.allocation is not None:
            return (
                np.zeros_like(self._nodes.alive) if failure(record) else self._inventory.mask(record.selector)
            )
        promise = self._held.promises.get(claim.key)
        if promise is None:
            return self._nodes.alive
        there = self._nodes.alive.copy()
        for one in promise.grants:
            there &= self._usable_from(one.device.node_name, one.device.binds_to_node, promise.node)
            there &= self._inventory.mask(one.device.selector)
        return there

    def _usable_from(self, node_name: str, binds: bool, node: str) -> BoolArray:
        if not (node_name or binds):
            return self._nodes.alive
        only = np.zeros_like(self._nodes.alive)
        row = self._nodes.row_of.get(node)
        if row is not None:
            only[row] = True
        return only

    # --- searches ----------------------------------------------------------------------------------------

    def is_waiting(self, claim: OwnClaim | NamedClaim) -> bool:
        """Whether the claim has no devices yet."""
        if isinstance(claim, OwnClaim):
            return True
        record = self._book.claims.get(claim.key)
        return claim.key not in self._held.promises and (record is None or record.allocation is None)

    def wants(self, needs: DeviceNeeds, offer: Offer) -> list[Want]:
        """The claims of the pod without devices."""
        return [self.want(claim, offer) for claim in needs.claims if self.is_waiting(claim)]

    def want(self, claim: OwnClaim | NamedClaim, offer: Offer) -> Want:
        if isinstance(claim, OwnClaim):
            return Want(claim.entry, claim.shape, offer, claim.position)
        record = self._book.claims.get(claim.key)
        if record is None:
            raise AllocationError(str(claim.key), ": not found")
        shape = self._book.shape(record.claim.spec)
        if isinstance(shape, str):
            raise AllocationError(str(claim.key), f": {shape}")
        return Want(str(claim.key), shape, offer)

    @property
    def is_in_doubt(self) -> bool:
        """Whether a search was cut short with the present devices, so that a refusal may be no proof."""
        return self._cut_short_at == self._inventory.version

    def _allowance(self, needs: DeviceNeeds) -> Allowance:
        """The same for all questions about these needs, while devices are as they are.

        What others ask for does not count, so that an answer does not depend on them.
        """
        if self._allowed_at != self._inventory.version or len(self._allowances) > _MAX_TABLES:
            self._allowances.clear()
            self._allowed_at = self._inventory.version
        known = self._allowances.get(needs)
        if known is None:
            known = self._allowances[needs] = new_allowance()
        return known

    def found(self, wants: Sequence[Want], allowance: Allowance | None = None) -> Solution | None:
        """Devices for all of these claims; None if there are none.

        Raise AllocationError or SearchCutShort where that is not known.
        """
        with self._limited(wants, self._in_use, allowance or new_allowance()) as search:
            return search.run(wants)

    @contextmanager
    def _limited(
        self, wants: Sequence[Want], in_use: DevicesInUse, allowance: Allowance
    ) -> Iterator[DeviceSearch]:
        """Give a search for these claims; what it takes beyond its own steps, it takes from the allowance."""
        own = min(_MAX_OWN_STEPS, _MIN_STEPS + sum(map(_plain_steps, wants)))
        search = DeviceSearch(self.selecting, in_use, own + min(allowance.steps, MAX_STEPS), allowance)
        allowed = search.steps_left
        try:
            yield search
        except SearchCutShort:
            self._cut_short_at = self._inventory.version
            raise
        finally:
            allowance.steps -= max(0, allowed - search.steps_left - own)

    def _looked_up(
        self,
        question: str,
        needs: DeviceNeeds,
        rows: Rows,
        answer: Callable[[DeviceNeeds, int, int, _Table], int],
    ) -> IntArray:
        states = self._inventory.row_states()
        table = self._table(question, needs)
        table.room_for(self._inventory.state_count)
        there = states[rows]
        replies: IntArray = table.replies[there]
        if (replies == Reply.UNKNOWN).any():
            alive = self._nodes.alive[rows]
            numbers = np.arange(states.size)[rows]
            unknown = alive & np.equal(replies, Reply.UNKNOWN)
            found, first = np.unique(there[unknown], return_index=True)
            for state, row in zip(found.tolist(), numbers[unknown][first].tolist(), strict=True):
                table.replies[state] = answer(needs, row, state, table)
            replies = table.replies[there]
        return replies

    def _table(self, question: str, needs: DeviceNeeds) -> _Table:
        inventory = self._inventory
        stamp: tuple[int, ...] = (inventory.version,)
        if needs.spans_nodes:
            stamp = (inventory.version, inventory.span_version, self._held.changes)
        known = self._tables.get((question, needs))
        if known is None or known.stamp != stamp:
            if len(self._tables) > _MAX_TABLES:
                self._tables.clear()
            known = self._tables[question, needs] = _Table(stamp)
        return known

    def _search(self, needs: DeviceNeeds, row: int, state: int, table: _Table) -> int:
        try:
            found = self._found_at(needs, row, state)
        except AllocationError as error:
            table.errors[state] = error.fault
            return Reply.ERROR
        except SearchCutShort:
            return Reply.CUT_SHORT
        if found is None:
            return Reply.NO
        table.solutions[state] = found
        return Reply.YES

    def _found_at(self, needs: DeviceNeeds, row: int, state: int) -> Solution | None:
        """Claims of many pods differ in nothing but their names: one search answers for all of them."""
        if self._inventory.has_spanning_pools:
            return self.found(self.wants(needs, self._inventory.offer_at(row)), self._allowance(needs))
        if self._solved_at != self._inventory.version or len(self._solved) > _MAX_SOLVED:
            self._solved.clear()
            self._solved_at = self._inventory.version
        key = state, tuple(want.shape for want in self.wants(needs, _NOTHING))
        if key not in self._solved:
            wants = self.wants(needs, self._inventory.offer_at(row))
            self._solved[key] = self.found(wants, self._allowance(needs))
        return self._solved[key]

    def _search_empty(self, needs: DeviceNeeds, row: int, _state: int, _table: _Table) -> int:
        offer = self._inventory.empty_offer_at(row)
        try:
            wants = [self.want(claim, offer) for claim in needs.claims if self.is_waiting(claim)]
            with self._limited(wants, DevicesInUse(), self._allowance(needs)) as search:
                found = search.run(wants)
        except (AllocationError, SearchCutShort):
            return Reply.NO
        return Reply.YES if found is not None else Reply.NO

    def _count(self, needs: DeviceNeeds, row: int, _state: int, table: _Table) -> int:
        """One search for as many pods as there may be: in it, as many find devices together as ever do.

        Where it takes too many steps, as many as there may be at most.
        """
        offer = self._inventory.offer_at(row)
        one = self.wants(needs, offer)
        limit = self.upper_limit(one, offer)
        if not one or not limit:
            return limit
        pods = min(limit, MAX_DEPTH // sum(want.shape.depth for want in one))
        wants = [*one] * pods
        try:
            with self._limited(wants, self._in_use, self._allowance(needs)) as search:
                served = search.most(wants) // len(one)
        except SearchCutShort:
            served = pods
            table.is_doubtful = True
        if served < pods:
            return served
        table.is_doubtful = table.is_doubtful or pods < limit
        return limit

    def counts_exactly(self, needs: DeviceNeeds) -> bool:
        """Whether no search behind `most` was cut short so far."""
        return not self._table("most", needs).is_doubtful

    def mixes(
        self, needs: Sequence[DeviceNeeds | None], numbers: Sequence[int], row: int
    ) -> tuple[tuple[int, ...], ...] | None:
        """See `Devices.mixes`."""
        limited = [number for number, one in enumerate(needs) if one is not None]
        offer = self._inventory.offer_at(row)
        wants = {number: self.wants(one, offer) for number in limited if (one := needs[number]) is not None}
        fits: dict[tuple[int, ...], None] = {(0,) * len(limited): None}
        frontier, tries, allowance = list(fits), 0, new_allowance()
        while frontier:
            mix = frontier.pop()
            for position, number in enumerate(limited):
                more = (*mix[:position], mix[position] + 1, *mix[position + 1 :])
                if more in fits or more[position] > numbers[number]:
                    continue
                tries += 1
                counted = [(wants[one], count) for one, count in zip(limited, more, strict=True)]
                found = self._finds(counted, allowance)
                if found is None or tries > _MAX_MIXES:
                    return None
                if found:
                    fits[more] = None
                    frontier.append(more)
        largest = [mix for mix in fits if not any(_contains(other, mix) for other in fits)]
        return tuple(_spread_out(mix, limited, len(needs)) for mix in sorted(largest))

    def _finds(self, mix: Sequence[tuple[Sequence[Want], int]], allowance: Allowance) -> bool | None:
        """Whether so many pods find devices together; None if the search was cut short."""
        try:
            wanted = [want for wants, count in mix for want in [*wants] * count]
            return self.found(wanted, allowance) is not None
        except SearchCutShort:
            return None
        except AllocationError:
            return False

    def upper_limit(self, wants: Sequence[Want], offer: Offer) -> int:
        """A bound on the pods by the number of devices; shared devices and administrators have none."""
        fewest = sum(
            request.fewest
            for want in wants
            for request in want.shape.requests
            if not any(one.is_admin for one in request.alternatives)
        )
        if not fewest or any(device.kind.is_shareable for device in offer.devices):
            return MAX_PODS
        return min(MAX_PODS, len(offer.devices) // fewest)


def _plain_steps(want: Want) -> int:
    """What a search for the claim takes that never has to go back."""
    looks = 2 * len(want.shape.requests) + len(want.shape.alternatives)
    return 4 * want.shape.depth + len(want.offer.devices) * (16 + looks) // 16


def _contains(mix: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return mix != other and all(one >= two for one, two in zip(mix, other, strict=True))


def _spread_out(mix: tuple[int, ...], limited: Sequence[int], size: int) -> tuple[int, ...]:
    numbers = dict(zip(limited, mix, strict=True))
    return tuple(numbers.get(number, -1) for number in range(size))
