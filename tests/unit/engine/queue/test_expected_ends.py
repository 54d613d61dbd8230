"""When capacity becomes free: nodes that did not change are not read again, which changes nothing."""

import random

import numpy as np
import pytest

from posse.engine.queue.expected_ends import ExpectedEnds
from posse.model.timestamps import format_timestamp
from tests.support.builders import changed, node, pod
from tests.support.engine_driver import Driver
from tests.unit.engine.queue.test_policies import lasting


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
