"""When capacity becomes free: nodes that did not change are not read again, which changes nothing."""

import random

import numpy as np
import pytest

from posse.engine.events import KnownRuns, RunsRemembered
from posse.engine.queue.expected_ends import ExpectedEnds
from posse.model.timestamps import format_timestamp
from tests.support.builders import changed, node, pod
from tests.support.engine_driver import Driver
from tests.unit.engine.queue.test_policies import driver_with, lasting


def running(name, where, seconds, started, group=""):
    one = lasting(pod(name, cpu="1", on=where, group=group), f"{seconds}s")
    return changed(one, status={"start_time": format_timestamp(started)} if started is not None else {})


def freed(ends, shape):
    return [(end, ends._freed(count, shape).tolist()) for count, end in enumerate(ends._ends.tolist(), 1)]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_read_row_by_row_is_what_is_read_at_once(seed):
    draw = random.Random(seed)
    there = [node(f"n{number}", cpu="9") for number in range(4)]
    driver = Driver(*there)
    state, run_times = driver.engine._knowledge.state, driver.engine._knowledge.run_times
    ends, pods, begun = ExpectedEnds(state, run_times), [], driver.now
    for step in range(40):
        if pods and draw.random() < 0.4:
            driver.lose(pods.pop(draw.randrange(len(pods))))
        elif draw.random() < 0.1:
            lost = draw.choice(there)
            driver.lose(lost)
            driver.see(lost)
        else:
            # The clock of a node may be late, and a pod may have no start time yet.
            started = draw.choice([driver.now, driver.now - 50.0, None])
            where, seconds = f"n{draw.randrange(4)}", draw.choice([10_000, 20_000])
            one = running(f"p{step}", where, seconds, started)
            if draw.random() < 0.3:
                # Pods of one group start together.
                one = running(f"p{step}", where, 15_000, begun, group="g1")
            pods.append(one)
            driver.see(one)
        driver.now += draw.choice([0.0, 1.0, 30.0])
        run_times.now = driver.now
        ends.renew(driver.now)
        again = ExpectedEnds(state, run_times)
        again.renew(driver.now)
        shape = state.nodes.requested.shape
        assert freed(ends, shape) == freed(again, shape)
        assert np.array_equal(ends.is_uncertain, again.is_uncertain)


def test_what_runs_again_is_expected_again():
    driver = Driver(node("n0", cpu="9"), node("n1", cpu="9"))
    knowledge = driver.engine._knowledge
    ends = ExpectedEnds(knowledge.state, knowledge.run_times)
    first = running("p1", "n0", 100, driver.now, group="g1")
    driver.see(first)
    ends.renew(driver.now)
    assert ends._ends.tolist() == [driver.now + 100]
    driver.now += 60.0
    driver.lose(first)
    driver.see(running("p2", "n1", 100, driver.now, group="g1"))
    ends.renew(driver.now)
    assert ends._ends.tolist() == [driver.now + 100]


def test_a_pod_that_is_resized_frees_what_it_requests_now():
    driver = driver_with("backfill", node("n0", cpu="9"))
    small = running("p1", "n0", 100, driver.now)
    driver.see(small)
    ends = driver.engine._knowledge.lookahead._ends
    ends.renew(driver.now)
    large = changed(small, spec={"containers": pod("p1", cpu="5").spec.containers})
    driver.see(large)
    ends.renew(driver.now)
    assert 5000 in ends._amounts[2].tolist()


def test_a_learned_end_is_expected_again_as_a_run_grows_old():
    driver = Driver(node("n0", cpu="9"))
    knowledge = driver.engine._knowledge
    requests = dict(driver.engine._knowledge.state.classes.enroll(pod("x", cpu="1"))[0].amounts)
    driver.engine.absorb(RunsRemembered((KnownRuns("", requests, 1, (10.0, 100.0, 1000.0, 5000.0)),)))
    ends = ExpectedEnds(knowledge.state, knowledge.run_times)
    one = changed(pod("p1", cpu="1", on="n0"), status={"start_time": format_timestamp(driver.now)})
    driver.see(one)
    begun = driver.now
    found = []
    for age in (20.0, 30.0, 400.0):
        driver.now = knowledge.run_times.now = begun + age
        ends.renew(driver.now)
        found.append(ends._ends.tolist()[0] - begun)
    assert found == [1000.0, 1000.0, 5000.0]


def test_a_group_keeps_its_end_while_any_of_its_pods_runs():
    driver = Driver(node("n0", cpu="9"), node("n1", cpu="9"))
    knowledge = driver.engine._knowledge
    ends = ExpectedEnds(knowledge.state, knowledge.run_times)
    first, second = (running(f"p{n}", f"n{n}", 100, driver.now, group="g1") for n in (0, 1))
    driver.see(first, second)
    ends.renew(driver.now)
    driver.lose(first)
    ends.renew(driver.now + 5)
    assert list(ends._known) == [second_key(knowledge)]
    driver.lose(second)
    ends.renew(driver.now + 6)
    assert (ends._known, dict(ends._running)) == ({}, {})


def second_key(knowledge):
    return knowledge.pods["uid-p1"].group
