"""Snapshots answer as the cluster does, hold nothing that no rule reads, and are refused when damaged."""

import gzip
import json

import pytest

from posse.cli.explain.group_line import in_order, lines_of
from posse.cli.problems import Problem
from posse.cli.reading.cluster_reader import survey_cluster
from posse.cli.reading.owners import Owners
from posse.cli.reading.snapshot_file import read_snapshot
from posse.cli.snapshot.anonymising import Anonymiser
from posse.cli.snapshot.run import take_snapshot
from posse.engine.options import EngineOptions
from tests.support.listed_objects import ListedObjects, gang, made, node, pod


def secretive(obj):
    """Add what no rule reads."""
    container = obj["spec"]["containers"][0]
    container |= {"env": [{"name": "TOKEN", "value": "hunter2"}], "args": ["--password=hunter2"]}
    obj["spec"]["volumes"] = [{"name": "v", "secret": {"secretName": "hunter2"}}]
    obj["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied": "hunter2",
        "acme.com/x": "hunter2",
    }
    obj["metadata"]["managedFields"] = [{"manager": "hunter2"}]
    return obj


def a_cluster():
    return ListedObjects(
        nodes=[node("alpha-1", "north"), node("alpha-2", "south")],
        jobs=[made("training", spec={})],
        groups=[gang("training-group", 2, "Job/training", priority=7), gang("hungry", 3)],
        pods=[
            *(pod(f"t{n}", "Job/training", "training-group", f"alpha-{n}", gpus=4) for n in (1, 2)),
            *(secretive(pod(f"h{n}", group="hungry", gpus=8)) for n in range(3)),
        ],
    )


def lines(source):
    survey = survey_cluster(source, EngineOptions())
    return in_order(lines_of(survey, Owners(survey, source, None), None))


def taken(tmp_path, **options):
    path = tmp_path / "cluster.snapshot"
    take_snapshot(a_cluster(), path, **{"is_anonymous": False} | options)
    return path


def test_a_snapshot_answers_as_the_cluster_does(tmp_path):
    source = read_snapshot(taken(tmp_path))
    assert lines(source) == lines(a_cluster())
    assert source.now() == a_cluster().now()
    assert lines(source)[0].why


def test_what_no_rule_reads_is_left_out(tmp_path):
    assert b"hunter2" not in gzip.decompress(taken(tmp_path).read_bytes())


def test_names_are_replaced_consistently(tmp_path):
    path = taken(tmp_path, is_anonymous=True)
    content = gzip.decompress(path.read_bytes())
    for name in (b"alpha", b"training", b"hungry", b"north", b'"team"', b"t1"):
        assert name not in content, name
    before, after = lines(a_cluster()), lines(read_snapshot(path))
    assert [(line.state, line.on_nodes, line.gpus, line.priority, len(line.racks)) for line in after] == [
        (line.state, line.on_nodes, line.gpus, line.priority, len(line.racks)) for line in before
    ]
    assert [bool(line.owner) for line in after] == [bool(line.owner) for line in before]


def test_annotations_that_rules_read_are_kept_without_names():
    reserved = {
        "until": "2026-01-01T00:00:00Z",
        "reserved": [{"nodes": ["alpha-1"], "requests": {"cpu": "1"}}],
        "pod_group": "",
    }
    kept = Anonymiser().object(
        {
            "metadata": {
                "name": "alpha-1",
                "annotations": {
                    "posse.dev/expected-duration": "1h",
                    "posse.dev/minimum-run-time": "ask alpha",
                    "posse.dev/preferred-topology": "rack, the alpha customer",
                    "scheduling.k8s.io/group-name": "alpha-1",
                    "scheduling.posse.dev/reserved-capacity": json.dumps(reserved),
                    "scheduling.posse.dev/forecast": '{"waitsFor": "alpha-1"}',
                },
            }
        },
        "Node",
    )["metadata"]["annotations"]
    assert "alpha" not in str(kept)
    note = json.loads(kept.pop("scheduling.posse.dev/reserved-capacity"))
    assert note["reserved"] == [{"nodes": ["node-1"], "requests": {"cpu": "1"}}]
    assert kept == {
        "posse.dev/expected-duration": "1h",
        "posse.dev/preferred-topology": "rack",
        "scheduling.k8s.io/group-name": "node-1",
    }


def test_damaged_and_newer_files_are_refused(tmp_path):
    path = taken(tmp_path)
    whole = path.read_bytes()
    text = gzip.decompress(whole)
    header = json.loads(text.split(b"\n")[0])
    bad = {
        "not a complete snapshot": whole[:-20],
        "9 of 10 objects are there": gzip.compress(text[: text.rindex(b"\n", 0, -1) + 1]),
        "not a snapshot; `posse snapshot FILE` makes one": gzip.compress(b"{}"),
        "formatVersion 2 is not known to this Posse, which reads 1": gzip.compress(
            json.dumps(header | {"formatVersion": 2}).encode()
        ),
        "not a complete snapshot: Not a gzipped file": b"plain",
        ":2: not an object of a snapshot": gzip.compress(json.dumps(header).encode() + b"\n[]\n"),
        ":1: the header of the snapshot is invalid": gzip.compress(
            json.dumps(header | {"time": ""}).encode()
        ),
    }
    for message, content in bad.items():
        path.write_bytes(content)
        with pytest.raises(Problem, match=r"cluster\.snapshot") as problem:
            read_snapshot(path)
        assert message in str(problem.value)
    with pytest.raises(Problem, match="no such file"):
        read_snapshot(tmp_path / "none")


def test_the_verbs_read_a_snapshot_instead_of_a_cluster(posse, tmp_path):
    path = taken(tmp_path)
    gangs = posse("gangs", "-A", "--snapshot", path)
    assert gangs.out.splitlines()[1].split()[:3] == ["team", "hungry", "Waiting"]
    assert (
        "Job team/training has 1 group"
        in posse("explain", "job/training", "-n", "team", "--snapshot", path).out
    )
    assert posse("top", "--snapshot", path).out.startswith("8 of 16 nvidia.com/gpu held")
    told = json.loads(posse("explain", "pg/hungry", "-n", "team", "--snapshot", path, "-o", "json").out)
    assert [(one["name"], one["state"]) for one in told] == [("hungry", "Waiting")]
    assert told[0]["changes"]
    (member,) = json.loads(posse("explain", "pod/t1", "-n", "team", "--snapshot", path, "-o", "json").out)
    assert (member["kind"], member["node"]) == ("Pod", "alpha-1")
    both = posse("gangs", "--snapshot", path, "--kubeconfig", path)
    assert (both.code, both.err) == (2, "Error: --kubeconfig and --snapshot exclude each other\n")
    assert posse("gangs", "-w", "--snapshot", path).code == 2
