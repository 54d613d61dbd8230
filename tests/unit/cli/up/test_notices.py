"""Options of `posse up` that have no effect on a cluster that is continued are named at the start."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from posse.cli.up.notices import continuation_notice
from posse.cli.up.run import serve
from posse.kubelet.nodes import parse_topology
from posse.runtime.embedded.bootstrap import EnsuredNodes
from posse.runtime.process.options import ClusterOptions

OPTIONS = ClusterOptions(data_dir=Path("/data/lab"), port=0)


def told(before, differing=0, added=0, *, nodes=None, topology=""):
    options = replace(OPTIONS, node_count=nodes, topology=parse_topology(topology))
    return continuation_notice(options, EnsuredNodes(before, differing, added)).splitlines()


@pytest.mark.parametrize(
    ("before", "nodes", "added"), [(0, 3, 3), (0, None, 8), (8, None, 0), (8, 8, 0), (8, 12, 4)]
)
def test_nothing_is_said_where_the_number_of_nodes_is_what_was_asked_for(before, nodes, added):
    assert told(before, 0, added, nodes=nodes) == []


def test_fewer_nodes_than_there_are_is_told_with_what_to_do():
    assert told(8, nodes=3) == [
        "Notice: this continues the cluster in /data/lab, whose nodes stay as they are.",
        "  --nodes 3 has no effect: it has 8, and nodes are only added.",
        "  For a new cluster, stop this one and delete that folder, or start with another --data-dir.",
    ]


def test_a_topology_is_for_new_nodes_only():
    [_, line, _] = told(8, 8, topology="block=2,rack=4")
    assert (
        line
        == "  --topology block=2,rack=4 has no effect: 8 of its 8 nodes have other labels, and keep them."
    )
    [_, line, _] = told(8, 8, 4, nodes=12, topology="rack=3")
    assert (
        line
        == "  --topology rack=3 is for the 4 new nodes only: 8 of its 8 nodes have other labels, and keep them."
    )
    assert told(8, 0, 4, nodes=12, topology="rack=3") == []


def test_every_option_without_effect_is_told():
    assert len(told(8, 8, nodes=3, topology="rack=3")) == 4


def test_a_cluster_that_is_started_again_says_so(tmp_path, capsys, monkeypatch):
    async def stop_at_once(_cluster):
        raise asyncio.CancelledError

    monkeypatch.setattr("posse.cli.up.run.watch_cluster", stop_at_once)
    options = replace(OPTIONS, data_dir=tmp_path / "data", node_count=4, has_page=False)
    levels = parse_topology("rack=2")
    notices = []
    for one in (options, options, replace(options, node_count=3, topology=levels)):
        serve(one, [])
        notices.append("Notice" in capsys.readouterr().err)
    assert notices == [False, False, True]
