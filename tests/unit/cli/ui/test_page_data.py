"""The data of the page says what the other verbs say."""

from copy import deepcopy

import pytest

from posse.cli.explain.history import left_for
from posse.cli.problems import Problem
from posse.cli.ui.gang_answer import sections
from posse.cli.ui.metric_figures import figures_of
from posse.cli.ui.page_state import PageState
from posse.cli.ui.plan_answer import plan_question
from posse.engine.options import EngineOptions
from posse.page.increments import increment
from tests.support.listed_objects import ListedObjects, gang, node, pod

HOSTILE = "<img src=x onerror=alert(1)>"


class Cluster(ListedObjects):
    """Three nodes of 8 GPUs in two racks: a gang on two, one that lacks a node, a pod without a group."""

    def __init__(self, *more_nodes):
        super().__init__(
            nodes=[node("n1", "r1"), node("n2", "r1"), node("n3", "r2"), *more_nodes],
            groups=[gang("runs", 2, priority=5), gang("waits", 3)],
            pods=[
                *(pod(f"r{number}", group="runs", node_name=f"n{number}", gpus=8) for number in (1, 2)),
                *(pod(f"w{number}", group="waits", gpus=8) for number in (1, 2, 3)),
                pod("alone", node_name="n3", gpus=2),
            ],
        )


@pytest.fixture
def state():
    return PageState(Cluster(), EngineOptions(asks=True))


RUNS = "team/PodGroup/scheduling.k8s.io/runs"
WAITS = "team/PodGroup/scheduling.k8s.io/waits"
LATER = "team/PodGroup/scheduling.k8s.io/later"


def test_nodes_say_who_holds_what(state):
    nodes = state.document()["nodes"]
    assert nodes["n1"] == {"rack": "r1", "block": "", "total": 8, "holders": {RUNS: 8}, "closed": ""}
    assert nodes["n3"]["holders"] == {"team/Pod//alone": 2}


def test_groups_are_the_lines_of_posse_gangs(state):
    gangs = state.document()["gangs"]
    assert (gangs[RUNS]["state"], gangs[RUNS]["isWaiting"], gangs[RUNS]["racks"]) == (
        "Scheduled",
        False,
        ("r1",),
    )
    assert gangs[WAITS]["position"] == 1
    assert "none of the 3 pods" in gangs[WAITS]["why"]


def test_totals_are_those_of_posse_top(state):
    cluster = state.document()["cluster"]
    assert (cluster["total"], cluster["held"], cluster["free"], cluster["requested"]) == (24, 18, 6, 24)
    assert cluster["rackLabel"] == "topology.posse.dev/rack"


def test_a_closed_node_says_why():
    cordoned, full = node("n4"), node("n5")
    cordoned["spec"] = {"unschedulable": True}
    full["status"]["allocatable"]["pods"] = "0"
    nodes = PageState(Cluster(cordoned, full), EngineOptions()).document()["nodes"]
    assert (nodes["n4"]["closed"], nodes["n5"]["closed"]) == ("cordoned", "no pods left")


def test_a_change_of_one_pod_is_a_small_increment(state):
    after = deepcopy(state.document())
    after["nodes"]["n3"]["holders"] = {}
    assert increment(state.document(), after) == {"nodes": {"n3": after["nodes"]["n3"]}}


def test_a_waiting_gang_is_explained_with_proof_and_remedies(state):
    found = state.gang(state.key_of(WAITS), [])
    headline, *others = found["story"]
    assert headline["heading"].startswith("PodGroup team/waits waits: none of the 3 pods")
    assert any("Proven: it cannot fit" in line for one in others for line in one["lines"])
    questions = {one["text"]: one["question"] for one in found["remedies"]}
    assert questions["3 more nodes like n1"]["addNodes"] == "3=n1"
    assert [pod["name"] for pod in found["members"]] == ["w1", "w2", "w3"]


def test_previews_of_remedies_start_the_gang(state):
    remedies = state.gang(state.key_of(WAITS), [])["remedies"]
    for one in remedies:
        report = state.plan(one["question"])
        outcomes = {planned["name"]: planned["outcome"] for planned in report["affected"]}
        assert outcomes["waits"] == "starts", one["text"]


def test_remedies_of_a_gang_behind_others_carry_the_caveat_of_posse_explain():
    waiting = [pod(f"{name}{number}", group=name, gpus=8) for name in ("waits", "later") for number in (1, 2)]
    cluster = ListedObjects(nodes=[node("n1")], groups=[gang("waits", 2), gang("later", 2)], pods=waiting)
    state = PageState(cluster, EngineOptions(asks=True))
    caveats = {name: state.gang(state.key_of(name), [])["caveat"] for name in (WAITS, LATER)}
    assert caveats[WAITS] == ""
    assert caveats[LATER].startswith("What waits ahead of it in the queue comes first")


def test_a_group_that_is_gone_is_named(state):
    with pytest.raises(Problem, match="there is no group team/PodGroup/x/gone any more"):
        state.key_of("team/PodGroup/x/gone")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "say what to plan"),
        ({"minCount": "many", "of": "podgroup/x"}, "minCount: 'many' is not a number"),
        ({"manifest": "kind: ["}, "not valid YAML"),
        ({"manifest": HOSTILE}, "an object with apiVersion and kind was expected"),
    ],
)
def test_questions_that_make_no_sense_are_refused(arguments, problem):
    with pytest.raises(Problem, match=problem):
        plan_question(arguments, "default")


def test_a_story_is_cut_at_its_headings():
    lines = iter(["Head.", "  fact", "", "Section", "  one", "    deeper"])
    assert sections(lines) == [
        {"heading": "Head.", "lines": ["fact"]},
        {"heading": "Section", "lines": ["one", "  deeper"]},
    ]


def test_figures_come_from_the_metrics():
    text = """
# TYPE posse_decide_duration_seconds histogram
posse_decide_duration_seconds_bucket{le="0.001"} 6
posse_decide_duration_seconds_bucket{le="0.002"} 9
posse_decide_duration_seconds_bucket{le="+Inf"} 10
posse_decide_duration_seconds_count 10
posse_decide_duration_seconds_sum 0.1
# TYPE scheduler_schedule_attempts counter
scheduler_schedule_attempts_total{result="scheduled",profile="a"} 3
scheduler_schedule_attempts_total{result="scheduled",profile="b"} 4
"""
    found = figures_of(text)
    assert (found["decideMedian"], found["decide99"]) == (0.001, None)
    assert found["attempts"] == {"scheduled": 7}


def test_metrics_of_another_server_are_not_known():
    assert figures_of("# TYPE up gauge\nup 1\n") == {"known": False}


def test_what_is_missing_is_named(state):
    found = state.gang(state.key_of(WAITS), [])
    assert [(one["pods"], one["fit"], one["resource"]) for one in found["missing"]] == [
        (3, 0, "nvidia.com/gpu")
    ]


def test_what_left_for_a_group_is_found_in_events():
    event = {
        "reason": "Preempted",
        "message": "Preempted by PodGroup team/waits on node n3",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "involvedObject": {"kind": "Pod", "name": "gone", "uid": "u1"},
        "related": {"kind": "PodGroup", "name": "waits", "uid": "u2"},
    }
    other = event | {"reason": "Scheduled"}
    assert [one.name for one in left_for([event, other], {"u2"})] == ["gone"]
    assert left_for([event], {"u1", "u3"}) == []
