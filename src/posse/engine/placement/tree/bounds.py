"""Whether a tree may start, by a bound that is quicker than an attempt: every group counted as if it were alone."""

from posse.engine.groups.tree import Branch, Part, Tree, is_started, unattached
from posse.engine.placement.gang.minimum_resources import missing_resources
from posse.engine.placement.gang.proof import could_start, missing
from posse.engine.placement.search.member_classes import classes_of
from posse.engine.placement.tree.domains import Rows, inside, places
from posse.engine.state.cluster_state import ClusterState
from posse.engine.verdict import Proof

_TREES = "groups that share a tree"


def tree_proof(state: ClusterState, top: Branch, rows: Rows = None) -> Proof:
    """Of a tree, or a part of one, that just found no placement on these rows, with the state as it was before."""
    is_possible = _may_grow(state, top, rows) if is_started(top) else _may_start(state, top, rows)
    if not is_possible:
        return Proof()
    scheduling_classes = [
        scheduling_class
        for leaf in top.leaves()
        for scheduling_class, _ in classes_of(state, leaf.unattached())
    ]
    beside = [
        name
        for scheduling_class in scheduling_classes
        for name in state.rules(scheduling_class).non_resource_rules
    ]
    return Proof(tuple(dict.fromkeys([_TREES, *beside])))


def could_place(state: ClusterState, tree: Tree) -> bool:
    """Whether an attempt may come to more than the last one did."""
    waiting = [leaf for leaf in tree.leaves if leaf.unattached() and not leaf.is_over]
    return (
        tree.top is not None
        and _may_start(state, tree.top, None)
        and any(could_start(state, leaf) for leaf in waiting)
    )


def _may_grow(state: ClusterState, part: Part, rows: Rows) -> bool:
    """Whether anybody more of a part that has started may find a place."""
    if not unattached(part) or (not isinstance(part, Branch) and part.is_over):
        return False
    return any(_may_grow_in(state, part, place) for place in places(state, part, rows))


def _may_grow_in(state: ClusterState, part: Part, rows: Rows) -> bool:
    if isinstance(part, Branch):
        return any(
            _may_grow(state, child, rows) if is_started(child) else _may_start(state, child, rows)
            for child in part.children
        )
    return _may_start_in(state, part, rows)


def _may_start(state: ClusterState, part: Part, rows: Rows) -> bool:
    return is_started(part) or any(_may_start_in(state, part, place) for place in places(state, part, rows))


def _may_start_in(state: ClusterState, part: Part, rows: Rows) -> bool:
    if isinstance(part, Branch):
        return sum(1 for child in part.children if _may_start(state, child, rows)) >= part.minimum
    if len(part.unattached()) < missing(part) or missing_resources(state, part) is not None:
        return False
    with inside(state, rows):
        return could_start(state, part)
