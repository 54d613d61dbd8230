"""What can be counted about the connection to a real cluster: how the watches do, and who leads."""

from collections.abc import Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from posse.client.watches import WatchHealth
from posse.kinds.machinery.kind import Kind
from posse.runtime.remote.leadership import Leadership


class RemoteGauges(Collector):
    def __init__(self, watches: Mapping[Kind, WatchHealth], leadership: Leadership | None) -> None:
        self._watches = watches
        self._leadership = leadership

    def collect(self) -> Iterator[Metric]:
        is_open = GaugeMetricFamily(
            "posse_watch_open", "Whether a kind is being watched just now.", labels=("resource",)
        )
        interruptions = CounterMetricFamily(
            "posse_watch_interruptions", "How often watches broke.", labels=("resource",)
        )
        for kind, health in self._watches.items():
            is_open.add_metric((kind.group_resource,), int(health.is_open))
            interruptions.add_metric((kind.group_resource,), health.interruptions)
        yield is_open
        yield interruptions
        if self._leadership is not None:
            leading = GaugeMetricFamily(
                "leader_election_master_status", "Whether this scheduler is in charge.", labels=("name",)
            )
            leading.add_metric((self._leadership.lease_name,), int(self._leadership.is_leading))
            yield leading
