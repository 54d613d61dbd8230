"""Limits of single objects: counting, and the page that lists them."""

import pathlib

import pytest

from posse.model.decoding import decode
from posse.model.job import Job
from posse.model.jobset import JobSet
from posse.model.limits import LIMITS, Counted, LimitError, excesses, first_excess, require_within_limits
from posse.model.node import Node, NodeSpec, Taint
from posse.model.pod import Pod
from posse.model.stateful_set import StatefulSet
from tests.support import poisons

PAGE = pathlib.Path("docs/guides/limits.md")


@pytest.mark.parametrize("name", poisons.PODS)
def test_every_poisonous_pod_exceeds_a_limit(name):
    assert first_excess(decode(Pod, poisons.PODS[name](poisons.MANY + 1)))


@pytest.mark.parametrize("name", poisons.PODS)
def test_a_pod_with_little_of_everything_exceeds_none(name):
    require_within_limits(decode(Pod, poisons.PODS[name](30)))


def test_an_excess_names_field_count_and_limit():
    with pytest.raises(LimitError) as raised:
        require_within_limits(decode(Pod, poisons.PODS["spread constraints"](65)))
    assert str(raised.value) == "spec.topologySpreadConstraints has 65 items; Posse takes at most 64"


def test_items_of_all_containers_are_added():
    ports = [{"containerPort": number + 1} for number in range(600)]
    crowded = poisons.pod(containers=[{"name": name, "ports": ports} for name in "ab"])
    (excess,) = excesses(decode(Pod, crowded))
    assert (excess.field, excess.count) == ("spec.containers[*].ports", 1200)


def test_a_resource_name_counts_once():
    containers = [
        {"name": f"c{i}", "resources": {"requests": {f"example.com/r{i % 40}": "1", "cpu": "1"}}}
        for i in range(200)
    ]
    assert first_excess(decode(Pod, poisons.pod(containers=containers))) is None


def test_templates_have_the_limits_of_pods():
    template = poisons.template(tolerations=[{"operator": "Exists"}] * 501)
    job = decode(Job, {"spec": {"template": template}})
    (excess,) = excesses(job)
    assert excess.field == "spec.template.spec.tolerations"
    assert first_excess(job) == excess
    replicated = {"name": "w", "template": {"spec": {"template": template}}}
    jobset = decode(JobSet, {"spec": {"replicatedJobs": [replicated]}})
    (excess,) = excesses(jobset)
    assert excess.field == "spec.replicatedJobs[0].template.spec.template.spec.tolerations"
    assert first_excess(jobset) == excess


def test_every_limit_of_a_node_is_looked_at():
    images = [{"names": ["a", "b"], "sizeBytes": 1}] * 2_000
    parts = {
        "metadata.labels": {"metadata": {"labels": {f"key-{i}": "" for i in range(1_001)}}},
        "spec.taints": {"spec": {"taints": [{"key": f"key-{i}"} for i in range(251)]}},
        "status.allocatable": {"status": {"allocatable": {f"example.com/{i}": "1" for i in range(251)}}},
        "status.images": {"status": {"images": images}},
    }
    for field, described in parts.items():
        node = decode(Node, described)
        (excess,) = excesses(node)
        assert (excess.field, first_excess(node)) == (field, excess)


def test_structs_without_limits_are_within_them():
    assert first_excess(Taint(key="a" * 100_000)) is None
    assert first_excess(NodeSpec(taints=(Taint(),) * 250)) is None
    assert first_excess(NodeSpec(taints=(Taint(),) * 251)).count == 251


def test_numbers_are_limited():
    (excess,) = excesses(decode(StatefulSet, {"spec": {"replicas": 2_000_000_000}}))
    assert str(excess) == "spec.replicas is 2000000000; Posse takes at most 100000"


def test_the_page_lists_every_limit():
    lines = PAGE.read_text().splitlines()
    for struct, limits in LIMITS.items():
        for limit in limits:
            unit = "" if limit.counts in {Counted.ITEMS, Counted.VALUE} else f" {limit.counts.value}"
            assert f"| {struct.__name__} | `{limit.field}` | {limit.most:,}{unit} |" in lines
    listed = [line for line in lines if line.startswith("| ") and "`" in line]
    assert len(listed) == sum(map(len, LIMITS.values()))
