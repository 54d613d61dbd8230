"""Who holds a resource, by gang, namespace, priority, rack and node, with what is free and reserved."""

import json

import msgspec
import pytest

from posse.cli.problems import Problem
from posse.cli.reading.cluster_reader import survey_cluster
from posse.cli.top.run import as_data, headline, resource_named, usage_rows, usage_table
from posse.cli.top.usage import ALONE, total_of
from posse.engine.options import EngineOptions
from posse.engine.queue.reservation_note import RESERVED_CAPACITY
from tests.support.listed_objects import ListedObjects, gang, node, pod

GPU = "nvidia.com/gpu"


def nominated(name, where, gpus):
    waiting = pod(name, gpus=gpus)
    waiting["status"]["nominatedNodeName"] = where
    return waiting


def finished(name, where, gpus):
    over = pod(name, node_name=where, gpus=gpus)
    over["status"]["phase"] = "Succeeded"
    return over


@pytest.fixture
def survey():
    """Three nodes of 8 GPUs in two racks: 12 held, 2 reserved, 3 more requested."""
    source = ListedObjects(
        nodes=[node("n1", "r1"), node("n2", "r1"), node("n3", "r2")],
        groups=[gang("big", 2, priority=10), gang("small", 1)],
        pods=[
            *(pod(f"b{index}", group="big", node_name=f"n{index}", gpus=4) for index in (1, 2)),
            pod("s1", group="small", node_name="n3", gpus=3),
            pod("alone", node_name="n3", gpus=1),
            pod("s2", group="small", gpus=1),
            nominated("victor", "n3", 2),
            finished("done", "n1", 8),
        ],
    )
    return survey_cluster(source, EngineOptions())


def test_the_total_counts_what_is_held_reserved_free_and_asked_for(survey):
    total = total_of(survey, GPU)
    assert (total.held, total.reserved, total.free, total.total, total.waiting) == (12, 2, 10, 24, 3)
    assert headline(GPU, total) == (
        "12 of 24 nvidia.com/gpu held, 2 reserved, 10 free, 3 requested by waiting pods"
    )


def test_gangs_and_pods_without_one(survey):
    rows = usage_rows(survey, GPU, "gang", None)
    assert {key: (row.held, row.waiting, row.pods, len(row.nodes)) for key, row in rows.items()} == {
        ("team", "big"): (8, 0, 2, 2),
        ("team", "small"): (3, 1, 1, 1),
        ("team", ALONE): (1, 2, 1, 1),
    }
    assert usage_rows(survey, GPU, "gang", "elsewhere") == {}


def test_priorities_are_those_of_the_groups(survey):
    rows = usage_rows(survey, GPU, "priority", None)
    assert {key: row.held for key, row in rows.items()} == {("", "10"): 8, ("", "0"): 4}


def test_racks_and_nodes_show_what_is_left(survey):
    racks = usage_rows(survey, GPU, "rack", None)
    assert {key[1]: (row.held, row.reserved, row.free, row.total) for key, row in racks.items()} == {
        "r1": (8, 0, 8, 16),
        "r2": (4, 2, 2, 8),
    }
    nodes = usage_rows(survey, GPU, "node", None)
    assert {key[1]: row.free for key, row in nodes.items()} == {"n1": 4, "n2": 4, "n3": 2}
    assert usage_rows(survey, GPU, "topology.posse.dev/rack", None) == racks
    lines = usage_table(GPU, "rack", sorted(racks.items()), total_of(survey, GPU), wide=False)
    assert lines[0].split() == ["RACK", "HELD", "PODS", "FREE", "RESERVED", "TOTAL"]
    assert lines[1].split() == ["r1", "8", "█████░░░░░", "50%", "2", "8", "0", "16"]


def test_free_capacity_of_cordoned_nodes_is_said_to_be(survey):
    survey.nodes["n1"] = _cordoned(survey.nodes["n1"])
    assert "10 free (4 of them on cordoned nodes)" in headline(GPU, total_of(survey, GPU))


def _cordoned(found):
    return msgspec.structs.replace(found, spec=msgspec.structs.replace(found.spec, unschedulable=True))


def test_resources_have_short_names_and_wrong_ones_are_refused(survey):
    assert resource_named(survey, "") == GPU
    assert resource_named(survey, "gpu") == GPU
    assert resource_named(survey, "cpu") == "cpu"
    with pytest.raises(
        Problem, match=r"no node has the resource fpga; there are nvidia.com/gpu, cpu, memory"
    ):
        resource_named(survey, "fpga")
    with pytest.raises(Problem, match="--by zone: no node has the label zone"):
        usage_rows(survey, GPU, "zone", None)


def test_programs_get_numbers(survey):
    rows = sorted(usage_rows(survey, GPU, "rack", None).items())
    data = as_data(GPU, "rack", rows, total_of(survey, GPU))
    assert data["total"] == {
        "held": 12,
        "pods": 4,
        "waiting": 3,
        "reserved": 2,
        "total": 24,
        "free": 10,
        "nodes": 3,
    }
    assert data["rows"][1] == {
        "name": "r2",
        "held": 4,
        "pods": 2,
        "waiting": 0,
        "reserved": 2,
        "total": 8,
        "free": 2,
        "nodes": 1,
    }


def test_capacity_reserved_for_a_gang_that_has_waited_long_counts_as_reserved():
    share = {"nodes": ["n1"], "requests": {"nvidia.com/gpu": "8"}}
    waiting = gang("patient", 2)
    note = json.dumps({"until": "2099-01-01T00:00:00Z", "reserved": [share]})
    waiting["metadata"]["annotations"] = {RESERVED_CAPACITY: note}
    pods = [pod(f"p{index}", group="patient", gpus=8) for index in (1, 2)]
    source = ListedObjects(nodes=[node("n1")], groups=[waiting], pods=pods)
    survey = survey_cluster(source, EngineOptions())
    total = total_of(survey, GPU)
    assert (total.held, total.reserved, total.free) == (0, 8, 0)
    assert usage_rows(survey, GPU, "gang", None)["team", "patient"].reserved == 8
