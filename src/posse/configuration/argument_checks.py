"""Validates the arguments of each plugin beyond their types, with the limits of Kubernetes."""

from collections.abc import Iterator, Sequence

from posse.configuration.problems import ConfigurationProblem, from_field_errors
from posse.configuration.shapes import (
    Arguments,
    DefaultPreemptionArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    ResourceSpec,
    ScoringStrategy,
    UtilizationPoint,
    VolumeBindingArgs,
)
from posse.kinds.core.placements import spread_errors
from posse.kinds.machinery.declared import declared_errors
from posse.model.formats import label_key

RATIO = "RequestedToCapacityRatio"
STRATEGIES = ("LeastAllocated", "MostAllocated", RATIO)
SYSTEM, LIST = "System", "List"


def argument_problems(args: Arguments, path: str) -> Iterator[ConfigurationProblem]:
    match args:
        case NodeResourcesFitArgs():
            yield from _fit_problems(args, path)
        case NodeResourcesBalancedAllocationArgs():
            yield from _resource_problems(args.resources, f"{path}.resources", heaviest=1)
        case NodeAffinityArgs():
            errors = declared_errors(f"{path}.addedAffinity", args.added_affinity)
            yield from from_field_errors(errors)
        case PodTopologySpreadArgs():
            yield from _spread_problems(args, path)
        case InterPodAffinityArgs():
            yield from _range_problems(f"{path}.hardPodAffinityWeight", args.hard_pod_affinity_weight, 0, 100)
        case DefaultPreemptionArgs():
            yield from _preemption_problems(args, path)
        case VolumeBindingArgs():
            yield from _volume_problems(args, path)


def _fit_problems(args: NodeResourcesFitArgs, path: str) -> Iterator[ConfigurationProblem]:
    for index, name in enumerate(args.ignored_resources):
        yield from _name_problems(f"{path}.ignoredResources[{index}]", name)
    for index, group in enumerate(args.ignored_resource_groups):
        field = f"{path}.ignoredResourceGroups[{index}]"
        if "/" in group:
            yield ConfigurationProblem(
                field, f"{group!r} is a resource; a group is what stands before its '/'"
            )
        else:
            yield from _name_problems(field, group)
    if args.scoring_strategy is not None:
        yield from _strategy_problems(args.scoring_strategy, f"{path}.scoringStrategy")


def _strategy_problems(strategy: ScoringStrategy, path: str) -> Iterator[ConfigurationProblem]:
    if strategy.type not in STRATEGIES:
        yield ConfigurationProblem(
            f"{path}.type", f"{strategy.type!r} is no strategy; use {', '.join(STRATEGIES)}"
        )
    yield from _resource_problems(strategy.resources, f"{path}.resources", heaviest=100)
    ratio, field = strategy.requested_to_capacity_ratio, f"{path}.requestedToCapacityRatio"
    if strategy.type == RATIO and ratio is None:
        yield ConfigurationProblem(field, f"is missing; {RATIO} needs a shape with at least one point")
    elif strategy.type == RATIO and ratio is not None:
        yield from _shape_problems(ratio.shape, f"{field}.shape")
    elif ratio is not None:
        yield ConfigurationProblem(field, f"is only for type {RATIO}; remove it or change the type")


def _resource_problems(
    resources: Sequence[ResourceSpec], path: str, heaviest: int
) -> Iterator[ConfigurationProblem]:
    seen: set[str] = set()
    for index, resource in enumerate(resources):
        item = f"{path}[{index}]"
        yield from _name_problems(f"{item}.name", resource.name)
        if resource.name in seen:
            yield ConfigurationProblem(f"{item}.name", f"{resource.name} is listed twice")
        seen.add(resource.name)
        # Without a weight, and also with 0, it is 1.
        yield from _range_problems(f"{item}.weight", resource.weight, 0, heaviest)


def _shape_problems(shape: Sequence[UtilizationPoint], path: str) -> Iterator[ConfigurationProblem]:
    if not shape:
        yield ConfigurationProblem(path, "is empty; give at least one point with utilization and score")
    for index, point in enumerate(shape):
        field = f"{path}[{index}].utilization"
        yield from _range_problems(field, point.utilization, 0, 100)
        yield from _range_problems(f"{path}[{index}].score", point.score, 0, 10)
        if index and point.utilization <= shape[index - 1].utilization:
            before = shape[index - 1].utilization
            yield ConfigurationProblem(
                field, f"{point.utilization} comes after {before}; sort points by utilization"
            )


def _spread_problems(args: PodTopologySpreadArgs, path: str) -> Iterator[ConfigurationProblem]:
    field = f"{path}.defaultingType"
    if args.defaulting_type not in {"", SYSTEM, LIST}:
        yield ConfigurationProblem(field, f"{args.defaulting_type!r} is no type; use {SYSTEM} or {LIST}")
    elif args.defaulting_type != LIST and args.default_constraints:
        yield ConfigurationProblem(field, f"must be {LIST} for defaultConstraints to be used")
    path = f"{path}.defaultConstraints"
    yield from from_field_errors(spread_errors(path, args.default_constraints))
    for index, constraint in enumerate(args.default_constraints):
        if constraint.label_selector is not None:
            where = f"{path}[{index}].labelSelector"
            yield ConfigurationProblem(
                where, "must not be set: it is deduced from the Services that select a pod"
            )


def _preemption_problems(args: DefaultPreemptionArgs, path: str) -> Iterator[ConfigurationProblem]:
    share, count = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    yield from _range_problems(f"{path}.minCandidateNodesPercentage", share, 0, 100)
    if count < 0:
        yield ConfigurationProblem(f"{path}.minCandidateNodesAbsolute", f"must be at least 0, not {count}")
    if not share and not count:
        yield ConfigurationProblem(
            f"{path}.minCandidateNodesAbsolute", "must not be 0 if minCandidateNodesPercentage is 0 too"
        )


def _volume_problems(args: VolumeBindingArgs, path: str) -> Iterator[ConfigurationProblem]:
    if args.bind_timeout_seconds < 0:
        yield ConfigurationProblem(
            f"{path}.bindTimeoutSeconds", f"must be at least 0, not {args.bind_timeout_seconds}"
        )
    if args.shape:
        yield from _shape_problems(args.shape, f"{path}.shape")


def _name_problems(path: str, name: str) -> Iterator[ConfigurationProblem]:
    for text in label_key(name):
        yield ConfigurationProblem(path, f"{name!r} is no name of a resource: {text}")


def _range_problems(path: str, number: int, least: int, most: int) -> Iterator[ConfigurationProblem]:
    if not least <= number <= most:
        yield ConfigurationProblem(path, f"must be from {least} to {most}, not {number}")
