"""Whether a tree may be tried at all: what it still waits for, and what is wrong with it or with one of its groups."""

from posse.engine.admissibility import (
    BEING_BOUND,
    INVALID,
    WAITING_FOR_GROUP,
    WAITING_FOR_PODS,
    Held,
    contradiction,
    expecting,
    gated_members,
    members_disagree,
    too_few_pods,
)
from posse.engine.decisions import SCHEDULER_ERROR
from posse.engine.trees.tree import Branch, Part, Tree, admissible_children, is_admissible
from posse.engine.trees.validity import violation
from posse.model.workload import Workload

_MOST_NAMED = 3


def held_tree(tree: Tree, workload: Workload | None) -> Held | None:
    """Why the tree is not tried now; None when it may be. `workload` is the one that the root names, if it exists."""
    wrong = violation(tree, workload)
    if wrong:
        return Held(INVALID, wrong, is_error=True)
    if tree.top is None:
        return Held(WAITING_FOR_GROUP, f"CompositePodGroup {tree.key.name} does not exist yet")
    if not is_admissible(tree.top):
        return Held(WAITING_FOR_PODS, incomplete(tree.top))
    return _held_by_leaf(tree) or _premature(tree)


def incomplete(part: Part) -> str:
    """Of a part that cannot start: which members it lacks."""
    if not isinstance(part, Branch):
        return too_few_pods(part)
    groups = f"{admissible_children(part)} of the {part.minimum} groups it needs have the pods they need"
    if part.minimum == 1:
        groups = "none of its groups has the pods it needs"
    if len(part.children) < part.minimum:
        return f"{groups}; {f'only {len(part.children)}' if part.children else 'none'} exist"
    lacking = [child.key.name for child in part.children if not is_admissible(child)]
    rest = f" and {len(lacking) - _MOST_NAMED} more" if len(lacking) > _MOST_NAMED else ""
    return f"{groups}; not {', '.join(lacking[:_MOST_NAMED])}{rest}"


def _held_by_leaf(tree: Tree) -> Held | None:
    for leaf in tree.leaves:
        message = gated_members(leaf)
        if message:
            return Held("SchedulingGated", f"in pod group {leaf.key.name} {message}")
    errors = [contradiction(leaf) for leaf in tree.leaves if leaf.members]
    errors.append(members_disagree([record.pod for record in tree.members.values()]))
    return next((Held(SCHEDULER_ERROR, error, is_error=True) for error in errors if error), None)


def _premature(tree: Tree) -> Held | None:
    if tree.relies_on_promises:
        return Held(BEING_BOUND, "its pods are being bound; those that came later wait for the outcome")
    return next((hold for leaf in tree.leaves if (hold := expecting(leaf)) is not None), None)
