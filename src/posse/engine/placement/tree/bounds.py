"""Whether a group or a tree may start, by a bound cheaper than an attempt: every group counts as if alone."""

from posse.engine.groups.part import Part, Root
from posse.engine.placement.gang.minimum_resources import missing_resources
from posse.engine.placement.gang.proof import could_start, missing
from posse.engine.placement.search.fill import classes_of
from posse.engine.placement.tree.domains import Rows, inside, places
from posse.engine.proof import Proof
from posse.engine.state.cluster_state import ClusterState

_TREES = "groups that share a tree"


def tree_proof(state: ClusterState, top: Part, rows: Rows = None) -> Proof:
    """The proof for a tree, or a part of one, that just found no placement on these rows.

    The state is as it was before the attempt.
    """
    is_possible = _may_grow(state, top, rows) if top.is_started else _may_start(state, top, rows)
    if not is_possible:
        return Proof()
    scheduling_classes = [
        scheduling_class
        for leaf in top.leaves
        for scheduling_class, _ in classes_of(state, leaf.unattached())
    ]
    beside = [
        name
        for scheduling_class in scheduling_classes
        for name in state.rules(scheduling_class).non_resource_rules
    ]
    return Proof(tuple(dict.fromkeys([_TREES, *beside])))


def may_fit(state: ClusterState, root: Root) -> bool:
    """Whether an attempt may achieve more than the last one, by a bound that is cheaper than an attempt."""
    top, waiting = root.top, [leaf for leaf in root.leaves if leaf.unattached() and not leaf.is_over]
    if top is None or (top.children and not _may_start(state, top, None)):
        return False
    return any(could_start(state, leaf) for leaf in waiting)


def _may_grow(state: ClusterState, part: Part, rows: Rows) -> bool:
    """Whether additional pods of a started part may find a node."""
    if not part.unattached() or part.is_over:
        return False
    return any(_may_grow_in(state, part, place) for place in places(state, part, rows))


def _may_grow_in(state: ClusterState, part: Part, rows: Rows) -> bool:
    if not part.children:
        return _may_start_in(state, part, rows)
    return any(
        _may_grow(state, child, rows) if child.is_started else _may_start(state, child, rows)
        for child in part.children
    )


def _may_start(state: ClusterState, part: Part, rows: Rows) -> bool:
    return part.is_started or any(_may_start_in(state, part, place) for place in places(state, part, rows))


def _may_start_in(state: ClusterState, part: Part, rows: Rows) -> bool:
    if part.children:
        return sum(1 for child in part.children if _may_start(state, child, rows)) >= part.minimum
    if len(part.own_unattached()) < missing(part) or missing_resources(state, part) is not None:
        return False
    with inside(state, rows):
        return could_start(state, part)
