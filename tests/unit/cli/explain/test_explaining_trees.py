"""posse explain and posse gangs, asked about trees of groups in an embedded cluster."""

import json
import time

import pytest

from posse.cli.up.examples import examples_dir

PATIENCE_SECONDS = 20.0
TREES = examples_dir() / "hierarchies"


@pytest.fixture
def ask(posse, kubeconfig):
    """Call the command until the answer has all of these texts: the scheduler works at the same time."""

    def call(*words, expect=()):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            result = posse(*words, "--kubeconfig", kubeconfig)
            if result.code == 0 and all(text in result.out for text in expect):
                return result.out
            assert time.monotonic() < deadline, result
            time.sleep(0.05)

    return call


def test_a_tree_that_waits_is_shown_level_by_level(ask):
    ask("apply", "-f", TREES / "serving.yaml")
    told = ask("explain", "cpg/serving", expect=["What its status says"])
    assert told.startswith("CompositePodGroup default/serving waits: only 1 of the 2 groups")
    picture = told.partition("Its tree\n")[2].partition("\n\n")[0].splitlines()
    names = [line.split()[0] for line in picture]
    halves = [["decode", "decode-0", "decode-1"], ["prefill", "prefill-0", "prefill-1"]]
    # By creation, then by name; a second may end while they are created.
    assert names in (["serving", *halves[0], *halves[1]], ["serving", *halves[1], *halves[0]])
    assert [len(line) - len(line.lstrip()) for line in picture] == [2, 4, 6, 6, 4, 6, 6]
    assert "2 of 2 groups together" in picture[0]
    assert "2 of 2 pods together" in picture[2]
    assert "CompositePodGroupInitiallyScheduled" in told
    leaf = ask("explain", "podgroup/decode-1")
    assert "decode-1 <" in leaf
    table = ask("gangs")
    lines = [line for line in table.splitlines() if line.split()[0] in {"serving", "decode", "decode-1"}]
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 2, 4]
    assert "0/2 groups" in lines[0]
    listed = json.loads(ask("gangs", "-o", "json"))
    assert [(one["name"], one["kind"], one["depth"]) for one in listed][:3] == [
        ("serving", "CompositePodGroup", 0),
        ("decode", "CompositePodGroup", 1),
        ("decode-0", "PodGroup", 2),
    ]
    ask("delete", "-f", TREES / "serving.yaml")


def test_a_tree_that_runs_is_shown_as_started(ask):
    ask("apply", "-f", TREES / "racks.yaml")
    ask("apply", "-f", TREES / "two-sizes.yaml")
    told = ask("explain", "compositepodgroup/job", expect=["has started: 2 of its 2 groups have"])
    assert "5 on nodes" in told
    assert "6 on nodes" in told
    ask("get", "compositepodgroups", expect=["Scheduled"])
    ask("delete", "-f", TREES / "two-sizes.yaml")
    ask("delete", "-f", TREES / "racks.yaml")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while "job" in ask("get", "compositepodgroups"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
