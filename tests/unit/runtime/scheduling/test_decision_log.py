"""The lines of the decision log, after rounds of a real engine."""

import json
import logging
import time

import pytest

from posse.engine.keys import PodRef
from posse.runtime.process.logs import DECISIONS
from posse.runtime.scheduling.decision_log import DecisionLog
from posse.runtime.scheduling.observers import Round
from tests.support.builders import basic_group, gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver

OURS = "default-scheduler"
AT_1000 = "1970-01-01T00:16:40.000000Z"


class Watched:
    def __init__(self, caplog, *objects, **options):
        self.caplog = caplog
        self.driver = Driver(*objects)
        self.log = DecisionLog(lambda: self.driver.now, **options)

    def decide(self, after=0.0):
        self.driver.now += after
        decisions = self.driver.engine.decide(self.driver.now)
        done = Round(time.perf_counter(), 0.0, decisions, self.driver.engine.tried())
        self.log.decided(done)
        return done

    def bind(self, done, **refusals):
        self.log.bound(done, {f"uid-{name}": reason for name, reason in refusals.items()})

    def lines(self):
        """Return what was logged since the last time."""
        lines = [json.loads(record.getMessage()) for record in self.caplog.records]
        self.caplog.clear()
        return lines


@pytest.fixture
def watched(caplog):
    with caplog.at_level(logging.INFO, DECISIONS):
        yield lambda *objects, **options: Watched(caplog, *objects, **options)


def test_what_is_not_bound_is_not_called_bound(watched):
    world = watched(node(), gang(minimum=2), *pods(2, group="g1"), pod("single"), binds=False)
    done = world.decide()
    world.lines()
    world.bind(done, single="only looking on")
    lines = world.lines()
    assert [line["outcome"] for line in lines] == ["would_bind", "would_bind"]
    assert [line.get("message") for line in lines] == [None, None]


def test_a_binding_is_told_once_it_is_accepted(watched):
    world = watched(node(), pod())
    done = world.decide()
    assert world.lines() == []
    world.driver.now += 0.25
    world.bind(done)
    assert world.lines() == [
        {
            "time": "1970-01-01T00:16:40.250000Z",
            "outcome": "bound",
            "pod": "test/p1",
            "uid": "uid-p1",
            "scheduler": OURS,
            "attempt": 1,
            "queue_seconds": 0.25,
            "node": "n1",
        }
    ]


def test_a_refusal_is_told_with_its_rules_at_every_attempt(watched):
    world = watched(node(cpu="1"), pod(cpu="2"))
    world.decide()
    (line,) = world.lines()
    assert line["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert {key: value for key, value in line.items() if key != "message"} == {
        "time": AT_1000,
        "outcome": "refused",
        "pod": "test/p1",
        "uid": "uid-p1",
        "scheduler": OURS,
        "attempt": 1,
        "queue_seconds": 0.0,
        "refusals": [{"rule": "NodeResourcesFit", "reason": "Insufficient cpu", "nodes": 1}],
    }
    world.decide(after=400)
    (again,) = world.lines()
    assert (again["attempt"], again["queue_seconds"]) == (2, 400)
    assert again["message"] == line["message"]


def test_preemption_is_told_with_the_node_and_the_victims(watched):
    world = watched(node(cpu="1"), pod("low", cpu="1", on="n1", priority=0), pod("high", cpu="1", priority=9))
    world.decide()
    (line,) = world.lines()
    assert (line["pod"], line["outcome"]) == ("test/high", "refused")
    assert (line["nominated_node"], line["victims"]) == ("n1", ["test/low"])


def test_a_group_is_told_as_one(watched):
    world = watched(*nodes(2, cpu="1"), gang(minimum=2), *pods(2, cpu="1", group="g1"))
    world.bind(world.decide())
    (line,) = world.lines()
    assert (line["outcome"], line["group"], line["attempt"]) == ("bound", "test/g1", 1)
    assert line["placements"] == {"p1": "n1", "p2": "n2"}
    assert "pod" not in line


def test_a_group_that_does_not_fit_is_told_with_what_its_members_lack(watched):
    world = watched(node(cpu="1"), gang(minimum=2), *pods(2, cpu="1", group="g1"))
    world.decide()
    (line,) = world.lines()
    assert (line["outcome"], line["group"]) == ("refused", "test/g1")
    assert line["message"].startswith("only 1 of the 2 pods")
    assert line["refusals"] == [{"rule": "NodeResourcesFit", "reason": "Insufficient cpu", "nodes": 1}]


def test_members_that_a_group_starts_without_have_lines_of_their_own(watched):
    world = watched(node(cpu="1"), basic_group(), *pods(2, cpu="1", group="g1"))
    world.bind(world.decide())
    refused, bound = world.lines()
    assert (refused["pod"], refused["outcome"]) == ("test/p2", "refused")
    assert (bound["group"], bound["placements"]) == ("test/g1", {"p1": "n1"})


def test_a_binding_that_the_api_refuses_is_told_as_failed(watched):
    world = watched(node(), pod())
    world.bind(world.decide(), p1="pod p1 is being deleted")
    (line,) = world.lines()
    assert (line["outcome"], line["node"]) == ("failed", "n1")
    assert line["message"] == "binding rejected: pod p1 is being deleted"


def test_a_group_of_which_a_binding_is_refused_has_failed_and_says_who_is_bound(watched):
    world = watched(*nodes(2, cpu="1"), gang(minimum=2), *pods(2, cpu="1", group="g1"))
    world.bind(world.decide(), p2="conflict")
    (line,) = world.lines()
    assert (line["outcome"], line["placements"]) == ("failed", {"p1": "n1"})
    assert line["message"] == "binding p2 rejected: conflict"


def test_volumes_that_cannot_be_bound_are_told_with_the_pod(watched):
    world = watched()
    world.log.volumes_refused(PodRef("test", "p1", "uid-p1", OURS), "n1", "conflict")
    (line,) = world.lines()
    assert (line["outcome"], line["pod"], line["node"]) == ("failed", "test/p1", "n1")
    assert line["message"] == "binding volumes: conflict"


def test_who_cannot_be_tried_is_told_once_with_the_reason(watched):
    world = watched(
        gang(minimum=1),
        pod(group="g1"),
        pod("alien", group="g1", scheduler_name="other"),
        pod("odd", cpu="lots"),
    )
    world.decide()
    world.decide(after=10)
    odd, group, member, alien = world.lines()
    assert [line["outcome"] for line in (odd, group, member, alien)] == ["failed"] * 4
    assert odd["pod"] == "test/odd"
    assert "lots" in odd["message"]
    assert (group["group"], member["pod"]) == ("test/g1", "test/p1")
    assert group["message"] == member["message"]


def test_who_merely_waits_for_others_has_no_story_yet(watched):
    world = watched(gang(minimum=3), *pods(2, group="g1"), pod("orphan", group="nobody"))
    world.decide()
    assert world.lines() == []


def test_a_clock_that_is_set_back_gives_no_negative_time(watched):
    world = watched(node(), pod())
    done = world.decide()
    world.driver.now -= 60
    world.bind(done)
    assert world.lines()[0]["queue_seconds"] == 0


def test_nothing_is_logged_while_nobody_listens(caplog):
    world = Watched(caplog, node(cpu="1"), pod("small", cpu="1"), pod("big", cpu="2"))
    world.bind(world.decide())
    world.log.volumes_refused(PodRef("test", "p1", "uid-p1", OURS), "n1", "conflict")
    assert world.lines() == []
