"""Nodes that fail in virtual time: jobs on them start again, and nothing starts there meanwhile."""

from itertools import pairwise

import pytest

from posse.simulation.clusters import equal_nodes
from posse.simulation.failures import FailureRate, NodeAbsence, draw_failures
from posse.simulation.jobs import TracedJob
from posse.simulation.policies import named_policies
from posse.simulation.record import figures_of
from posse.simulation.virtual_cluster import VirtualCluster


def run(jobs, failures, policy="greedy", nodes=2):
    return VirtualCluster(equal_nodes(nodes, 8), jobs, named_policies()[policy], failures).run()


@pytest.mark.parametrize("policy", named_policies())
def test_a_job_on_a_failed_node_starts_again_on_another(policy):
    record = run([TracedJob("a", 0, 100, 1, 8)], [NodeAbsence("node-0001", 40, 1000)], policy)
    (one,) = record.jobs
    if one.nodes == ("node-0002",) and one.lost_gpu_seconds == 0:
        assert one.end == 100  # It was on the other node.
    else:
        assert (one.nodes, one.start, one.end) == (("node-0002",), 40, 140)
        assert one.lost_gpu_seconds == 40 * 8


def test_a_gang_loses_all_its_pods_and_waits_for_the_repair():
    jobs = [TracedJob("gang", 0, 100, 2, 8)]
    record = run(jobs, [NodeAbsence("node-0002", 30, 500)])
    (one,) = record.jobs
    assert one.start == 500
    assert one.end == 600
    assert one.lost_gpu_seconds == 30 * 16


def test_gpus_of_a_failed_node_are_neither_in_use_nor_stranded():
    jobs = [TracedJob("gang", 0, 100, 2, 8), TracedJob("late", 400, 10, 1, 8)]
    record = run(jobs, [NodeAbsence("node-0002", 200, 1000)])
    figures = figures_of(record, 16)
    assert figures.utilization == pytest.approx(100 / 400)
    record = run(jobs, [NodeAbsence("node-0002", 50, 1000)])
    figures = figures_of(record, 16)
    assert figures.utilization == pytest.approx(50 / 400)
    assert (figures.restarts, figures.stranded_gpu_hours) == (1, 0.0)


def test_no_job_starts_on_a_failed_node():
    jobs = [TracedJob(f"j{index}", index, 50, 1, 8) for index in range(4)]
    record = run(jobs, [NodeAbsence("node-0001", 0.5, 1e6)])
    assert {one.nodes for one in record.jobs[1:]} == {("node-0002",)}


def test_failures_after_the_last_job_do_not_prolong_the_run():
    cluster = VirtualCluster(
        equal_nodes(1, 8), [TracedJob("a", 0, 10, 1, 8)], named_policies()["fifo"],
        [NodeAbsence("node-0001", 1e6, 2e6)],
    )  # fmt: skip
    cluster.run()
    assert cluster.now == 10


def test_equal_seeds_draw_equal_failures_in_order():
    rate = FailureRate(between=1000.0, repair=100.0)
    names = [f"n{index}" for index in range(20)]
    drawn = draw_failures(names, rate, 50_000.0, seed=3)
    assert drawn == draw_failures(names, rate, 50_000.0, seed=3) != draw_failures(names, rate, 50_000.0, 4)
    assert [one.begin for one in drawn] == sorted(one.begin for one in drawn)
    for name in names:
        mine = [one for one in drawn if one.node == name]
        assert all(one.end <= later.begin for one, later in pairwise(mine))
    assert len(drawn) == pytest.approx(20 * 50_000 / 1100, rel=0.2)
