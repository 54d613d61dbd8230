"""The engine alone: no API server, no JSON, no sockets. Events are absorbed, decided upon, and confirmed.

Every figure includes absorbing pods and groups, deciding, and absorbing the bindings. Nodes are
absorbed before, as in a running cluster; their cost is a separate figure.
"""

from collections.abc import Sequence
from functools import partial

from bench.inputs import alone_on_its_host, bound, gangs, in_zone, nodes, pod, spread_over_zones
from bench.measuring import Figure, Stopwatch, median_run
from posse.engine.decisions import Bind
from posse.engine.engine import Engine
from posse.engine.events import Observed, Vanished
from posse.engine.options import EngineOptions
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.workload import PodGroup

_NODES = 5000
_CURVE = (1_000, 5_000, 20_000, 100_000)
_NOW = 1000.0


def measure() -> list[Figure]:
    cluster = nodes(_NODES)
    return [
        _single_pods(cluster),
        _many_classes(cluster),
        _zonal_classes(cluster),
        _spread_over_zones(),
        _one_per_host(cluster),
        _small_gangs(cluster),
        _large_gangs(cluster),
        _huge_gang(),
        *_no_fit(cluster),
        _irrelevant_events(cluster),
        *_curve(),
        *_absorbing(cluster),
    ]


def _single_pods(cluster: Sequence[Node]) -> Figure:
    pods = [pod(ordinal) for ordinal in range(10_000)]
    return pods_per_second(
        "10,000 single pods of one class, 5,000 nodes",
        median_run(lambda: schedule(cluster, (), pods)),
        len(pods),
        "182 pods/s",
    )


def _many_classes(cluster: Sequence[Node]) -> Figure:
    pods = [pod(ordinal, cpu=f"{100 + ordinal % 200}m") for ordinal in range(10_000)]
    return pods_per_second(
        "10,000 single pods of 200 classes, mixed, 5,000 nodes",
        median_run(lambda: schedule(cluster, (), pods)),
        len(pods),
    )


def _zonal_classes(cluster: Sequence[Node]) -> Figure:
    pods = [in_zone(pod(n, cpu=f"{100 + n % 200}m"), f"zone-{n % 200 % 3}") for n in range(10_000)]
    return pods_per_second(
        "10,000 pods of 200 classes with affinity to zones, 5,000 nodes",
        median_run(lambda: schedule(cluster, (), pods)),
        len(pods),
    )


def _spread_over_zones() -> Figure:
    cluster = nodes(_NODES, zones=50)
    pods = [spread_over_zones(pod(ordinal)) for ordinal in range(5_000)]
    return pods_per_second(
        "5,000 pods spread over 50 zones by law, 5,000 nodes",
        median_run(lambda: schedule(cluster, (), pods)),
        len(pods),
    )


def _one_per_host(cluster: Sequence[Node]) -> Figure:
    pods = [alone_on_its_host(pod(ordinal)) for ordinal in range(4_000)]
    return pods_per_second(
        "4,000 pods with required anti-affinity per host, 5,000 nodes",
        median_run(lambda: schedule(cluster, (), pods)),
        len(pods),
    )


def _small_gangs(cluster: Sequence[Node]) -> Figure:
    groups, members = gangs(1000, 3)
    return pods_per_second(
        "1,000 gangs of 3, 5,000 nodes",
        median_run(lambda: schedule(cluster, groups, members)),
        len(members),
        "122 pods/s, 25 ms per gang",
    )


def _large_gangs(cluster: Sequence[Node]) -> Figure:
    groups, members = gangs(9, 1000)
    watch = median_run(lambda: schedule(cluster, groups, members))
    return Figure(
        "9 gangs of 1,000, 5,000 nodes",
        watch.total / len(groups) * 1e3,
        "ms/gang",
        f"us per pod: {watch.shares(len(members))}",
        "8,800 ms per gang, 205 pods/s",
    )


def _huge_gang() -> Figure:
    groups, members = gangs(1, 10_000)
    cluster = nodes(100_000)
    watch = median_run(lambda: schedule(cluster, groups, members))
    detail = f"us per pod: {watch.shares(len(members))}"
    return Figure("a gang of 10,000 on 100,000 nodes", watch.total * 1e3, "ms", detail)


def _irrelevant_events(cluster: Sequence[Node]) -> Figure:
    """What unschedulable gangs add to the cost of pods that come and go without freeing enough for them."""
    groups, members = gangs(100, 30, cpu="64")
    passers_by = [bound(pod(len(members) + ordinal), f"node-{ordinal:06}") for ordinal in range(1_000)]
    alone = median_run(lambda: _come_and_go(cluster, [], passers_by))
    beside = median_run(lambda: _come_and_go(cluster, [*groups, *members], passers_by))
    per_event = 1e6 / (2 * len(passers_by))
    return Figure(
        "100 waiting gangs under 1,000 irrelevant pods",
        (beside.total - alone.total) * per_event,
        "us/event",
        f"{beside.total * per_event:.0f} us per event with them, {alone.total * per_event:.0f} without",
    )


def _come_and_go(
    cluster: Sequence[Node], waiting: Sequence[PodGroup | Pod], passers_by: Sequence[Pod]
) -> Stopwatch:
    engine, watch = Engine(EngineOptions()), Stopwatch()
    for obj in (*cluster, *waiting):
        engine.absorb(Observed(obj))
    engine.decide(_NOW)
    while engine.has_work:
        engine.decide(_NOW)
    with watch.part("events"):
        for happens in (Observed, Vanished):
            for one in passers_by:
                engine.absorb(happens(one))
                engine.decide(_NOW)
    return watch


def _no_fit(cluster: Sequence[Node]) -> list[Figure]:
    """How long it takes to say that nothing fits, and why, for a class never seen before."""
    alone = median_run(lambda: schedule(cluster, (), [pod(0, cpu="64")], placed=0))
    groups, members = gangs(1, 1000, cpu="31")
    crowd = nodes(999)
    together = median_run(lambda: schedule(crowd, groups, members, placed=0))
    return [
        Figure("no-fit verdict for one pod, 5,000 nodes", alone.total * 1e3, "ms"),
        Figure("no-fit verdict for a gang of 1,000 on 999 nodes", together.total * 1e3, "ms"),
    ]


def _curve() -> list[Figure]:
    """Cost per gang as the cluster grows; it must not grow faster than the nodes."""
    groups, members = gangs(300, 3)
    figures: list[Figure] = []
    for count in _CURVE:
        watch = median_run(partial(schedule, nodes(count), groups, members))
        cost = watch.total / len(groups) * 1e3
        growth = f"{cost / figures[0].value:.2f} times the cost on {_CURVE[0]:,}" if figures else ""
        figures.append(Figure(f"gangs of 3 on {count:,} nodes", cost, "ms/gang", growth))
    return figures


def _absorbing(cluster: Sequence[Node]) -> list[Figure]:
    running = [bound(pod(ordinal), f"node-{ordinal % _NODES:06}") for ordinal in range(20_000)]
    watch = median_run(lambda: _absorb(cluster, running))
    return [
        Figure("hearing of nodes", len(cluster) / watch.seconds["nodes"], "nodes/s"),
        Figure("hearing of running pods", len(running) / watch.seconds["pods"], "pods/s"),
        Figure("hearing of them again, unchanged", len(running) / watch.seconds["again"], "pods/s"),
    ]


def _absorb(cluster: Sequence[Node], running: Sequence[Pod]) -> Stopwatch:
    engine, watch = Engine(EngineOptions()), Stopwatch()
    for part, objects in (("nodes", cluster), ("pods", running), ("again", running)):
        with watch.part(part):
            for obj in objects:
                engine.absorb(Observed(obj))
    return watch


def schedule(
    cluster: Sequence[Node], groups: Sequence[PodGroup], pods: Sequence[Pod], placed: int | None = None
) -> Stopwatch:
    """Schedule everything on an empty cluster; `placed` is how many pods must find a node, by default all."""
    engine, watch = Engine(EngineOptions()), Stopwatch()
    for node in cluster:
        engine.absorb(Observed(node))
    events = [*map(Observed, groups), *map(Observed, pods)]
    with watch.part("absorb"):
        for event in events:
            engine.absorb(event)
    nodes_by_uid = _decide_all(engine, watch)
    confirmations = [
        Observed(bound(one, nodes_by_uid[one.metadata.uid]))
        for one in pods
        if one.metadata.uid in nodes_by_uid
    ]
    with watch.part("confirm"):
        for confirmation in confirmations:
            engine.absorb(confirmation)
        engine.decide(_NOW)
    if len(nodes_by_uid) != (len(pods) if placed is None else placed):
        raise AssertionError(
            f"{len(nodes_by_uid)} of {len(pods)} pods were placed: the figure would mean nothing"
        )
    return watch


def _decide_all(engine: Engine, watch: Stopwatch) -> dict[str, str]:
    decisions = []
    with watch.part("decide"):
        decisions += engine.decide(_NOW)
        while engine.has_work:
            decisions += engine.decide(_NOW)
    binds = [decision for decision in decisions if isinstance(decision, Bind)]
    return {placed.pod.uid: placed.node for bind in binds for placed in bind.placements}


def pods_per_second(name: str, watch: Stopwatch, count: int, kube_scheduler: str = "") -> Figure:
    return Figure(name, count / watch.total, "pods/s", f"us per pod: {watch.shares(count)}", kube_scheduler)
