"""One attempt for whatever the queue holds, a group by itself or a whole tree; kept, or taken back."""

from collections.abc import Mapping

from posse.engine.admissibility import Held, held
from posse.engine.cluster_state import ClusterState
from posse.engine.cycle import Attempt, Probe, probe_group, try_group
from posse.engine.groups import GroupBook
from posse.engine.proving import could_start
from posse.engine.thorough_search import Steps
from posse.engine.trees.admissibility import held_tree
from posse.engine.trees.bounds import could_place
from posse.engine.trees.cycle import probe_tree, try_tree
from posse.engine.trees.tree import Root, Tree
from posse.engine.trees.validity import workload_of


def held_root(groups: GroupBook, root: Root) -> Held | None:
    """Why it is not tried now; None when it may be."""
    if isinstance(root, Tree):
        return held_tree(root, groups.workload(root.key.namespace, workload_of(root)))
    return held(root)


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
