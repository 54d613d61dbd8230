"""What is wrong with a group or its tree, as data. `reporting/invalid_messages` makes the sentences."""

from dataclasses import dataclass

from posse.engine.keys import GroupKey
from posse.model.limits import Excess


@dataclass(frozen=True, slots=True)
class UnknownPriorityClass:
    name: str


@dataclass(frozen=True, slots=True)
class UnlikeClassValue:
    """A group states another priority than the class that it names."""

    stated: int
    class_name: str
    value: int


@dataclass(frozen=True, slots=True)
class UnlikeClassPolicy:
    """A group states another preemption policy than the class that it names."""

    stated: str
    class_name: str
    policy: str


@dataclass(frozen=True, slots=True)
class UnclassedPriority:
    """A group states a priority and no class that gives it."""

    stated: int


PriorityError = UnknownPriorityClass | UnlikeClassValue | UnlikeClassPolicy | UnclassedPriority
"""What is wrong with the priority that a group states."""


@dataclass(frozen=True, slots=True)
class WrongPriority:
    error: PriorityError
    group: GroupKey | None
    """The group within a tree; None for a group that stands alone."""


@dataclass(frozen=True, slots=True)
class TooManyAbove:
    max_above: int
    max_levels: int


@dataclass(frozen=True, slots=True)
class TooManyGroups:
    max_groups: int


@dataclass(frozen=True, slots=True)
class TooDeep:
    max_levels: int
    path: tuple[str, ...]
    """Names of groups, from the top down."""


@dataclass(frozen=True, slots=True)
class CircularParents:
    path: tuple[str, ...]
    """Names of groups from the top down; the first is also the last."""


@dataclass(frozen=True, slots=True)
class SeveralWorkloads:
    """The groups of a tree come from more than one Workload."""

    named: tuple[tuple[str, GroupKey], ...]
    """Each Workload, with the first group that names it."""


@dataclass(frozen=True, slots=True)
class SeveralPriorityClasses:
    named: tuple[tuple[str, GroupKey], ...]
    """Each class, empty for none, with the first group that names it."""


@dataclass(frozen=True, slots=True)
class SeveralPriorities:
    stated: tuple[tuple[int, GroupKey], ...]
    """Each priority, with the first group that has it."""


@dataclass(frozen=True, slots=True)
class NoSuchTemplate:
    group: GroupKey
    template: str


@dataclass(frozen=True, slots=True)
class OtherParent:
    """A group is not below the group that its template says. Empty parents are the top."""

    group: GroupKey
    parent: str
    template: str
    template_parent: str


@dataclass(frozen=True, slots=True)
class OtherSetting:
    """A group says something else than its template."""

    group: GroupKey
    setting: str
    stated: str
    template: str
    expected: str


@dataclass(frozen=True, slots=True)
class ContradictingModes:
    """A template is evicted pod by pod, below one that is evicted as a whole."""

    template: str
    above: str


@dataclass(frozen=True, slots=True)
class UnlikeWorkload:
    workload: str
    problem: NoSuchTemplate | OtherParent | OtherSetting | ContradictingModes


TreeProblem = (
    CircularParents | TooDeep | SeveralWorkloads | SeveralPriorityClasses | SeveralPriorities | UnlikeWorkload
)


@dataclass(frozen=True, slots=True)
class SeveralSchedulers:
    """The pods of a group name more than one scheduler."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OtherMemberPriority:
    member: int
    group: int


@dataclass(frozen=True, slots=True)
class OtherMemberPolicy:
    """A pod has another preemption policy than its group."""

    member: str
    group: str


@dataclass(frozen=True, slots=True)
class SeveralMemberPolicies:
    policies: tuple[str, ...]


MemberProblem = SeveralSchedulers | OtherMemberPriority | OtherMemberPolicy | SeveralMemberPolicies
"""How pods contradict each other or their group."""

GroupProblem = Excess | TooManyAbove | TooManyGroups | WrongPriority | TreeProblem | MemberProblem
