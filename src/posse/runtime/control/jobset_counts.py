"""Counts JobSets that ended, by the names that the JobSet project gives these metrics."""

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from posse.controllers.jobsets.names import COMPLETED_TOTAL, FAILED_TOTAL

TEXTS = {
    COMPLETED_TOTAL: "JobSets that completed.",
    FAILED_TOTAL: "JobSets that failed.",
}


class JobSetCounts(Collector):
    def __init__(self) -> None:
        self._counts: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in TEXTS}

    def count(self, counter: str, namespace: str, name: str) -> None:
        self._counts[counter][name, namespace] += 1

    def collect(self) -> Iterator[Metric]:
        for counter, counts in self._counts.items():
            family = CounterMetricFamily(counter, TEXTS[counter], labels=("jobset_name", "namespace"))
            for labels, number in counts.items():
                family.add_metric(labels, number)
            yield family
