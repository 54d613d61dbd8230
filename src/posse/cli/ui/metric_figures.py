"""Figures of the health view, read from what the scheduler tells Prometheus."""

from collections.abc import Iterable
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

Json = dict[str, Any]

DECIDE = "posse_decide_duration_seconds"
WAITED = "scheduler_pod_scheduling_sli_duration_seconds"
ATTEMPTS = "scheduler_schedule_attempts_total"
GROUP_ATTEMPTS = "scheduler_podgroup_schedule_attempts_total"
PENDING = "scheduler_pending_pods"
REFUSED = "posse_bind_refused_total"
LONGEST = "posse_longest_decide_seconds"
FIGURES = (DECIDE, WAITED, ATTEMPTS, GROUP_ATTEMPTS, PENDING, REFUSED, LONGEST)


def figures_of(text: str) -> Json:
    """None for figures that are not there, as on a server that is not Posse's."""
    samples: dict[str, list[Any]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            samples.setdefault(sample.name, []).append(sample)
    if f"{DECIDE}_count" not in samples:
        return {"known": False}
    return {
        "known": True,
        "decideMedian": quantile(samples.get(f"{DECIDE}_bucket", ()), 0.5),
        "decide99": quantile(samples.get(f"{DECIDE}_bucket", ()), 0.99),
        "decideLongest": _sum(samples.get(LONGEST, ())),
        "waitedMedian": quantile(samples.get(f"{WAITED}_bucket", ()), 0.5),
        "waited99": quantile(samples.get(f"{WAITED}_bucket", ()), 0.99),
        "attempts": _by(samples.get(ATTEMPTS, ()), "result"),
        "groupAttempts": _by(samples.get(GROUP_ATTEMPTS, ()), "result"),
        "pending": _by(samples.get(PENDING, ()), "queue"),
        "refusedBindings": _sum(samples.get(REFUSED, ())),
    }


def quantile(buckets: Iterable[Any], share: float) -> float | None:
    """The upper bound of the bucket that the share falls in; None if nothing was counted."""
    counts: dict[float, float] = {}
    for sample in buckets:
        bound = float(sample.labels["le"])
        counts[bound] = counts.get(bound, 0.0) + sample.value
    total = max(counts.values(), default=0.0)
    reached = (bound for bound in sorted(counts) if counts[bound] >= share * total)
    found = next(reached, None) if total else None
    return None if found in {None, float("inf")} else found


def _by(samples: Iterable[Any], label: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for sample in samples:
        found[sample.labels[label]] = found.get(sample.labels[label], 0.0) + sample.value
    return found


def _sum(samples: Iterable[Any]) -> float:
    return float(sum(sample.value for sample in samples))
