"""Which gangs are stopped to make room for a group, and what becomes of them."""

import pytest

from posse.cli.plan.applied_room import stop_gangs
from posse.cli.plan.making_room import STARTS_AGAIN, TAKES_BACK, WAITS, advice_lines, room_in, room_lines
from posse.cli.problems import Misuse, Problem
from posse.cli.reading.cluster_reader import survey_cluster
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.engine.preemption.marks import preemptor_in
from posse.model.meta import ObjectMeta
from posse.model.pod import Pod
from tests.support.listed_objects import ListedObjects, gang, node, pod

RACK = "topology.posse.dev/rack"


def report(nodes, running, wanted, named="podgroup/waits", priority=0, **spec):
    """Gangs run with a whole node for each pod, and a gang of `wanted` pods waits."""
    pods = [
        pod(f"{name}-{there}", group=name, gpus=8, node_name=there)
        for name, places in running.items()
        for there in places
    ]
    pods += [pod(f"w{number}", group="waits", gpus=8) for number in range(wanted)]
    groups = [gang(name, len(places), priority=priority) for name, places in running.items()]
    source = ListedObjects(
        nodes=[node(*name.split("/")[::-1]) for name in nodes],
        groups=[*groups, gang("waits", wanted, **spec)],
        pods=pods,
    )
    return room_in(source, survey_cluster(source, EngineOptions()), named, "team").report


def test_the_fewest_gangs_are_stopped():
    running = {"small": ["n1"], "tiny": ["n2"], "large": ["n3", "n4"]}
    found = report(["n1", "n2", "n3", "n4"], running, wanted=2)
    assert [(one.name, one.pods, one.then) for one in found.stop] == [("podgroup team/large", 2, WAITS)]
    assert (found.least, found.starts) == (1, True)
    assert "stop 1 of what runs (fewer do not suffice, which is proven):" in room_lines(found)[0]
    assert advice_lines(found)[-1] == "Nothing has been changed."


def test_a_gang_that_finds_another_place_starts_again():
    one_rack = {"schedulingConstraints": {"topology": [{"key": RACK}]}}
    found = report(["r1/n1", "r1/n2", "r2/n3"], {"a": ["n1"]}, wanted=2, **one_rack)
    assert [(one.name, one.then) for one in found.stop] == [("podgroup team/a", STARTS_AGAIN)]
    assert found.starts


def test_a_gang_of_higher_priority_would_take_its_place_back():
    found = report(["n1", "n2"], {"a": ["n1"]}, wanted=2, priority=10)
    assert [one.then for one in found.stop] == [TAKES_BACK]


def test_what_is_larger_than_the_cluster_is_told():
    with pytest.raises(Problem, match="would not fit if everything on the nodes open to it were stopped"):
        report(["n1", "n2"], {"a": ["n1"]}, wanted=3)


def test_a_group_that_runs_needs_no_room():
    with pytest.raises(Problem, match="does not wait for a place"):
        report(["n1", "n2"], {"a": ["n1"]}, wanted=1, named="podgroup/a")


def test_what_is_no_group_is_refused():
    with pytest.raises(Misuse, match="--make-room-for: 'pod/x' is not a group"):
        report(["n1"], {}, wanted=1, named="pod/x")


def test_the_option_stands_alone(posse):
    assert posse("plan", "--make-room-for", "podgroup/x", "-f", "x.yaml").code == 2


def test_what_is_applied_is_a_plan_that_makes_room(posse, tmp_path):
    answer = posse("plan", "--make-room-for", "podgroup/x", "--apply", "--snapshot", tmp_path / "x.snapshot")
    assert (answer.code, "leave --snapshot out" in answer.err) == (2, True)
    answer = posse("plan", "-f", "x.yaml", "--apply")
    assert (answer.code, "--apply goes with --make-room-for" in answer.err) == (2, True)


class Client:
    """Notes what is asked for."""

    def __init__(self):
        self.asked = []

    def patch(self, path, obj):
        self.asked.append(("mark", path, obj["status"]["conditions"][0]["message"]))

    def delete(self, path, uid):
        self.asked.append(("delete", path, uid))


VICTIM = Pod(metadata=ObjectMeta(name="v1", namespace="team", uid="u1"))
PATH = "/api/v1/namespaces/team/pods/v1"


def test_a_victim_is_marked_with_the_group_that_it_is_stopped_for_and_then_deleted():
    client, told = Client(), []
    stop_gangs(client, GroupKey("team", "waits"), [VICTIM], 0.0, told.append)
    mark = "posse plan: stopped by an operator to make room for podgroup team/waits"
    assert client.asked == [("mark", f"{PATH}/status", mark), ("delete", PATH, "u1")]
    assert told == ["pod team/v1 stopped"]
    assert preemptor_in(mark) == "podgroup team/waits"
