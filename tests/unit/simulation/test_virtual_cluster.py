"""Jobs in virtual time: when each starts, on what, and that nothing overlaps."""

import dataclasses
import math
import random

import pytest

from posse.engine.groups.annotations import MINIMUM_RUN_TIME, PREFERRED_TOPOLOGY
from posse.kubelet.nodes import TOPOLOGY_PREFIX, parse_topology
from posse.simulation.clusters import equal_nodes, total_gpus
from posse.simulation.comparison import first_divergence, series_of, split_oversized
from posse.simulation.jobs import TracedJob
from posse.simulation.policies import named_policies
from posse.simulation.record import figures_of
from posse.simulation.virtual_cluster import VirtualCluster
from tests.support.effort import some_of

RACK = f"{TOPOLOGY_PREFIX}rack"
POLICIES = tuple(named_policies())


def job(name, submit, duration, pods=1, gpus=8, priority=0):
    return TracedJob(name, submit, duration, pods, gpus, priority=priority)


def run(jobs, policy, nodes=2, gpus=8):
    return VirtualCluster(equal_nodes(nodes, gpus), jobs, named_policies()[policy]).run()


def starts(record):
    return {one.job.name: one.start for one in record.jobs}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_gang_starts_when_all_its_pods_fit(policy):
    record = run([job("a", 0, 100), job("b", 10, 50, pods=2)], policy)
    assert starts(record)["a"] == 0
    assert starts(record)["b"] == pytest.approx(100, abs=11)


def test_fifo_blocks_behind_the_head_and_greedy_does_not():
    jobs = [job("long", 0, 100), job("gang", 1, 10, pods=2), job("short", 2, 10)]
    assert starts(run(jobs, "fifo")) == {"long": 0, "gang": 100, "short": 110}
    assert starts(run(jobs, "greedy")) == {"long": 0, "short": 2, "gang": 100}


def test_best_fit_keeps_nodes_whole():
    jobs = [job("half", 0, 100, gpus=4), job("quarter", 1, 100, gpus=2), job("whole", 2, 10, gpus=8)]
    record = run(jobs, "greedy")
    assert starts(record) == {"half": 0, "quarter": 1, "whole": 2}
    assert record.jobs[0].nodes == record.jobs[1].nodes != record.jobs[2].nodes


def test_posse_reserves_for_a_gang_that_small_jobs_would_starve():
    small = [job(f"s{index:03}", index * 50, 100, gpus=8) for index in range(200)]
    jobs = sorted([*small, job("gang", 75, 100, pods=2)], key=lambda one: one.submit)
    waits = {policy: starts(run(jobs, policy))["gang"] - 75 for policy in ("greedy", "posse")}
    assert waits["posse"] < 600 < waits["greedy"]


def test_a_preempted_job_starts_anew_and_its_work_is_lost():
    jobs = [job("low", 0, 1000, pods=2), job("high", 100, 50, pods=2, priority=10)]
    record = run(jobs, "posse")
    low, high = record.jobs
    assert 100 <= high.start <= 140
    assert low.start >= high.end
    assert low.lost_gpu_seconds == pytest.approx(100 * 16)
    assert low.end == pytest.approx(low.start + 1000)


def test_runs_that_were_evicted_count_as_use():
    jobs = [
        job("low", 0, 400_000, pods=2),
        job("high", 36_000, 3000, pods=2, priority=10),
        job("late", 36_100, 10),
    ]
    record = run(jobs, "posse")
    low = record.jobs[0]
    assert [(one.start, one.end, len(one.nodes)) for one in low.evicted_runs] == [(0, 36_030, 2)]
    figures = figures_of(record, 16)
    assert figures.utilization == pytest.approx(1.0, abs=0.001)
    assert figures.stranded_gpu_hours == pytest.approx(0.0, abs=0.2)
    assert figures.restarts == 1
    series = series_of(record, 16)
    at_noon = min(range(len(series.times)), key=lambda index: abs(series.times[index] - 20_000))
    assert (series.running_gpus[at_noon], series.waiting_gpus[at_noon]) == (16, 0)
    assert max(series.stranded_gpus) <= 16


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", some_of(range(5), 2))
def test_no_gpu_is_used_twice_and_no_job_is_forgotten(policy, seed):
    random_ = random.Random(seed)
    moments = sorted(random_.randrange(2000) for _ in range(40))
    jobs = [
        job(
            f"j{index:02}",
            moment,
            random_.randrange(10, 600),
            random_.choice([1, 1, 2, 3]),
            random_.choice([1, 2, 4, 8]),
        )
        for index, moment in enumerate(moments)
    ]
    record = run(jobs, policy, nodes=4)
    for one in record.jobs:
        assert one.start >= one.job.submit
        assert one.end == pytest.approx(one.start + one.job.duration)
        assert len(one.nodes) == one.job.pods
    for moment in {one.start for one in record.jobs}:
        used: dict[str, int] = {}
        for one in record.jobs:
            if one.start <= moment < one.end:
                for node in one.nodes:
                    used[node] = used.get(node, 0) + one.job.gpus_per_pod
        assert max(used.values()) <= 8


@pytest.mark.parametrize("policy", POLICIES)
def test_equal_inputs_give_equal_digests(policy):
    jobs = [job(f"j{index}", index * 7, 60 + index, pods=1 + index % 3, gpus=4) for index in range(30)]
    one, other = run(jobs, policy), run(jobs, policy)
    assert one.digest == other.digest
    assert first_divergence(one, other) is None


def test_the_first_job_that_differs_is_found():
    jobs = [job("long", 0, 100), job("gang", 1, 10, pods=2), job("short", 2, 10)]
    found = first_divergence(run(jobs, "fifo"), run(jobs, "greedy"))
    assert found is not None
    assert (found.job.name, found.one.start, found.other.start) == ("short", 110, 2)


def test_jobs_that_never_fit_are_told_apart():
    nodes = equal_nodes(2, 8)
    fitting, oversized = split_oversized(
        [job("a", 0, 1, pods=2), job("b", 0, 1, pods=3), job("c", 0, 1, gpus=9)], nodes
    )
    assert [one.name for one in fitting] == ["a"]
    assert [one.name for one in oversized] == ["b", "c"]


def test_figures_follow_from_waits():
    record = run([job("long", 0, 100), job("gang", 1, 9, pods=2), job("last", 200, 10)], "fifo")
    figures = figures_of(record, total_gpus(equal_nodes(2, 8)))
    assert (figures.jobs, figures.started) == (3, 3)
    assert figures.mean_wait == pytest.approx(99 / 3)
    assert figures.mean_wait_large == 99
    assert figures.longest_wait == 99
    assert figures.mean_slowdown == pytest.approx((1 + 108 / 10 + 1) / 3)
    assert figures.utilization == pytest.approx((100 * 8 + 9 * 16) / (200 * 16))
    assert math.isnan(figures_of(record, 16, begin=1000).mean_wait)


def test_series_count_gpus_that_run_and_wait():
    series = series_of(run([job("a", 0, 100), job("b", 50, 50, pods=2)], "fifo"), 16)
    assert series.running_gpus[0] == 8
    at_80 = min(range(len(series.times)), key=lambda index: abs(series.times[index] - 80))
    assert (series.running_gpus[at_80], series.waiting_gpus[at_80]) == (8, 16)


def test_gangs_that_prefer_a_rack_share_one_where_it_takes_all():
    nodes = equal_nodes(8, 8, parse_topology("rack=4"))
    rack_of = {node.metadata.name: node.metadata.labels[RACK] for node in nodes}
    jobs = [job("pair", 0, 100, pods=2), job("wide", 10, 100, pods=3)]
    plain = named_policies()["posse"]
    preferring = dataclasses.replace(plain, annotations={PREFERRED_TOPOLOGY: RACK})
    racks = {
        policy.annotations.get(PREFERRED_TOPOLOGY, ""): [
            len({rack_of[node] for node in one.nodes})
            for one in VirtualCluster(nodes, jobs, policy).run().jobs
        ]
        for policy in (plain, preferring)
    }
    assert racks == {"": [2, 3], RACK: [1, 2]}


def test_gangs_run_for_their_minimum_time_before_others_preempt_them():
    jobs = [job("low", 0, 1000, pods=2), job("high", 10, 100, pods=2, priority=5)]
    plain = named_policies()["posse"]
    protecting = dataclasses.replace(plain, annotations={MINIMUM_RUN_TIME: "5m"})
    nodes = equal_nodes(2, 8)
    at_once, later = (VirtualCluster(nodes, jobs, policy).run() for policy in (plain, protecting))
    assert starts(at_once)["high"] == pytest.approx(40, abs=5)
    assert starts(later)["high"] == pytest.approx(330, abs=5)
    assert at_once.jobs[0].lost_gpu_seconds == 10 * 16
    assert later.jobs[0].lost_gpu_seconds == 300 * 16
