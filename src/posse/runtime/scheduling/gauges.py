"""Gauges that are counted at every scrape: queues, refusing rules, and the size of the cluster."""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from posse.engine.explain.statistics import Queue, Statistics
from posse.engine.forecast.forecast_book import ForecastBook
from posse.model.feature_gates import Gate, Gates

# On by default: Kubernetes calls that beta.
GATE_STAGE = "BETA"


class Gauges(Collector):
    def __init__(self, statistics: Callable[[], Statistics], gates: Gates) -> None:
        self._statistics = statistics
        self._gates = gates

    def collect(self) -> Iterator[Metric]:
        now = self._statistics()
        yield _gauge(
            "scheduler_pending_pods",
            "Pods that wait, by the queue they or their group are in.",
            ("queue",),
            [((queue.value,), now.pods_by_queue.get(queue, 0)) for queue in Queue],
        )
        yield _gauge(
            "scheduler_queued_entities",
            "Pods that stand for themselves and pod groups that wait, by queue.",
            ("queue", "type"),
            [
                ((queue.value, entity), counts.get(queue, 0))
                for entity, counts in (("pod", now.single_pods_by_queue), ("podgroup", now.groups_by_queue))
                for queue in Queue
            ],
        )
        yield _gauge(
            "scheduler_unschedulable_pods",
            "Waiting pods by the rules that refused them nodes; a pod counts once for every such rule.",
            ("plugin", "profile"),
            now.refused_pods.items(),
        )
        yield _gauge(
            "scheduler_cache_size",
            "What the scheduler knows of the cluster.",
            ("type",),
            [(("nodes",), now.nodes), (("pods",), now.pods), (("assumed_pods",), now.assumed_pods)],
        )
        yield _gauge(
            "posse_preemptions_under_way",
            "Pods and pod groups that others were evicted for and that have not started yet.",
            (),
            [((), now.preemptions)],
        )
        yield _gauge(
            "posse_overcommitted_nodes",
            "Nodes of which more is requested than they have.",
            (),
            [((), now.overcommitted_nodes)],
        )
        yield _gauge(
            "kubernetes_feature_enabled",
            "Which feature gates are on.",
            ("name", "stage"),
            [((gate.value, GATE_STAGE), int(gate in self._gates)) for gate in Gate],
        )


class ForecastGauges(Collector):
    """How forecasts came true, and of how many waiting entries a start is foreseen."""

    def __init__(self, book: ForecastBook) -> None:
        self._book = book

    def collect(self) -> Iterator[Metric]:
        tally, latest = self._book.tally, self._book.latest.values()
        starts = CounterMetricFamily(
            "posse_forecast_starts",
            "Starts of pods and pod groups, by where they were against the 80 % band of the first forecast.",
            labels=("outcome",),
        )
        outcomes = {"inside": tally.inside, "early": tally.early, "late": tally.late}
        for outcome, number in {**outcomes, "unknown": tally.unforeseen}.items():
            starts.add_metric((outcome,), number)
        yield starts
        foreseen = sum(1 for one in latest if one.earliest is not None)
        yield _gauge(
            "posse_forecast_waiting",
            "Pods and pod groups that wait for capacity, by whether their start is foreseen.",
            ("foreseen",),
            [(("true",), foreseen), (("false",), len(latest) - foreseen)],
        )


def _gauge(
    name: str, text: str, labels: tuple[str, ...], values: Iterable[tuple[tuple[str, ...], int]]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=labels)
    for label_values, value in values:
        family.add_metric(label_values, value)
    return family
