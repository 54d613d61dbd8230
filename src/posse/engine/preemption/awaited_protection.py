"""What a fruitless search for victims waits for: protected groups that would be its victims.

That is a hint. It decides nothing, so it takes few steps in each cycle, whatever users ask to be protected.
Of the groups that are protected only those are considered that are free first. Those that ask for the same
share an answer. When the steps are spent, nothing is told.
"""

from collections.abc import Callable, Hashable, Sequence
from itertools import islice
from typing import NamedTuple

from posse.engine.groups.group_record import GroupRecord
from posse.engine.keys import GroupKey
from posse.engine.preemption.run_protection import ProtectedRun, RunProtection
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.nominations import Nominations
from posse.engine.state.pod_record import PodRecord
from posse.engine.verdict import VictimsProtected

STEPS_OF_A_CYCLE = 4_000
STEPS_OF_A_QUERY = 20_000
_MAX_RUNS = 16
_MAX_PODS = 1_000
"""Of groups that are considered together; one larger group is considered alone."""
_STEPS_OF_A_SEARCH = 100
_PODS_IN_A_STEP = 16
"""Pods on nodes that a search reads in one step."""


class Asker(NamedTuple):
    """A group or a pod that finds no victims."""

    priority: int
    size: int
    """How many pods wait for a node."""
    likeness: Hashable | None
    """What those share that would get the same answer; None if there are no others."""
    find_victims: Callable[[], Sequence[PodRecord] | None]
    """A search for victims in the present state; None if no eviction helps."""


class AwaitedProtection:
    def __init__(self, state: ClusterState, protection: RunProtection, nominations: Nominations) -> None:
        self._protection = protection
        self._state = state
        self._nominations = nominations
        self._left = 0
        self._first_free: list[_Candidate] | None = None
        self._known: dict[Hashable, VictimsProtected | None] = {}
        self._reading = 0
        """Steps of reading all pods on nodes once."""

    def allow(self, steps: int) -> None:
        """Begin a cycle or a query, which may take so many steps in all."""
        self._left = steps
        self._first_free = None
        self._known = {}

    @property
    def is_silent(self) -> bool:
        """Whether nothing is protected, or the steps are spent."""
        return self._left <= 0 or not self._protection.runs

    def of(self, asker: Asker, *, is_fruitless: bool = True) -> VictimsProtected | None:
        """What has to lose its protection so that a fruitless search for victims finds some.

        Of all sets that suffice, it is the one that is free first, as far as the steps allow. The state is
        unchanged.
        """
        if asker.likeness is None:
            return self._answer(asker, is_fruitless=is_fruitless)
        known = (asker.likeness, asker.priority, self._state.changes, self._nominations.changes)
        if known not in self._known:
            self._known[known] = self._answer(asker, is_fruitless=is_fruitless)
        return self._known[known]

    def _answer(self, asker: Asker, *, is_fruitless: bool) -> VictimsProtected | None:
        runs = self._considered(asker.priority)
        if not runs or not (is_fruitless or self._found(asker, ()) is None):
            return None
        victims = self._found(asker, runs)
        low, high = 1, len(runs)
        # More always suffice if fewer do.
        while victims is not None and low < high and self._left > 0:
            middle = (low + high) // 2
            fewer = self._found(asker, runs[:middle])
            victims, low, high = (victims, middle + 1, high) if fewer is None else (fewer, low, middle)
        groups = dict.fromkeys(record.group for record in victims or ())
        held = [run for run in runs if run.group.key in groups]
        return VictimsProtected(held[-1].group.key, held[-1].until, len(held) - 1) if held else None

    def _found(self, asker: Asker, runs: Sequence[ProtectedRun]) -> Sequence[PodRecord] | None:
        """The victims if these groups could be preempted now; None if there are none, or too few steps."""
        records = [record for run in runs for record in run.group.members.values()]
        ranks = [(one, own) for one in records if (own := one.unprotected_priority) is not None]
        self._left -= _STEPS_OF_A_SEARCH + self._reading + asker.size + len(ranks)
        if self._left <= 0:
            return None
        with self._state.effort.aside(self._left) as spent, self._state.ranked(ranks):
            victims = asker.find_victims()
            self._left -= spent()
        return victims

    def _considered(self, priority: int) -> list[ProtectedRun]:
        """Groups below the priority that are free first."""
        if self._first_free is None:
            candidates = [_Candidate(run, _lowest(run.group)) for run in self._protection.runs.values()]
            self._first_free = sorted(candidates, key=_by_end)
            pods = sum(len(there) for _, there in self._state.attached_by_node())
            self._reading = pods // _PODS_IN_A_STEP
        below = (run for run, lowest in self._first_free if lowest is not None and lowest < priority)
        runs: list[ProtectedRun] = []
        pods = 0
        for run in islice(below, _MAX_RUNS):
            pods += len(run.group.members)
            if runs and pods > _MAX_PODS:
                break
            runs.append(run)
        return runs


class _Candidate(NamedTuple):
    run: ProtectedRun
    lowest: int | None
    """The lowest priority that a pod of it would have without protection."""


def _lowest(group: GroupRecord) -> int | None:
    own = (record.unprotected_priority for record in group.members.values())
    return min((one for one in own if one is not None), default=None)


def _by_end(candidate: _Candidate) -> tuple[float, GroupKey]:
    return candidate.run.until, candidate.run.group.key
