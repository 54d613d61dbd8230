"""One attempt for whatever the queue holds, a group by itself or a whole tree; kept, or taken back."""

from collections.abc import Mapping

from posse.engine.groups.admission import NotReady, not_ready, tree_not_ready
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.tree import Root, Tree
from posse.engine.groups.tree_validation import workload_of
from posse.engine.placement.gang.attempt import Attempt, Probe, probe_group, try_group
from posse.engine.placement.gang.exhaustive import Steps
from posse.engine.placement.gang.proof import could_start
from posse.engine.placement.tree.attempt import probe_tree, try_tree
from posse.engine.placement.tree.bounds import could_place
from posse.engine.state.cluster_state import ClusterState


def held_root(groups: GroupBook, root: Root) -> NotReady | None:
    """Why it is not tried now; None when it may be."""
    if isinstance(root, Tree):
        return tree_not_ready(root, groups.workload(root.key.namespace, workload_of(root)))
    return not_ready(root)


def try_root(
    state: ClusterState, root: Root, plan: Mapping[str, str], *, is_thorough: bool = True
) -> Attempt:
    """With a plan, of a node for each of the members by uid, that is tried first."""
    if isinstance(root, Tree):
        return try_tree(state, root, plan, is_thorough=is_thorough)
    return try_group(state, root, plan, is_thorough=is_thorough)


def probe_root(state: ClusterState, root: Root, steps: Steps | None = None) -> Probe:
    """Try it and take everything back: the state is as it was, to the last bit.

    Who tries often says how many steps may be made in order to go through every placement of a group; a tree is then not
    searched to the end.
    """
    if isinstance(root, Tree):
        return probe_tree(state, root, is_thorough=steps is None)
    return probe_group(state, root, steps)


def may_fit(state: ClusterState, root: Root) -> bool:
    """Whether an attempt may succeed, by a bound that is quicker than one."""
    return could_place(state, root) if isinstance(root, Tree) else could_start(state, root)
