"""Trees of groups, the engine alone: how long one takes to be heard of, placed and confirmed."""

from collections.abc import Sequence

from msgspec.structs import replace

from bench.inputs import NAMESPACE, bound, gangs, nodes
from bench.measuring import Figure, Stopwatch, median_run
from posse.engine.decisions import Bind
from posse.engine.engine import Engine
from posse.engine.events import Observed
from posse.engine.options import EngineOptions
from posse.model.meta import ObjectMeta
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.workload import (
    CompositeGangSchedulingPolicy,
    CompositePodGroup,
    CompositePodGroupSchedulingPolicy,
    CompositePodGroupSpec,
    PodGroup,
    SchedulingConstraints,
    TopologyConstraint,
)

_NODES, _BLOCKS, _WIDTH, _SIZE = 5000, 5, 8, 16
_NOW = 1000.0


def measure() -> list[Figure]:
    cluster = [_in_block(node, ordinal) for ordinal, node in enumerate(nodes(_NODES))]
    composites, groups, members = _tree()
    watch = median_run(lambda: _schedule(cluster, (*composites, *groups), members))
    return [
        Figure(
            f"a tree of {_WIDTH} x {_WIDTH} groups of {_SIZE} pods, block above rack, 5,000 nodes",
            watch.total * 1e3,
            "ms",
            f"us per pod: {watch.shares(len(members))}",
        )
    ]


def _in_block(node: Node, ordinal: int) -> Node:
    """Ten racks to a block."""
    block = {"block": f"block-{ordinal % 50 % _BLOCKS}"}
    return replace(node, metadata=replace(node.metadata, labels=node.metadata.labels | block))


def _tree() -> tuple[list[CompositePodGroup], list[PodGroup], list[Pod]]:
    branches = [_composite(f"branch-{number}", "root", "block") for number in range(_WIDTH)]
    groups, members = gangs(_WIDTH * _WIDTH, _SIZE, cpu="4")
    leaves = [_below(group, f"branch-{number // _WIDTH}") for number, group in enumerate(groups)]
    return [_composite("root", None, None), *branches], leaves, members


def _composite(name: str, parent: str | None, key: str | None) -> CompositePodGroup:
    policy = CompositePodGroupSchedulingPolicy(gang=CompositeGangSchedulingPolicy(min_group_count=_WIDTH))
    return CompositePodGroup(
        metadata=ObjectMeta(name=name, namespace=NAMESPACE, uid=name),
        spec=CompositePodGroupSpec(
            parent_composite_pod_group_name=parent,
            scheduling_policy=policy,
            scheduling_constraints=_one_domain(key) if key is not None else None,
        ),
    )


def _below(group: PodGroup, parent: str) -> PodGroup:
    spec = replace(
        group.spec, parent_composite_pod_group_name=parent, scheduling_constraints=_one_domain("rack")
    )
    return replace(group, spec=spec)


def _one_domain(key: str) -> SchedulingConstraints:
    return SchedulingConstraints(topology=(TopologyConstraint(key=key),))


def _schedule(
    cluster: Sequence[Node], groups: Sequence[CompositePodGroup | PodGroup], members: Sequence[Pod]
) -> Stopwatch:
    engine, watch = Engine(EngineOptions()), Stopwatch()
    for node in cluster:
        engine.absorb(Observed(node))
    engine.decide(_NOW)
    with watch.part("absorbing"):
        for obj in (*groups, *members):
            engine.absorb(Observed(obj))
    with watch.part("deciding"):
        decisions = engine.decide(_NOW)
    placed = [one for decision in decisions if isinstance(decision, Bind) for one in decision.placements]
    if len(placed) != len(members):
        raise RuntimeError(f"{len(placed)} of {len(members)} pods were placed")
    by_name = {pod.metadata.name: pod for pod in members}
    confirmed = [bound(by_name[one.pod.name], one.node) for one in placed]
    with watch.part("confirming"):
        for one in confirmed:
            engine.absorb(Observed(one))
    return watch
