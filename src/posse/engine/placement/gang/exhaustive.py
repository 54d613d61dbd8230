"""The last step before a group is refused: enumerate placements of the members that must start.

The number of steps is limited. The resulting proof says whether no placement exists, the steps did not
suffice, or a rule applies that cannot be enumerated.
"""

from dataclasses import dataclass, field

from posse.engine.groups.group_record import GroupRecord
from posse.engine.placement.gang.member_pass import Pass, pass_beside
from posse.engine.placement.gang.proof import devices_in_doubt, missing
from posse.engine.placement.search.backtracking import Backtracking, SearchEnd
from posse.engine.placement.search.fill import classes_of
from posse.engine.proof import Proof
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft

_MANY_PODS = "so many pods"


@dataclass(slots=True)
class Steps:
    """A step budget, shared by all searches that hold it."""

    left: int


@dataclass(slots=True)
class ThoroughSearch:
    state: ClusterState
    draft: Draft
    group: GroupRecord
    _steps: Steps
    _endings: list[SearchEnd] = field(default_factory=list)

    def run(self, shares: int = 1) -> Pass | None:
        """Search the rows of the search scope with one of so many shares of the remaining steps."""
        start, needed, steps = self.draft.checkpoint(), missing(self.group), self._steps.left // shares
        search = Backtracking(self.state, self.draft, self.group.unattached(), needed, steps)
        ending = search.run()
        self._steps.left -= steps - search.steps_left
        self._endings.append(ending)
        return pass_beside(self.state, self.draft, self.group, start) if ending is SearchEnd.FOUND else None

    def proof(self, before: Proof) -> Proof:
        """The proof after runs wherever the group might fit found nothing; `before` is that without them."""
        if SearchEnd.OUT_OF_REACH in self._endings:
            return Proof((*before.doubts, _MANY_PODS))
        if SearchEnd.CUT_SHORT in self._endings:
            return Proof(before.doubts, exhausted=True)
        rules = [self.state.rules(self.state.scheduling_class(record)) for record in self.group.unattached()]
        uncovered = [name for one in rules for name in one.uncountable_rules]
        uncovered += devices_in_doubt(self.state, classes_of(self.state, self.group.unattached()))
        return Proof(tuple(dict.fromkeys(uncovered)))
