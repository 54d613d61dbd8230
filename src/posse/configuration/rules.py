"""The rules that a plugin of kube-scheduler stands for in Posse, made with its arguments.

The rules of each plugin are a profile; profiles.py combines the enabled ones. Plugins without arguments, or
with arguments that change nothing, have the rules of the default profile.
"""

from collections.abc import Sequence
from dataclasses import replace

from posse.configuration.argument_checks import LIST, RATIO
from posse.configuration.arguments import PluginArguments
from posse.configuration.shapes import (
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    ResourceSpec,
    ScoringStrategy,
)
from posse.engine.nodes.resources import ResourceLimits
from posse.engine.pods.policy import SYSTEM_SPREADING, DefaultSpreading
from posse.engine.rules.inter_pod_affinity import InterPodAffinity, InterPodPreference
from posse.engine.rules.node_affinity import NodeAffinityRule, NodePreference
from posse.engine.rules.profile import Profile
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.engine.rules.resources import (
    CPU_AND_MEMORY,
    LEAST_ALLOCATED,
    BalancedAllocation,
    MostAllocated,
    RequestedToCapacityRatio,
    ResourceScores,
    ResourcesFit,
    ShapePoint,
    Strategy,
    WeightedResource,
)

_SCORE_UNIT = 10
"""Shapes score from 0 to 10, rules from 0 to 100."""


def rules_of(name: str, arguments: PluginArguments) -> Profile:
    match arguments.known.get(name):
        case NodeResourcesFitArgs(scoring_strategy=strategy):
            return Profile(filters=(ResourcesFit(),), row_scores=(_resource_scores(strategy),))
        case NodeResourcesBalancedAllocationArgs(resources=resources) if resources:
            names = tuple(resource.name for resource in resources)
            return Profile(row_scores=(BalancedAllocation(resources=names),))
        case NodeAffinityArgs() as args:
            return _node_affinity(args)
        case InterPodAffinityArgs() as args:
            preference = InterPodPreference(
                hard_affinity_weight=args.hard_pod_affinity_weight,
                heeds_existing_pods=not args.ignore_preferred_terms_of_existing_pods,
            )
            return Profile(filters=(InterPodAffinity(),), cluster_scores=(preference,))
    return _default_rules(name)


def domain_resources_of(arguments: PluginArguments) -> Sequence[WeightedResource]:
    """Resources by which domains are scored: the same as for nodes."""
    args = arguments.of("NodeResourcesFit", NodeResourcesFitArgs)
    return _weighted(args.scoring_strategy.resources if args.scoring_strategy is not None else ())


def limits_of(arguments: PluginArguments) -> ResourceLimits:
    args = arguments.of("NodeResourcesFit", NodeResourcesFitArgs)
    return ResourceLimits(args.ignored_resources, args.ignored_resource_groups)


def spreading_of(arguments: PluginArguments) -> DefaultSpreading:
    args = arguments.of("PodTopologySpread", PodTopologySpreadArgs)
    return DefaultSpreading(args.default_constraints) if args.defaulting_type == LIST else SYSTEM_SPREADING


def _default_rules(name: str) -> Profile:
    return Profile(
        preconditions=tuple(rule for rule in DEFAULT_PROFILE.preconditions if rule.name == name),
        narrowings=tuple(rule for rule in DEFAULT_PROFILE.narrowings if rule.name == name),
        filters=tuple(rule for rule in DEFAULT_PROFILE.filters if rule.name == name),
        row_scores=tuple(rule for rule in DEFAULT_PROFILE.row_scores if rule.name == name),
        relative_scores=tuple(rule for rule in DEFAULT_PROFILE.relative_scores if rule.name == name),
        cluster_scores=tuple(rule for rule in DEFAULT_PROFILE.cluster_scores if rule.name == name),
    )


def _node_affinity(args: NodeAffinityArgs) -> Profile:
    added, unchanged = args.added_affinity, _default_rules("NodeAffinity")
    if added is None:
        return unchanged
    return replace(
        unchanged,
        filters=(NodeAffinityRule(added.required_during_scheduling_ignored_during_execution),),
        relative_scores=(NodePreference(added=added.preferred_during_scheduling_ignored_during_execution),),
    )


def _resource_scores(scoring: ScoringStrategy | None) -> ResourceScores:
    if scoring is None:
        return ResourceScores()
    return ResourceScores(strategy=_strategy(scoring), resources=_weighted(scoring.resources))


def _strategy(scoring: ScoringStrategy) -> Strategy:
    ratio = scoring.requested_to_capacity_ratio
    if scoring.type == RATIO and ratio is not None:
        return RequestedToCapacityRatio(
            [ShapePoint(point.utilization, point.score * _SCORE_UNIT) for point in ratio.shape]
        )
    return MostAllocated() if scoring.type == "MostAllocated" else LEAST_ALLOCATED


def _weighted(resources: Sequence[ResourceSpec]) -> Sequence[WeightedResource]:
    if not resources:
        return CPU_AND_MEMORY
    return [WeightedResource(resource.name, resource.weight or 1) for resource in resources]
