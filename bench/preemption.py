"""Cost of choosing victims: for a large gang, and for single pods among groups evicted as a whole."""

import statistics
import time
from collections.abc import Sequence

from msgspec.structs import replace

from bench.inputs import RACK, bound, gangs, nodes, pod
from bench.measuring import Figure
from posse.engine.decisions import Decision, Evict
from posse.engine.engine import Engine
from posse.engine.events import Observed, Vanished
from posse.engine.options import EngineOptions
from posse.model.pod import Pod, PodSchedulingGroup
from posse.model.workload import AllDisruptionMode, DisruptionMode, PodGroup

_URGENT = 100
_SINGLE_PODS = 200
_SIZES = ["4", *["20"] * 8, *["28"] * 3]
_NOW = 1000.0


def measure() -> list[Figure]:
    return [_large_gang(), _mixed_gang_in_a_rack(), *_single_pods()]


def _large_gang() -> Figure:
    """5,000 full nodes, 5,000 groups of four; a gang of 1,000 needs a quarter of each of 1,000 nodes."""
    engine, _ = _full_cluster(5_000, 4, "8")
    groups, members = gangs(1, 1_000, cpu="8")
    urgent = [_urgent(member, "urgent", len(members) * 100 + i) for i, member in enumerate(members)]
    group = replace(groups[0], metadata=replace(groups[0].metadata, name="urgent", uid="urgent"))
    engine.absorb(Observed(replace(group, spec=replace(group.spec, priority=_URGENT))))
    for member in urgent:
        engine.absorb(Observed(member))
    started = time.perf_counter()
    evicted = _evicted(engine.decide(_NOW))
    seconds = time.perf_counter() - started
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
    started = time.perf_counter()
    evicted = _evicted(engine.decide(_NOW))
    seconds = time.perf_counter() - started
    what = f"a gang of {len(members)} of three sizes preempts in one rack, 5,000 nodes"
    return Figure(what, seconds * 1e3, "ms", f"{len(evicted)} pods evicted")


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


def _evicted(decisions: Sequence[Decision]) -> list[str]:
    return [decision.pod.uid for decision in decisions if isinstance(decision, Evict)]


def _undo(engine: Engine, preemptor: Pod, victims: Sequence[Pod]) -> None:
    """Let the next pod meet the same cluster."""
    for obj in (preemptor, *victims):
        engine.absorb(Vanished(obj))
    for victim in victims:
        engine.absorb(Observed(victim))
    engine.decide(_NOW)
