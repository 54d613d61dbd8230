"""On which rows a pod would find devices for its claims: searched once for all rows of equal state."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from posse.engine.devices.claim_lookup import ClaimLookup
from posse.engine.devices.claims import ClaimBook
from posse.engine.devices.inventory import Inventory
from posse.engine.devices.limited_search import LimitedSearches, largest_mixes
from posse.engine.devices.needs import DeviceNeeds
from posse.engine.devices.promises import HeldDevices
from posse.engine.devices.requests import ClaimShape
from posse.engine.devices.search import MAX_DEPTH
from posse.engine.devices.usage import DevicesInUse
from posse.engine.devices.wants import AllocationError, AllocationFault, Offer, SearchCutShort, Solution, Want
from posse.engine.nodes.arrays import ALL_ROWS, BoolArray, IntArray, Rows
from posse.engine.nodes.node_table import NodeTable

_MAX_TABLES = 2_000
_MOST_ALTERNATIVES = 8
_MAX_SOLVED = 100_000
_NOTHING = Offer((), {})
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
        self.claims = ClaimLookup(nodes, inventory, book, held)
        self.searches = LimitedSearches(inventory, in_use)
        self._nodes = nodes
        self._inventory = inventory
        self._in_use = in_use
        self._held = held
        self._tables: dict[tuple[str, DeviceNeeds], _Table] = {}
        self._solved: dict[tuple[int, tuple[ClaimShape, ...]], Solution | None] = {}
        """By state of a row and what claims ask for, whatever their names; only where devices are local."""
        self._solved_at = -1
        """Version of the devices when these were found."""

    # --- the answers for a pod ---------------------------------------------------------------------------

    def replies(self, needs: DeviceNeeds, rows: Rows = ALL_ROWS) -> IntArray:
        """Whether claims of the pod without devices would find some; see also `ClaimLookup.reachable`."""
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
        for want, grants in zip(self.claims.wants(needs, _NOTHING), solution, strict=True):
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

    # --- searches ----------------------------------------------------------------------------------------

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
            return self.searches.found(
                self.claims.wants(needs, self._inventory.offer_at(row)), self.searches.allowance(needs)
            )
        if self._solved_at != self._inventory.version or len(self._solved) > _MAX_SOLVED:
            self._solved.clear()
            self._solved_at = self._inventory.version
        key = state, tuple(want.shape for want in self.claims.wants(needs, _NOTHING))
        if key not in self._solved:
            wants = self.claims.wants(needs, self._inventory.offer_at(row))
            self._solved[key] = self.searches.found(wants, self.searches.allowance(needs))
        return self._solved[key]

    def _search_empty(self, needs: DeviceNeeds, row: int, _state: int, _table: _Table) -> int:
        offer = self._inventory.empty_offer_at(row)
        try:
            wants = [
                self.claims.want(claim, offer) for claim in needs.claims if self.claims.is_waiting(claim)
            ]
            with self.searches.limited(wants, DevicesInUse(), self.searches.allowance(needs)) as search:
                found = search.run(wants)
        except (AllocationError, SearchCutShort):
            return Reply.NO
        return Reply.YES if found is not None else Reply.NO

    def _count(self, needs: DeviceNeeds, row: int, _state: int, table: _Table) -> int:
        """One search for as many pods as there may be: in it, as many find devices together as ever do.

        Where it takes too many steps, as many as there may be at most.
        """
        offer = self._inventory.offer_at(row)
        one = self.claims.wants(needs, offer)
        limit = self.upper_limit(one, offer)
        if not one or not limit:
            return limit
        pods = min(limit, MAX_DEPTH // sum(want.shape.depth for want in one))
        wants = [*one] * pods
        try:
            with self.searches.limited(wants, self._in_use, self.searches.allowance(needs)) as search:
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
        offer = self._inventory.offer_at(row)
        wants = [None if one is None else self.claims.wants(one, offer) for one in needs]
        return largest_mixes(self.searches, wants, numbers)

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
