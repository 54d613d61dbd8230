"""What if a group that is there were different?"""

import pytest

from posse.cli.plan.overrides import Overrides
from posse.cli.plan.run import EXIT_CODES, PlanQuestion, report_of
from posse.cli.problems import Misuse, Problem
from posse.engine.options import EngineOptions
from tests.support.listed_objects import ListedObjects, gang, node, pod


class Cluster(ListedObjects):
    """Two nodes, and a gang of three that needs a node for each pod."""

    def __init__(self):
        super().__init__(
            nodes=[node("n1"), node("n2")],
            groups=[gang("waits", 3)],
            pods=[pod(f"w{number}", group="waits", gpus=8) for number in (1, 2, 3)],
        )


def asked(named="podgroup/waits", **overrides):
    question = PlanQuestion([], "team", overrides=Overrides(**overrides), of=named)
    return report_of(Cluster(), question, EngineOptions(asks=True))


def test_a_group_that_still_waits_says_why():
    (planned,) = asked(min_count=3).affected
    assert (planned.outcome, planned.placed) == ("waits", 0)


def test_a_smaller_minimum_lets_it_start():
    (planned,) = asked(min_count=2).affected
    assert (planned.outcome, planned.placed, planned.nodes) == ("starts", 2, {"n1": 1, "n2": 1})


class Busy(ListedObjects):
    """A gang on both nodes, and one that waits for them."""

    def __init__(self):
        there = [pod(f"r{number}", group="runs", gpus=8, node_name=f"n{number}") for number in (1, 2)]
        for one in there:
            one["status"] = {"phase": "Running"}
        super().__init__(
            nodes=[node("n1"), node("n2")],
            groups=[gang("runs", 2), gang("waits", 1)],
            pods=[*there, pod("w1", group="waits", gpus=8)],
        )


def test_a_group_that_runs_is_said_to_run():
    question = PlanQuestion([], "team", overrides=Overrides(min_count=1), of="podgroup/runs")
    report = report_of(Busy(), question, EngineOptions(asks=True))
    (planned,) = report.affected
    assert (planned.outcome, planned.nodes) == ("runs already", {"n1": 1, "n2": 1})
    assert EXIT_CODES[report.outcome] == 0


def test_what_is_no_group_is_refused():
    with pytest.raises(Misuse, match="is not a group"):
        asked("pod/x")
    with pytest.raises(Problem, match='there is no PodGroup "gone"'):
        asked("podgroup/gone")


def test_the_option_asks_the_cluster(posse, kubeconfig):
    refused = posse("plan", "--of", "podgroup/gone", "--min-count", 2, "--kubeconfig", kubeconfig)
    assert (refused.code, "there is no PodGroup" in refused.err) == (1, True)
    assert posse("plan", "--of", "podgroup/x", "-f", "x.yaml").code == 2
