"""Cost of choosing victims: for a large gang, and for single pods among groups evicted as a whole."""

import gc
import statistics
import time
from collections.abc import Sequence

from msgspec.structs import replace

from bench.inputs import RACK, ZONE, bound, gangs, in_zone, nodes, pod
from bench.measuring import Figure
from bench.trees import tree
from posse.engine.decisions import Bind, Decision, Evict
from posse.engine.engine import Engine
from posse.engine.events import Observed, Vanished
from posse.engine.options import EngineOptions
from posse.model.pod import Pod, PodSchedulingGroup
from posse.model.workload import AllDisruptionMode, CompositePodGroup, DisruptionMode, PodGroup

_URGENT = 100
_SINGLE_PODS = 200
_OTHERS = 2_000
_FULL_ZONE = "zone-0"
_SIZES = ["4", *["20"] * 8, *["28"] * 3]
_NOW = 1000.0


def measure() -> list[Figure]:
    return [
        _large_gang(),
        _mixed_gang_in_a_rack(),
        _tree_of_gangs(),
        *_single_pods(),
        _beside_nominated_pods(),
    ]


def _large_gang() -> Figure:
    """5,000 full nodes, 5,000 groups of four; a gang of 1,000 needs a quarter of each of 1,000 nodes."""
    engine, _ = _full_cluster(5_000, 4, "8")
    groups, members = gangs(1, 1_000, cpu="8")
    urgent = [_urgent(member, "urgent", len(members) * 100 + i) for i, member in enumerate(members)]
    group = replace(groups[0], metadata=replace(groups[0].metadata, name="urgent", uid="urgent"))
    engine.absorb(Observed(replace(group, spec=replace(group.spec, priority=_URGENT))))
    for member in urgent:
        engine.absorb(Observed(member))
    evicted, seconds = _evicted_within(engine)
    detail = f"{len(evicted)} pods evicted"
    return Figure(
        "a gang of 1,000 preempts among 5,000 groups of 4, 5,000 nodes", seconds * 1e3, "ms", detail
    )


def _mixed_gang_in_a_rack() -> Figure:
    """A leader and workers of another size, which heuristics may not place: all racks are full and equal."""
    engine, _ = _full_cluster(5_000, 4, "8")
    groups, members = gangs(1, len(_SIZES), topology=RACK)
    group = replace(groups[0], metadata=replace(groups[0].metadata, name="urgent", uid="urgent"))
    engine.absorb(Observed(replace(group, spec=replace(group.spec, priority=_URGENT))))
    for ordinal, size in enumerate(_SIZES):
        engine.absorb(Observed(_urgent(pod(ordinal, size, "urgent"), "urgent", 2_000_000 + ordinal)))
    evicted, seconds = _evicted_within(engine)
    what = f"a gang of {len(members)} of three sizes preempts in one rack, 5,000 nodes"
    return Figure(what, seconds * 1e3, "ms", f"{len(evicted)} pods evicted")


def _tree_of_gangs() -> Figure:
    """Three levels; every group must start, and every node is full."""
    engine, _ = _full_cluster(5_000, 4, "8")
    composites, groups, members = tree(4, 16, "8")
    parts: list[CompositePodGroup | PodGroup] = [*composites, *groups]
    for obj in parts:
        metadata = replace(obj.metadata, name=f"urgent-{obj.metadata.name}", uid=f"urgent-{obj.metadata.uid}")
        parent = obj.spec.parent_composite_pod_group_name
        above = f"urgent-{parent}" if parent is not None else None
        spec = replace(obj.spec, parent_composite_pod_group_name=above, priority=_URGENT)
        engine.absorb(Observed(replace(obj, metadata=metadata, spec=spec)))
    for ordinal, member in enumerate(members):
        group = (
            f"urgent-{member.spec.scheduling_group.pod_group_name}" if member.spec.scheduling_group else ""
        )
        engine.absorb(Observed(_urgent(member, group, 3_000_000 + ordinal)))
    evicted, seconds = _evicted_within(engine)
    what = "a tree of 4 x 4 gangs of 16 preempts among 5,000 groups of 4, 5,000 nodes"
    return Figure(what, seconds * 1e3, "ms", f"{len(evicted)} pods evicted")


def _beside_nominated_pods() -> Figure:
    """What 1,000 pods whose victims are terminating add to the cost of pods that find room elsewhere."""
    alone = statistics.median(_seconds_for_others(nominated=0) for _ in range(3))
    beside = statistics.median(_seconds_for_others(nominated=1_000) for _ in range(3))
    return Figure(
        "2,000 pods beside 1,000 nominated ones, 5,000 nodes",
        _OTHERS / beside,
        "pods/s",
        f"{_OTHERS / alone:.0f} pods/s without nominated ones",
    )


def _seconds_for_others(nominated: int) -> float:
    """One zone is full; an urgent gang that has to go there waits for its victims."""
    engine = Engine(EngineOptions())
    cluster = nodes(5_000)
    full = [node.metadata.name for node in cluster if node.metadata.labels[ZONE] == _FULL_ZONE]
    running = [bound(pod(ordinal, "32"), name) for ordinal, name in enumerate(full)]
    for event in (*map(Observed, cluster), *map(Observed, running)):
        engine.absorb(event)
    groups, members = gangs(1, max(1, nominated), cpu="32")
    urgent = replace(groups[0], metadata=replace(groups[0].metadata, name="urgent", uid="urgent"))
    engine.absorb(Observed(replace(urgent, spec=replace(urgent.spec, priority=_URGENT))))
    for ordinal, member in enumerate(members[:nominated]):
        engine.absorb(Observed(in_zone(_urgent(member, "urgent", 4_000_000 + ordinal), _FULL_ZONE)))
    evicted = _evicted(engine.decide(_NOW))
    if len(evicted) != nominated:
        raise RuntimeError(f"{len(evicted)} of {nominated} pods were evicted")
    for ordinal in range(_OTHERS):
        engine.absorb(Observed(pod(5_000_000 + ordinal, "4")))
    started = time.perf_counter()
    placed = 0
    while engine.has_work:
        decided = [one for one in engine.decide(_NOW) if isinstance(one, Bind)]
        placed += sum(len(one.placements) for one in decided)
    seconds = time.perf_counter() - started
    if placed != _OTHERS:
        raise RuntimeError(f"{placed} of {_OTHERS} pods were placed")
    return seconds


def _single_pods() -> list[Figure]:
    engine, running = _full_cluster(1_000, 4, "8")
    seconds: list[float] = []
    for ordinal in range(_SINGLE_PODS):
        one = _urgent(pod(ordinal, "8"), "", 1_000_000 + ordinal)
        engine.absorb(Observed(one))
        started = time.perf_counter()
        victims = _evicted(engine.decide(_NOW))
        seconds.append(time.perf_counter() - started)
        _undo(engine, one, [running[uid] for uid in victims])
    cuts = statistics.quantiles(seconds, n=100)
    what = "a pod preempts among 1,000 groups of 4, 1,000 nodes"
    return [
        Figure(f"{what}: half of the time within", cuts[49] * 1e3, "ms", kube_scheduler="12.5 ms"),
        Figure(f"{what}: 99 % within", cuts[98] * 1e3, "ms", kube_scheduler="69 ms"),
    ]


def _full_cluster(count: int, size: int, cpu: str) -> tuple[Engine, dict[str, Pod]]:
    """As many nodes as groups, each node full; members of a group lie on nodes side by side."""
    engine = Engine(EngineOptions())
    groups, members = gangs(count, size, cpu)
    running = [
        bound(member, f"node-{(ordinal // size + ordinal % size) % count:06}")
        for ordinal, member in enumerate(members)
    ]
    events = [*map(Observed, nodes(count)), *map(Observed, map(_whole, groups)), *map(Observed, running)]
    for event in events:
        engine.absorb(event)
    engine.decide(_NOW)
    return engine, {one.metadata.uid: one for one in running}


def _whole(group: PodGroup) -> PodGroup:
    mode = DisruptionMode(all=AllDisruptionMode())
    return replace(group, spec=replace(group.spec, disruption_mode=mode, priority=0))


def _urgent(one: Pod, group: str, ordinal: int) -> Pod:
    name = f"urgent-{ordinal}"
    membership = PodSchedulingGroup(pod_group_name=group) if group else None
    metadata = replace(one.metadata, name=name, uid=name)
    spec = replace(one.spec, priority=_URGENT, scheduling_group=membership)
    return replace(one, metadata=metadata, spec=spec)


def _evicted_within(engine: Engine) -> tuple[list[str], float]:
    """The pods that one decision evicts, and its seconds; without a garbage collection of the setup."""
    gc.collect()
    started = time.perf_counter()
    decisions = engine.decide(_NOW)
    seconds = time.perf_counter() - started
    return _evicted(decisions), seconds


def _evicted(decisions: Sequence[Decision]) -> list[str]:
    return [decision.pod.uid for decision in decisions if isinstance(decision, Evict)]


def _undo(engine: Engine, preemptor: Pod, victims: Sequence[Pod]) -> None:
    """Let the next pod meet the same cluster."""
    for obj in (preemptor, *victims):
        engine.absorb(Vanished(obj))
    for victim in victims:
        engine.absorb(Observed(victim))
    engine.decide(_NOW)
