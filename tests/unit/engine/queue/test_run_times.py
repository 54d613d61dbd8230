"""Expected run times: limits, annotations that may make no sense, and what earlier runs took."""

import math

import pytest

from posse.engine.events import KnownRuns, RunsRemembered
from posse.engine.groups.annotations import EXPECTED_DURATION
from posse.engine.keys import GroupKey
from posse.engine.queue.run_history import LEAST_RUNS, MAX_KINDS, MAX_RUNS, RunHistory, RunKind
from posse.engine.queue.run_times import RunTimeSource
from tests.support.builders import NAMESPACE, changed, gang, nodes, pod, pods
from tests.support.engine_driver import Driver


def annotated(obj, text):
    return changed(obj, metadata={"annotations": {EXPECTED_DURATION: text}})


def limited(one, seconds):
    return changed(one, spec={"active_deadline_seconds": seconds})


def expected(driver, name="g1"):
    return driver.engine.explain(GroupKey(NAMESPACE, name)).run_time


def test_a_run_time_is_unknown_until_something_says_how_long():
    driver = Driver(*nodes(1), gang(minimum=2), *pods(2, group="g1"))
    assert expected(driver).source is RunTimeSource.UNKNOWN
    assert expected(driver).usual == math.inf


def test_the_deadline_of_all_pods_is_a_limit():
    members = [limited(one, 600 * n) for n, one in enumerate(pods(2, group="g1"), start=1)]
    driver = Driver(*nodes(1), gang(minimum=2), *members)
    assert (expected(driver).limit, expected(driver).source) == (1200.0, RunTimeSource.LIMIT)


def test_a_group_of_which_a_pod_has_no_deadline_has_no_limit():
    first, second = pods(2, group="g1")
    driver = Driver(*nodes(1), gang(minimum=2), limited(first, 600), second)
    assert expected(driver).limit == math.inf


def test_the_annotation_of_group_or_pods_states_how_long():
    driver = Driver(*nodes(1), annotated(gang(minimum=2), "1h30m"), *pods(2, group="g1"))
    assert (expected(driver).usual, expected(driver).source) == (5400.0, RunTimeSource.STATED)
    driver = Driver(*nodes(1), gang(minimum=1), annotated(pod("p", group="g1"), "90s"))
    assert expected(driver).usual == 90.0


@pytest.mark.parametrize(
    "text",
    ["", "soon", "-5m", "1h-30m", "5", "300 years", "9999999h", "0s", "1e9s", "\u0661h", "9" * 5000 + "h"],
)
def test_an_annotation_that_makes_no_sense_is_named_and_not_used(text):
    driver = Driver(*nodes(1), annotated(gang(minimum=1), text), pod("p", group="g1"))
    driver.decide()
    assert expected(driver).source is RunTimeSource.UNKNOWN
    [fault] = driver.engine.explain(GroupKey(NAMESPACE, "g1")).annotation_faults
    assert fault.annotation == EXPECTED_DURATION


def run_for(driver, name, seconds, limit=None):
    one = limited(pod(name), limit)
    driver.see(one)
    bound = driver.bind()
    driver.confirm(one, on=bound[name])
    driver.now += seconds
    driver.lose(changed(one, spec={"node_name": bound[name]}))
    driver.decide()


def of_pod(driver, name, age=0.0, limit=None):
    one = limited(pod(name), limit)
    driver.see(one)
    knowledge = driver.engine._knowledge
    return knowledge.run_times.of_pod(knowledge.pods[one.metadata.uid], age)


def test_earlier_runs_of_equal_pods_are_learned():
    driver = Driver(*nodes(1))
    for number, seconds in enumerate((60.0, 120.0, 6000.0)):
        run_for(driver, f"r{number}", seconds)
    found = of_pod(driver, "next")
    assert (found.usual, found.safe, found.source) == (120.0, 6000.0, RunTimeSource.LEARNED)
    assert "3 runs" in found.basis
    assert of_pod(driver, "old", age=500.0).usual == 6000.0


def test_runs_of_one_limit_say_how_much_of_it_is_used():
    driver = Driver(*nodes(1))
    for number, seconds in enumerate((60.0, 120.0, 600.0)):
        run_for(driver, f"r{number}", seconds, limit=3600)
        run_for(driver, f"s{number}", 10 * seconds, limit=7200)
    found = of_pod(driver, "next", limit=3600)
    assert (found.usual, found.safe, found.limit) == (120.0, 3600.0, 3600.0)
    assert (found.source, found.basis) == (
        RunTimeSource.LIMIT,
        f"3 runs of equal pods in namespace {NAMESPACE}",
    )
    assert of_pod(driver, "longer", limit=7200).usual == 1200.0
    assert of_pod(driver, "another", limit=60).usual == 60.0
    assert of_pod(driver, "unlimited").source is RunTimeSource.UNKNOWN


def test_a_run_with_a_limit_is_never_expected_beyond_it():
    driver = Driver(*nodes(1))
    for number in range(LEAST_RUNS):
        run_for(driver, f"r{number}", 100.0, limit=3600)
    assert of_pod(driver, "old", age=2000.0, limit=3600).usual == 3600.0


def test_pods_that_were_deleted_or_ended_before_the_clock_went_back_teach_nothing():
    driver = Driver(*nodes(1))
    for number in range(LEAST_RUNS):
        run_for(driver, f"r{number}", -50.0)
    assert of_pod(driver, "next").source is RunTimeSource.UNKNOWN


def test_a_group_is_one_run():
    driver = Driver(*nodes(1))
    for number in range(LEAST_RUNS):
        members = pods(2, first=10 * number, group=f"g{number}")
        driver.see(gang(f"g{number}", 2), *members)
        bound = driver.bind()
        driver.now += 100.0
        driver.lose(*(changed(one, spec={"node_name": bound[one.metadata.name]}) for one in members))
        driver.decide()
    driver.see(gang("next", 2), *pods(2, first=90, group="next"))
    assert expected(driver, "next").usual == 100.0
    assert expected(driver, "next").basis.startswith(f"{LEAST_RUNS} runs")


class Template:
    def __init__(self, amount):
        self.amounts = (("cpu", amount),)


def test_memory_is_bounded():
    history = RunHistory()
    for number in range(MAX_KINDS + 100):
        history.learn(RunKind(f"ns{number}", Template(number), 1), float(number))
    assert len(history._runs) == MAX_KINDS
    for number in range(MAX_RUNS + 10):
        history.learn(RunKind("one", Template(1), 1), 1000.0 + number)
    assert history.precedents(RunKind("one", Template(1), 1)).learned(0.0).runs == MAX_RUNS
    assert history.precedents(RunKind("one", Template(1), 1)).learned(0.0).usual > 1000.0


@pytest.mark.parametrize("limit", [None, 3600])
def test_an_engine_remembers_the_runs_that_another_has_learned(limit):
    first = Driver(*nodes(1))
    for number in range(LEAST_RUNS):
        one = limited(pod(f"run{number}", "1"), limit)
        first.see(one)
        first.bind_and_confirm(one)
        first.now += 100.0 * (number + 1)
        first.lose(changed(one, spec={"node_name": "n1"}))
        first.decide()
    second = Driver(*nodes(1, example="2"))
    second.engine.absorb(RunsRemembered(first.engine.known_runs()))
    second.see(gang(minimum=1), limited(pod("p", "1", group="g1"), limit))
    assert expected(second).usual == 200.0
    assert second.engine.known_runs() == first.engine.known_runs()


@pytest.mark.parametrize("seconds", [-1.0, math.nan, math.inf, 1e12])
def test_remembered_runs_that_make_no_sense_are_left_out(seconds):
    driver = Driver(*nodes(1))
    driver.engine.absorb(RunsRemembered((KnownRuns("", None, 0, (60.0, seconds, 60.0)),)))
    assert driver.engine.known_runs() == ()


def test_a_run_beyond_all_that_is_known_is_expected_to_go_on_for_as_long_again():
    driver = Driver(*nodes(1))
    driver.see(pod("p"))
    driver.decide()
    history = RunHistory()
    kind = RunKind(NAMESPACE, driver.engine._knowledge.pods[pod("p").metadata.uid].pod_class, 1)
    assert history.precedents(kind, 100.0) is None
    for seconds in range(1, 11):
        history.learn(kind, float(seconds))
    assert history.precedents(kind, 100.0).learned(100.0).usual == 200.0
    known = history.precedents(kind).learned(0.0)
    assert (known.usual, known.safe) == (6.0, 10.0)
