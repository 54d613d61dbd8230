"""Whether the refusal of a group is a proof. Members of one sort are counted exactly; several sorts only bounded from above.

A bound takes each sort by itself, as if the others were not there: if even so too few fit, no order of placing helps.
"""

from collections.abc import Sequence

from posse.engine.cluster_state import ClusterState
from posse.engine.groups import GroupRecord
from posse.engine.search.orders import MemberClass, classes_of
from posse.engine.topology.outlook import could_hold
from posse.engine.verdict import Proof

_DIFFERENT_PODS = "pods that differ"


def proof_of(state: ClusterState, group: GroupRecord, classes: Sequence[MemberClass]) -> Proof:
    """Of a group that just found no placement, with the state as it was before."""
    around = [name for subject, _ in classes for name in state.view(subject).looks_around]
    if not around and (len(classes) == 1 or _most_that_fit(state, classes) < missing(group)):
        return Proof()
    if len(classes) == 1:
        return Proof(tuple(dict.fromkeys(around)))
    beside = [name for subject, _ in classes for name in state.view(subject).beside_resources]
    return Proof(tuple(dict.fromkeys([_DIFFERENT_PODS, *beside])))


def missing(group: GroupRecord) -> int:
    """How many more have to find a place so that any may take it."""
    return max(1, group.minimum - group.attached_count)


def could_start(state: ClusterState, group: GroupRecord) -> bool:
    """Whether enough of its members may fit, by a bound that is quicker than an attempt."""
    if group.topology_key:
        return could_hold(state, group, missing(group))
    classes = classes_of(state, group.unattached())
    if any(state.view(subject).looks_around for subject, _ in classes):
        return True
    return _most_that_fit(state, classes) >= missing(group)


def _most_that_fit(state: ClusterState, classes: Sequence[MemberClass]) -> int:
    """No more than this many can be placed in any order."""
    return sum(min(len(records), int(state.view(subject).capacity().sum())) for subject, records in classes)
