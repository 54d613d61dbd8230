"""The rules that a scheduler name stands for, and those rules compiled for one scheduling class."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from posse.engine.causes import Refusal
from posse.engine.pods.policy import PLAIN_POLICY, PodPolicy
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.contract import (
    ClusterScore,
    ClusterScoreRule,
    Filter,
    FilterRule,
    GroupRule,
    Precondition,
    PreconditionRule,
    RelativeScore,
    RelativeScoreRule,
    RowScore,
    RowScoreRule,
)
from posse.engine.rules.resources import CPU_AND_MEMORY, WeightedResource

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class DomainScoring:
    """How a domain is chosen for a group among those that can hold it."""

    resources: Sequence[WeightedResource] = CPU_AND_MEMORY
    """The higher the utilization of these resources, the better."""
    fullness_weight: int = 1
    count_weight: int = 1
    """Weight of the number of members that fit."""


@dataclass(frozen=True, slots=True)
class PackingPolicy:
    """Groups are placed in as few domains as possible, and in the tightest of these."""

    topology_keys: tuple[str, ...] = ()
    """Labels of nodes, the widest level first. Nodes themselves are the last level."""
    single_pods: bool = False
    """Whether pods without a group are packed like groups of one; otherwise scores decide for them."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Rules in the order of evaluation; the first filter that refuses a node gives the reason.

    Row-local filters come before those that read the whole cluster.
    """

    preconditions: tuple[PreconditionRule, ...] = ()
    narrowings: tuple[FilterRule, ...] = ()
    """Filters that are evaluated before all others."""
    filters: tuple[FilterRule, ...] = ()
    row_scores: tuple[RowScoreRule, ...] = ()
    relative_scores: tuple[RelativeScoreRule, ...] = ()
    cluster_scores: tuple[ClusterScoreRule, ...] = ()
    group_rules: tuple[GroupRule, ...] = ()
    domain_scoring: DomainScoring = DomainScoring()
    packing: PackingPolicy | None = None
    """None if the scores of nodes decide for groups as for single pods."""
    policy: PodPolicy = PLAIN_POLICY
    queue_policy: str = "priority-fifo"
    """The name of the policy by which its pods and groups are queued."""
    preempts: bool = True
    """Whether pods that fit nowhere may preempt others."""


class CompiledRules:
    """The rules of a profile for one scheduling class, without those that do not apply to it."""

    def __init__(self, profile: Profile, scheduling_class: SchedulingClass, context: RuleContext) -> None:
        self._nodes = context.nodes
        pod_class = scheduling_class.pod_class
        self.is_exclusive = bool(pod_class.ports or pod_class.volumes)
        """Whether a node takes one of these pods at most."""
        self.is_alone = self.is_exclusive or pod_class.devices is not None
        """Whether one pod on a node may exclude the next one by other means than its requests."""
        required = [
            (rule.name, rule.compile(scheduling_class, context))
            for rule in applying(profile.preconditions, scheduling_class)
        ]
        self._preconditions: list[tuple[str, Precondition]] = [
            (name, made) for name, made in required if made is not None
        ]
        filters = [
            (rule.name, rule.compile(scheduling_class, context))
            for rule in applying((*profile.narrowings, *profile.filters), scheduling_class)
        ]
        self.filters: list[tuple[str, Filter]] = [(name, made) for name, made in filters if made is not None]
        """By name, in the order of evaluation."""
        self.static_filters = [made for _, made in self.filters if is_static(made)]
        self.row_filters = [made for _, made in self.filters if made.is_row_local and not is_static(made)]
        self.cluster_filters = [made for _, made in self.filters if not made.is_row_local]
        row = [
            (rule.weight, rule.compile(scheduling_class, context))
            for rule in applying(profile.row_scores, scheduling_class)
        ]
        self.static_scores: list[tuple[int, RowScore]] = [
            (w, made) for w, made in row if made and is_static(made)
        ]
        self.row_scores: list[tuple[int, RowScore]] = [
            (w, made) for w, made in row if made and not is_static(made)
        ]
        relative = [
            (rule.weight, rule.compile(scheduling_class, context))
            for rule in applying(profile.relative_scores, scheduling_class)
        ]
        self.relative_scores: list[tuple[int, RelativeScore]] = [
            (w, made) for w, made in relative if made is not None
        ]
        cluster = [
            (rule.weight, rule.compile(scheduling_class, context))
            for rule in applying(profile.cluster_scores, scheduling_class)
        ]
        self.cluster_scores: list[tuple[int, ClusterScore]] = [
            (w, made) for w, made in cluster if made is not None
        ]
        self.read_own_node_only = not (self._preconditions or self.cluster_filters or self.cluster_scores)
        """Whether every rule but relative scores follows from a node and the pods on it."""

    @property
    def is_in_error(self) -> bool:
        """Whether the refusal by every node is a fault of the pod's own objects."""
        return any(made.objection() and getattr(made, "is_error", False) for _, made in self._preconditions)

    def objection(self) -> Refusal | None:
        """The refusal by every node, if any."""
        for name, made in self._preconditions:
            if reason := made.objection():
                return Refusal(name, reason, len(self._nodes))
        return None

    @cached_property
    def rank_by_resources(self) -> bool:
        """Whether filters and scores that follow the pods on a node read its resources only."""
        by_usage: list[Filter | RowScore] = [*self.row_filters, *(made for _, made in self.row_scores)]
        return all(reads_resources_only(made) for made in by_usage)

    @cached_property
    def depends_on_other_nodes(self) -> tuple[str, ...]:
        """Rules by which pods on other nodes decide. Without them, counting node by node is exact."""
        return self._named(name for name, made in self.filters if not made.is_row_local)

    @cached_property
    def counts_by_resources(self) -> bool:
        """Whether nothing but resources limits how many of these pods a node takes."""
        by_resources = all(reads_resources_only(made) for made in self.row_filters)
        return by_resources and not (self.is_alone or self.cluster_filters or self._preconditions)

    @cached_property
    def counts_by_node(self) -> bool:
        """Whether the capacity of each node says exactly how many of these pods it takes."""
        row_filters = all(reads_resources_only(made) or counts_exactly(made) for made in self.row_filters)
        return row_filters and not (self.is_exclusive or self.cluster_filters or self._preconditions)

    @cached_property
    def non_resource_rules(self) -> tuple[str, ...]:
        """Rules by which a placed pod may repel or attract others by more than its requests."""
        return self._named(
            name
            for name, made in self.filters
            if not is_static(made) and not (made.is_row_local and reads_resources_only(made))
        )

    @cached_property
    def is_orderless(self) -> bool:
        """Whether their own rules let these pods come before or after others equally."""
        return not self._preconditions and all(is_orderless(made) for _, made in self.filters)

    @cached_property
    def uncountable_rules(self) -> tuple[str, ...]:
        """Rules that no enumeration of placements covers, such as which volumes are free."""
        return self._named(
            name
            for name, made in self.filters
            if not (is_static(made) or reads_resources_only(made) or is_enumerable(made))
        )

    def _named(self, filters: Iterable[str]) -> tuple[str, ...]:
        """Preconditions, and these filters."""
        return tuple(dict.fromkeys([*(name for name, _ in self._preconditions), *filters]))


def applying(rules: Iterable[R], scheduling_class: SchedulingClass) -> list[R]:
    """The rules that may apply to the class.

    A built-in rule may declare by `applies_to` what it reads of a class. It is not compiled for classes
    without that. Plugins are always compiled, under their guard.
    """
    return [
        rule
        for rule in rules
        if (applies_to := getattr(rule, "applies_to", None)) is None or applies_to(scheduling_class)
    ]


def is_static(made: Filter | RowScore) -> bool:
    """Whether it declares, by `is_static = True`, to read only the node's own description.

    It is then evaluated only when nodes change, not when pods come and go.
    """
    return bool(getattr(made, "is_static", False))


def reads_resources_only(made: Filter | RowScore) -> bool:
    """Whether it declares, by `reads_resources_only = True`, to read only a node's capacity and usage."""
    return bool(getattr(made, "reads_resources_only", False))


def counts_exactly(made: Filter) -> bool:
    """Whether it declares, by `counts_exactly = True`, that its part in the capacity of nodes is exact."""
    return bool(getattr(made, "counts_exactly", False))


def is_orderless(made: Filter) -> bool:
    """Whether it declares, by `is_orderless = True`, that its answer does not depend on the order of pods.

    A pod that may come later may then come earlier as well: no placed pod ever opens a node to another.
    """
    return is_static(made) or reads_resources_only(made) or bool(getattr(made, "is_orderless", False))


def is_enumerable(made: Filter) -> bool:
    """Whether it declares, by `is_enumerable = True`, that trying all placements of pods is exhaustive.

    That holds for rules that read only node labels and the pod census, and for devices, chosen again
    for every placement.
    """
    return bool(getattr(made, "is_enumerable", False))
