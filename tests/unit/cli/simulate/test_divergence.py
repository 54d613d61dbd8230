"""The first decision in which policies differ names the nodes that differ."""

import pytest

from posse.cli.simulate.divergence import divergence_text
from posse.simulation.comparison import PolicyRun
from posse.simulation.jobs import TracedJob
from posse.simulation.record import JobRecord, RunRecord, figures_of


def ran(policy, *runs):
    """A simulation of one job. All runs but the last are evicted."""
    record = RunRecord([JobRecord(TracedJob("train", 0, 100, 2, 8))])
    for number, (moment, nodes) in enumerate(runs):
        if number:
            record.evicted(0, moment, moment)
        record.started(0, moment, tuple(nodes.split()))
    return PolicyRun(policy, record, figures_of(record, 64))


@pytest.mark.parametrize(
    ("before", "after", "end"),
    [
        ("n1 n2", "n1 n3", "on 2 nodes, with n3 instead of n2."),
        ("n1 n2 n3", "n1 n4 n5", "on 3 nodes, with n4 and n5 instead of n2 and n3."),
        ("n1 n2", "n1 n2 n3", "on 3 nodes, with n3 as well."),
        ("n1 n2", "n1 n1", "on n1, without n2."),
        ("n1 n2", "n2 n1", "on 2 nodes, the same, with its pods in another order."),
        ("n1", "n2", "other starts it after 0s on n2."),
        (
            "a1 a2 a3 a4 a5",
            "b1 b2 b3 b4 b5",
            "on 5 nodes, with b1, b2, b3 and 2 more instead of a1, a2, a3 and 2 more.",
        ),
    ],
)
def test_nodes_that_differ_are_named(before, after, end):
    assert divergence_text(ran("one", (0, before)), ran("other", (0, after))).endswith(end)


def test_later_starts_are_compared_too():
    told = divergence_text(ran("one", (0, "n1"), (60, "n1")), ran("other", (0, "n1")))
    assert told.endswith("one starts it again after 1.0m on n1, other does not start it again.")
    told = divergence_text(ran("one", (0, "n1")), ran("other"))
    assert told.endswith("one starts it after 0s on n1, other never starts it.")
