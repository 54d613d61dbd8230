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
    BasicGroupSchedulingPolicy,
    BasicSchedulingPolicy,
    CompositeGangSchedulingPolicy,
    CompositePodGroup,
    CompositePodGroupSchedulingPolicy,
    CompositePodGroupSpec,
    PodGroup,
    PodGroupSchedulingPolicy,
    SchedulingConstraints,
    TopologyConstraint,
)

_NODES, _BLOCKS, _WIDTH, _SIZE = 5000, 5, 8, 16
_NOW = 1000.0


def measure() -> list[Figure]:
    cluster = [_in_block(node, ordinal) for ordinal, node in enumerate(nodes(_NODES))]
    composites, groups, members = _tree()
    watch = median_run(lambda: _schedule(cluster, (*composites, *groups), members))
    basic: list[CompositePodGroup | PodGroup] = [*map(_basic_composite, composites)]
    basic += map(_basic_group, groups)
    one_by_one = median_run(lambda: _schedule(cluster, basic, members))
    return [
        Figure(
            f"a tree of {_WIDTH} x {_WIDTH} groups of {_SIZE} pods, block above rack, 5,000 nodes",
            watch.total * 1e3,
            "ms",
            f"us per pod: {watch.shares(len(members))}",
        ),
        Figure(
            f"a tree of {_WIDTH} x {_WIDTH} basic groups of {_SIZE} pods, basic at all levels, 5,000 nodes",
            one_by_one.total * 1e3,
            "ms",
            f"us per pod: {one_by_one.shares(len(members))}",
        ),
    ]


def _in_block(node: Node, ordinal: int) -> Node:
    """Ten racks to a block."""
    block = {"block": f"block-{ordinal % 50 % _BLOCKS}"}
    return replace(node, metadata=replace(node.metadata, labels=node.metadata.labels | block))


def tree(width: int, size: int, cpu: str) -> tuple[list[CompositePodGroup], list[PodGroup], list[Pod]]:
    """A tree of gangs without topology: `width` branches of `width` groups."""
    groups, members = gangs(width * width, size, cpu)
    names = ["root", *(f"branch-{number}" for number in range(width))]
    composites = [_composite(name, None if name == "root" else "root", None, width) for name in names]
    leaves = [_below(group, f"branch-{number // width}") for number, group in enumerate(groups)]
    bare = [replace(leaf, spec=replace(leaf.spec, scheduling_constraints=None)) for leaf in leaves]
    return composites, bare, members


def _tree() -> tuple[list[CompositePodGroup], list[PodGroup], list[Pod]]:
    branches = [_composite(f"branch-{number}", "root", "block") for number in range(_WIDTH)]
    groups, members = gangs(_WIDTH * _WIDTH, _SIZE, cpu="4")
    leaves = [_below(group, f"branch-{number // _WIDTH}") for number, group in enumerate(groups)]
    return [_composite("root", None, None), *branches], leaves, members


def _composite(name: str, parent: str | None, key: str | None, minimum: int = _WIDTH) -> CompositePodGroup:
    policy = CompositePodGroupSchedulingPolicy(gang=CompositeGangSchedulingPolicy(min_group_count=minimum))
    return CompositePodGroup(
        metadata=ObjectMeta(name=name, namespace=NAMESPACE, uid=name),
        spec=CompositePodGroupSpec(
            parent_composite_pod_group_name=parent,
            scheduling_policy=policy,
            scheduling_constraints=_one_domain(key) if key is not None else None,
        ),
    )


def _basic_composite(composite: CompositePodGroup) -> CompositePodGroup:
    policy = CompositePodGroupSchedulingPolicy(basic=BasicGroupSchedulingPolicy())
    spec = replace(composite.spec, scheduling_policy=policy, scheduling_constraints=None)
    return replace(composite, spec=spec)


def _basic_group(group: PodGroup) -> PodGroup:
    policy = PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
    return replace(group, spec=replace(group.spec, scheduling_policy=policy, scheduling_constraints=None))


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
