"""How many nodes an entry fills, and which share of the cluster it takes."""

import pytest

from posse.engine.queue.entry_size import EntrySizes
from tests.support.builders import node, nodes, pods
from tests.support.engine_driver import Driver


def size_of(driver, *records):
    return EntrySizes(driver.engine._knowledge.state).of(records)


def seen(driver, count, **spec):
    driver.see(*pods(count, **spec))
    return tuple(driver.engine._knowledge.pods.values())


def test_each_pod_counts_by_the_resource_of_which_it_takes_most():
    driver = Driver(*nodes(4, cpu="8", memory="16Gi"))
    found = size_of(driver, *seen(driver, 2, cpu="2", memory="8Gi"))
    assert (found.nodes, found.share) == (pytest.approx(1.0), pytest.approx(0.25))


def test_the_largest_node_is_the_measure_and_follows_changes():
    driver = Driver(*nodes(2, cpu="4"))
    records = seen(driver, 1, cpu="4")
    sizes = EntrySizes(driver.engine._knowledge.state)
    assert sizes.of(records).nodes == pytest.approx(1.0)
    driver.see(node("large", cpu="16"))
    assert sizes.of(records).nodes == pytest.approx(0.25)


def test_nothing_has_no_size():
    assert size_of(Driver()) == (0.0, 0.0)
