"""Small trees of gangs on small clusters with racks and blocks, for the engine and an exhaustive search."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from msgspec.structs import replace

from bench.inputs import NAMESPACE, nodes, pod
from posse.engine.events import ClusterObject
from posse.engine.placement_problem import GroupDemand, PlacementProblem, PodSet
from posse.model.meta import ObjectMeta
from posse.model.node import Node
from posse.model.workload import (
    CompositeGangSchedulingPolicy,
    CompositePodGroup,
    CompositePodGroupSchedulingPolicy,
    CompositePodGroupSpec,
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    SchedulingConstraints,
    TopologyConstraint,
)

KEYS = ("block", "rack")
_MOST_PODS = 7
_RACKS_PER_BLOCK = 2
Amounts = tuple[int, int]
"""CPU cores and GiB of memory."""


@dataclass(frozen=True, slots=True)
class TreeInstance:
    offered: tuple[Amounts, ...]
    racks: tuple[int, ...]
    """Of each node; negative without one."""
    sizes: tuple[Amounts, ...]
    root: GroupDemand

    @property
    def problem(self) -> PlacementProblem:
        free = tuple(zip(*self.offered, strict=True))
        pod_sets = tuple(
            PodSet(size, tuple(_room(size, node) for node in self.offered)) for size in self.sizes
        )
        blocks = tuple(rack // _RACKS_PER_BLOCK if rack >= 0 else -1 for rack in self.racks)
        return PlacementProblem(free, pod_sets, self.root, (blocks, self.racks))

    def objects(self) -> Iterator[ClusterObject]:
        for made, offered, rack in zip(nodes(len(self.offered)), self.offered, self.racks, strict=True):
            yield _node(made, offered, rack)
        names = (f"group-{number}" for number in count())
        ordinals = count()
        yield from self._group(self.root, None, names, ordinals)

    def _group(
        self, demand: GroupDemand, parent: str | None, names: Iterator[str], ordinals: Iterator[int]
    ) -> Iterator[ClusterObject]:
        name = next(names)
        metadata = ObjectMeta(name=name, namespace=NAMESPACE, uid=name)
        if demand.children:
            gang = CompositeGangSchedulingPolicy(min_group_count=demand.minimum)
            policy = CompositePodGroupSchedulingPolicy(gang=gang)
            spec = CompositePodGroupSpec(
                parent_composite_pod_group_name=parent,
                scheduling_policy=policy,
                scheduling_constraints=_constraints(demand),
            )
            yield CompositePodGroup(metadata=metadata, spec=spec)
            for child in demand.children:
                yield from self._group(child, name, names, ordinals)
            return
        leaf = PodGroupSpec(
            parent_composite_pod_group_name=parent,
            scheduling_policy=PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=demand.minimum)),
            scheduling_constraints=_constraints(demand),
        )
        yield PodGroup(metadata=metadata, spec=leaf)
        for sort, number in demand.pods:
            cpu, memory = self.sizes[sort]
            for _ in range(number):
                yield pod(next(ordinals), str(cpu), name, f"{memory}Gi")


def instance(chance: random.Random) -> TreeInstance:
    """Mostly few nodes; with up to twelve, few pods, so that every placement can be gone through."""
    is_wide = chance.random() < 0.1
    node_count = chance.randint(7, 12) if is_wide else chance.randint(2, 6)
    offered = tuple((chance.randint(3, 10), chance.randint(3, 10)) for _ in range(node_count))
    racks = tuple(chance.choice((0, 0, 1, 1, 2, 2, 3, 3, -1)) for _ in range(node_count))
    sizes = tuple((chance.randint(1, 4), chance.randint(1, 4)) for _ in range(chance.randint(1, 3)))
    budget = [4 if is_wide else _MOST_PODS]
    return TreeInstance(offered, racks, sizes, _team(chance, len(sizes), budget, depth=2, key=None))


def _team(
    chance: random.Random, pod_sets: int, budget: list[int], depth: int, key: int | None
) -> GroupDemand:
    """A key below another is as narrow or narrower."""
    narrower = [one for one in (0, 1) if key is None or one >= key]
    own = chance.choice([None, *narrower])
    within = own if own is not None else key
    if depth and (depth == 2 or chance.random() < 0.3):
        children = tuple(
            _team(chance, pod_sets, budget, depth - 1, within)
            for _ in range(chance.randint(2, 3))
            if budget[0]
        )
        minimum = len(children) if chance.random() < 0.7 else chance.randint(1, len(children))
        return GroupDemand(minimum, children=children, key=own)
    pods = _pods(chance, pod_sets, budget)
    total = sum(number for _, number in pods)
    minimum = total if chance.random() < 0.7 else chance.randint(1, total)
    return GroupDemand(minimum, pods, key=own)


def _pods(chance: random.Random, pod_sets: int, budget: list[int]) -> tuple[tuple[int, int], ...]:
    chosen = sorted(chance.sample(range(pod_sets), min(pod_sets, chance.randint(1, 2))))
    pods = []
    for sort in chosen:
        number = min(chance.randint(1, 3), max(budget[0], 1))
        budget[0] = max(0, budget[0] - number)
        pods.append((sort, number))
    return tuple(pods)


def _room(size: Amounts, offered: Amounts) -> int:
    return min(have // want for have, want in zip(offered, size, strict=True))


def _constraints(demand: GroupDemand) -> SchedulingConstraints | None:
    if demand.key is None:
        return None
    return SchedulingConstraints(topology=(TopologyConstraint(key=KEYS[demand.key]),))


def _node(node: Node, offered: Amounts, rack: int) -> Node:
    labels = {} if rack < 0 else {"block": f"b{rack // _RACKS_PER_BLOCK}", "rack": f"r{rack}"}
    room = {"cpu": str(offered[0]), "memory": f"{offered[1]}Gi", "pods": "110"}
    return replace(
        node,
        metadata=replace(node.metadata, labels=labels),
        status=replace(node.status, allocatable=room),
    )
