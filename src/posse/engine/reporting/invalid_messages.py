"""Sentences about what is wrong with a group or its tree."""

from collections.abc import Iterable
from functools import singledispatch

from posse.engine.invalid_groups import (
    CircularParents,
    ContradictingModes,
    GroupProblem,
    NoSuchTemplate,
    OtherMemberPolicy,
    OtherMemberPriority,
    OtherParent,
    OtherSetting,
    PriorityError,
    SeveralMemberPolicies,
    SeveralPriorities,
    SeveralPriorityClasses,
    SeveralSchedulers,
    SeveralWorkloads,
    TooDeep,
    TooManyAbove,
    TooManyGroups,
    UnclassedPriority,
    UnknownPriorityClass,
    UnlikeClassPolicy,
    UnlikeClassValue,
    UnlikeWorkload,
    WrongPriority,
)
from posse.engine.keys import GroupKey
from posse.model.limits import Excess

_MEMBERS = "all pods in a single pod group should have the same"
_GROUPS = "all groups of a tree should have the same"


def priority_error_text(error: PriorityError) -> str:
    match error:
        case UnknownPriorityClass(name):
            return f"spec.priorityClassName: no PriorityClass with name {name} was found"
        case UnlikeClassValue(stated, name, value):
            return f"spec.priority: {stated} is not the value of PriorityClass {name}, {value}"
        case UnlikeClassPolicy(stated, name, policy):
            return f"spec.preemptionPolicy: {stated} is not that of PriorityClass {name}, {policy}"
        case UnclassedPriority(stated):
            return f"spec.priority: {stated} is given by no PriorityClass; name one that gives it"


@singledispatch
def problem_text(problem: GroupProblem) -> str:
    raise TypeError(problem)


@problem_text.register
def _(problem: Excess) -> str:
    return str(problem)


@problem_text.register
def _(problem: TooManyAbove) -> str:
    above, levels = problem.max_above, problem.max_levels
    return f"more than {above} groups are above it, and a tree has at most {levels} levels"


@problem_text.register
def _(problem: TooManyGroups) -> str:
    return f"the tree has more than {problem.max_groups} groups"


@problem_text.register
def _(problem: WrongPriority) -> str:
    text = priority_error_text(problem.error)
    return text if problem.group is None else f"{_object(problem.group)}: {text}"


@problem_text.register
def _(problem: CircularParents) -> str:
    return f"composite pod groups are each other's ancestors: {' > '.join(problem.path)}"


@problem_text.register
def _(problem: TooDeep) -> str:
    return f"the tree is more than {problem.max_levels} levels deep: {' > '.join(problem.path)}"


@problem_text.register
def _(problem: SeveralWorkloads) -> str:
    count, listed = len(problem.named), _listed(problem.named)
    return f"all groups of a tree come from one Workload, but these name {count}: {listed}"


@problem_text.register
def _(problem: SeveralPriorityClasses) -> str:
    return f"{_GROUPS} priority class, got {_listed((name or 'none', key) for name, key in problem.named)}"


@problem_text.register
def _(problem: SeveralPriorities) -> str:
    return f"{_GROUPS} priority, got {_listed(problem.stated)}"


@problem_text.register
def _(problem: UnlikeWorkload) -> str:
    return f"{_unlike_text(problem.problem)} in Workload {problem.workload}"


def _unlike_text(problem: NoSuchTemplate | OtherParent | OtherSetting | ContradictingModes) -> str:
    match problem:
        case NoSuchTemplate(group, template):
            kind = "composite pod group" if group.is_composite else "pod group"
            names = f"{_object(group)} names template {template!r}"
            return f"{names}, and there is no {kind} template of that name"
        case OtherParent(group, parent, template, template_parent):
            hangs = f"{_object(group)} hangs {_place(parent)}"
            return f"{hangs}, and its template {template!r} {_place(template_parent)}"
        case OtherSetting(group, setting, stated, template, expected):
            own = f"{_object(group)} has {setting} {stated}"
            return f"{own}, and its template {template!r} has {expected},"
        case ContradictingModes(template, above):
            return f"template {template!r} has disruption mode single below {above!r}, which has all,"


@problem_text.register
def _(problem: SeveralSchedulers) -> str:
    one, other, *_ = problem.names
    return f'{_MEMBERS} .spec.schedulerName set, got: "{one}" and "{other}"'


@problem_text.register
def _(problem: OtherMemberPriority) -> str:
    return f"{_MEMBERS} priority as the pod group's priority, got {problem.member} and {problem.group}"


@problem_text.register
def _(problem: OtherMemberPolicy) -> str:
    pair = f"got {problem.member} and {problem.group}"
    return f"{_MEMBERS} preemption policy as the pod group's preemption policy, {pair}"


@problem_text.register
def _(problem: SeveralMemberPolicies) -> str:
    one, other, *_ = problem.policies
    return f"{_MEMBERS} preemption policy, got {one} and {other}"


def _listed(named: Iterable[tuple[object, GroupKey]]) -> str:
    return ", ".join(f"{value} ({_object(key)})" for value, key in named)


def _object(key: GroupKey) -> str:
    return f"{'CompositePodGroup' if key.is_composite else 'PodGroup'} {key.name}"


def _place(parent: str) -> str:
    return f"below {parent!r}" if parent else "at the top"
