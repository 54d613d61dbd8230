"""Whether the refusal of a group is a proof.

Identical members are counted exactly; different ones are bounded from above.

The bound takes each class by itself, as if the others did not exist: if even so too few fit, no order helps.
"""

from collections.abc import Sequence

from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Part
from posse.engine.placement.gang.domain_bounds import could_hold
from posse.engine.placement.search.fill import MemberClass, classes_of
from posse.engine.proof import Proof
from posse.engine.rules.devices import DynamicResources
from posse.engine.state.cluster_state import ClusterState

_DIFFERENT_PODS = "pods that differ"


def proof_of(state: ClusterState, group: GroupRecord, classes: Sequence[MemberClass]) -> Proof:
    """The proof for a group that just found no placement, with the state as it was before."""
    around = [
        name
        for scheduling_class, _ in classes
        for name in state.rules(scheduling_class).depends_on_other_nodes
    ]
    searches = devices_in_doubt(state, classes)
    is_bounded = not around and (not searches or _are_nodes_decided(state, classes))
    is_counted = is_bounded and not searches and len(classes) == 1
    if is_counted or (is_bounded and _most_that_fit(state, classes) < missing(group)):
        return Proof()
    around += searches
    if len(classes) == 1:
        return Proof(tuple(dict.fromkeys(around)))
    beside = [
        name for scheduling_class, _ in classes for name in state.rules(scheduling_class).non_resource_rules
    ]
    return Proof(tuple(dict.fromkeys([_DIFFERENT_PODS, *beside])))


def _are_nodes_decided(state: ClusterState, classes: Sequence[MemberClass]) -> bool:
    """Whether no node was refused by a search for devices that did not come to its end."""
    needs = [one.pod_class.devices for one, _ in classes if one.pod_class.devices is not None]
    return not any(one.extended or state.devices.answers.in_doubt(one).any() for one in needs)


def devices_in_doubt(state: ClusterState, classes: Sequence[MemberClass]) -> list[str]:
    """The rule about devices, if pods need some and a search for devices was cut short."""
    needs_some = any(scheduling_class.pod_class.devices is not None for scheduling_class, _ in classes)
    return [DynamicResources.name] if needs_some and state.devices.answers.searches.is_in_doubt else []


def missing(part: Part) -> int:
    """How many more of its pods or children must start before any may."""
    return max(1, part.minimum - part.started_count)


def could_start(state: ClusterState, group: Part) -> bool:
    """Whether enough pods of a pod group may fit, by a bound that is cheaper than an attempt."""
    if group.topology_key:
        return could_hold(state, group, missing(group))
    classes = classes_of(state, group.unattached())
    if any(state.rules(scheduling_class).depends_on_other_nodes for scheduling_class, _ in classes):
        return True
    return _most_that_fit(state, classes) >= missing(group)


def _most_that_fit(state: ClusterState, classes: Sequence[MemberClass]) -> int:
    """Upper bound on the pods that can be placed, in any order."""
    return sum(
        min(len(records), int(state.capacity(scheduling_class).per_node().sum()))
        for scheduling_class, records in classes
    )
