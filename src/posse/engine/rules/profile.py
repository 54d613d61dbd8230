"""The rules that a scheduler name stands for, in the order in which they are asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from posse.engine.pods.policy import PLAIN_POLICY, PodPolicy
from posse.engine.rules.contract import (
    ClusterScoreRule,
    FilterRule,
    GroupRule,
    PreconditionRule,
    RelativeScoreRule,
    RowScoreRule,
)
from posse.engine.rules.resource_scores import CPU_AND_MEMORY, WeightedResource


@dataclass(frozen=True, slots=True)
class DomainScoring:
    """How a domain is chosen for a group among those that can hold it."""

    resources: Sequence[WeightedResource] = CPU_AND_MEMORY
    """The fuller of these a domain would be, the better."""
    fullness_weight: int = 1
    count_weight: int = 1
    """Of how many members find a place there."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Row-local filters come before those that look at the cluster; the first that refuses a node gives the reason."""

    preconditions: tuple[PreconditionRule, ...] = ()
    narrowings: tuple[FilterRule, ...] = ()
    """Filters that are asked before all others, whatever the order of those."""
    filters: tuple[FilterRule, ...] = ()
    row_scores: tuple[RowScoreRule, ...] = ()
    relative_scores: tuple[RelativeScoreRule, ...] = ()
    cluster_scores: tuple[ClusterScoreRule, ...] = ()
    group_rules: tuple[GroupRule, ...] = ()
    domain_scoring: DomainScoring = DomainScoring()
    policy: PodPolicy = PLAIN_POLICY
    preempts: bool = True
    """Whether pods that find no room may have it made for them."""
