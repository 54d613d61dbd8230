from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from posse.runtime.scheduling.histogram import Histogram


def samples(registry):
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {
        (sample.name, *map(sample.labels.get, sorted(sample.labels))): sample.value
        for family in families
        for sample in family.samples
    }


def test_values_are_counted_in_every_bucket_they_fit_in():
    registry = CollectorRegistry()
    histogram = Histogram(registry, "seconds", "Time.", (1.0, 2.0))
    histogram.observe(1.0)
    histogram.observe(1.5, times=3)
    histogram.observe(9)
    assert samples(registry) == {
        ("seconds_bucket", "1.0"): 1,
        ("seconds_bucket", "2.0"): 4,
        ("seconds_bucket", "+Inf"): 5,
        ("seconds_count",): 5,
        ("seconds_sum",): 1.0 + 3 * 1.5 + 9,
    }


def test_series_with_labels_appear_with_their_first_value():
    registry = CollectorRegistry()
    histogram = Histogram(registry, "seconds", "Time.", (1.0,), ("result", "profile"))
    assert samples(registry) == {}
    histogram.observe(0.5, "scheduled", "ours", times=2)
    histogram.observe(0.25, "error", "ours")
    found = samples(registry)
    assert found["seconds_sum", "ours", "scheduled"] == 1.0
    assert found["seconds_count", "ours", "error"] == 1


def test_without_labels_there_is_a_series_from_the_start():
    registry = CollectorRegistry()
    Histogram(registry, "seconds", "Time.", (1.0,))
    assert samples(registry)["seconds_count",] == 0
