"""Each check of `posse doctor` finds what it is for, says what to do, and is silent where nothing is wrong."""

import re
from pathlib import Path

import pytest

from posse.cli.doctor.checks.every_check import CHECKS, diagnose
from posse.cli.doctor.facts import ClusterFacts, DeniedRight, ServedApi
from posse.cli.doctor.findings import Severity, names
from posse.cli.reading.cluster_reader import survey_cluster
from posse.engine.options import EngineOptions
from posse.model.feature_gates import ALL_GATES
from posse.model.timestamps import format_timestamp
from tests.support.listed_objects import NOW, ListedObjects, gang, made, node, pod

RACK, BLOCK = "topology.posse.dev/rack", "topology.posse.dev/block"
NATIVE = ServedApi("scheduling.k8s.io", ("v1beta1",), "the API server itself")


def facts(*, read=None, scheduler_names=("default-scheduler",), **objects):
    source = ListedObjects(**objects)
    return ClusterFacts(
        survey=survey_cluster(source, EngineOptions()),
        now=NOW,
        scheduler_names=scheduler_names,
        gates=ALL_GATES,
        **read or {},
    )


def found(check, **given):
    """Severities and texts of what one check finds."""
    (chosen,) = (one for one in CHECKS if one.name == check)
    findings = list(chosen.find(facts(**given)))
    for one in findings:
        assert one.advice or one.severity is Severity.NOTE
    return [(one.severity.value, f"{one.message}; {one.advice}") for one in findings]


def labelled(name, **labels):
    made_node = node(name)
    made_node["metadata"]["labels"] = {f"topology.posse.dev/{key}": value for key, value in labels.items()}
    return made_node


@pytest.mark.parametrize(
    ("version", "severity"),
    [("v1.27.3", "error"), ("v1.36.0", "note"), ("odd", "warning"), ("v1.37.1", None), ("v1.33.13", None)],
)
def test_versions_too_old_or_untested_are_told(version, severity):
    assert [one for one, _ in found("version", read={"version": version})] == ([severity] if severity else [])


def test_gates_that_are_off_where_posse_counts_on_them():
    off = {"GenericWorkload": True, "GangScheduling": True, "CompositePodGroup": False}
    ((severity, text),) = found("gates", read={"cluster_gates": off, "apis": (NATIVE,)})
    assert severity == "warning"
    assert "CompositePodGroup" in text
    ((severity, text),) = found("gates", read={"cluster_gates": {"GenericWorkload": False}, "apis": ()})
    assert severity == "note"
    assert "posse install" in text
    assert found("gates", read={"cluster_gates": {"GenericWorkload": True}, "apis": (NATIVE,)}) == []


def test_group_apis_are_told_with_their_servers():
    ((severity, text),) = found("group-apis", read={"apis": (NATIVE,)})
    assert severity == "note"
    assert "v1beta1) are served by the API server itself" in text
    silent = ServedApi("scheduling.x-k8s.io", (), "Service a/b", is_available=False)
    told = found("group-apis", read={"apis": (silent,)})
    assert [severity for severity, _ in told] == ["error", "error"]
    assert "does not answer" in told[0][1]
    assert "posse install --form crd" in told[1][1]


def test_missing_rights_are_told_by_resource():
    denied = tuple(DeniedRight(verb, "pods", "", "see what waits") for verb in ("list", "watch"))
    ((severity, text),) = found("rights", read={"account": "batch/posse", "denied": denied})
    assert severity == "error"
    assert text.startswith("batch/posse may not list, watch pods (needed to see what waits)")
    assert found("rights", read={"denied": ()}) == []
    volumes = DeniedRight("list", "csinodes", "storage.k8s.io", "know volumes", is_of_volumes=True)
    ((severity, text),) = found("rights", read={"account": "a/b", "denied": (volumes,)})
    assert (severity, "--without-volumes" in text) == ("note", True)


def lease(name, age):
    spec = {"holderIdentity": "somebody", "renewTime": format_timestamp(NOW - age)}
    return {"metadata": {"name": name}, "spec": spec}


def test_two_schedulers_of_one_name_are_an_error():
    both = (lease("posse", 2), lease("kube-scheduler", 2))
    ((severity, text),) = found("leases", read={"leases": both})
    assert (severity, "both schedule" in text) == ("error", True)
    assert found("leases", read={"leases": both}, scheduler_names=("posse",)) == []
    assert found("leases", read={"leases": (lease("posse", 2), lease("kube-scheduler", 900))}) == []


def test_a_lease_that_is_not_renewed_means_that_posse_is_down():
    ((severity, text),) = found("leases", read={"leases": (lease("posse", 31),)})
    assert (severity, "kubectl get pods" in text) == ("error", True)
    assert "renewed 31 seconds ago" in text
    assert found("leases", read={"leases": (lease("posse", 29),)}) == []
    slow = lease("posse", 90)
    slow["spec"]["leaseDurationSeconds"] = 60
    assert found("leases", read={"leases": (slow,)}) == []


def test_known_neighbours_are_named():
    deployed = ({"metadata": {"name": "kueue-controller-manager", "namespace": "kueue-system"}},)
    ((severity, text),) = found("schedulers", read={"deployments": deployed})
    assert (severity, "Kueue admits" in text) == ("note", True)
    assert found("schedulers", read={"deployments": ({"metadata": {"name": "web"}},)}) == []
    ((_, text),) = found(
        "schedulers", read={"deployments": ({"metadata": {"name": "kai-scheduler-default"}},)}
    )
    assert "KAI schedules" in text


def named(scheduler, *pods):
    for one in pods:
        one["spec"]["schedulerName"] = scheduler
    return list(pods)


def test_pods_of_one_group_that_name_several_schedulers():
    members = [pod("a", group="g"), *named("other", pod("b", group="g"))]
    ((severity, text),) = found("scheduler-names", groups=[gang("g", 2)], pods=members)
    assert (severity, "team/g (default-scheduler, other)" in text) == ("error", True)


def test_waiting_groups_of_a_scheduler_that_is_not_ours():
    members = named("volcano", pod("a", group="g"), pod("b", group="g"))
    ((severity, text),) = found("scheduler-names", groups=[gang("g", 2)], pods=members)
    assert (severity, "the scheduler volcano" in text) == ("warning", True)
    assert found("scheduler-names", groups=[gang("g", 1)], pods=[pod("a", group="g")]) == []


def hooks(kind, resources, operations=("CREATE",), **settings):
    rule = {"apiGroups": ["", "apps"], "resources": resources, "operations": list(operations)}
    return {"kind": kind, "metadata": {"name": "m"}, "webhooks": [{"name": "w", "rules": [rule], **settings}]}


def test_webhooks_that_change_pods_or_may_stop_bindings():
    changing = hooks("MutatingWebhookConfiguration", ["pods"], failurePolicy="Ignore")
    stopping = hooks("ValidatingWebhookConfiguration", ["*/*"], ["*"])
    harmless = hooks("ValidatingWebhookConfiguration", ["deployments", "pods"])
    told = found("admission", read={"admission": (changing, stopping, harmless)})
    assert [severity for severity, _ in told] == ["note", "warning"]
    assert "MutatingWebhookConfiguration m (w) may change pods" in told[0][1]
    assert "pods/binding, pods/status" in told[1][1]


def test_policies_count_like_webhooks():
    rules = [{"apiGroups": [""], "resources": ["pods"], "operations": ["CREATE"]}]
    spec = {"matchConstraints": {"resourceRules": rules}}
    policy = {"kind": "MutatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": spec}
    ((severity, text),) = found("admission", read={"admission": (policy,)})
    assert (severity, "MutatingAdmissionPolicy p may change" in text) == ("note", True)


@pytest.mark.parametrize(("offset", "text"), [(60.2, "60 seconds ahead"), (-60.2, "60 seconds behind")])
def test_clocks_that_differ(offset, text):
    ((severity, told),) = found("clock", read={"clock_offset": offset})
    assert (severity, text in told) == ("warning", True)
    assert found("clock", read={"clock_offset": 0.9}) == []


def test_a_rack_in_two_blocks_is_an_error():
    nodes = [
        labelled("n1", rack="r1", block="b1"),
        labelled("n2", rack="r1", block="b2"),
        labelled("n3", rack="r2", block="b2"),
    ]
    ((severity, text),) = found("topology", nodes=nodes)
    assert severity == "error"
    assert f"{RACK}=r1 is in 2 domains of {BLOCK}: b1 (n1), b2 (n2)" in text
    assert found("topology", nodes=nodes[1:]) == []


def test_nodes_without_a_label_that_most_have():
    nodes = [labelled("n1", rack="r1"), labelled("n2", rack="r2"), labelled("n3")]
    ((severity, text),) = found("topology", nodes=nodes)
    assert (severity, f"1 of 3 nodes lacks the label {RACK}: n3" in text) == ("warning", True)
    assert found("topology", nodes=[labelled("n1", rack="r1"), labelled("n2"), labelled("n3")]) == []


def test_empty_labels_and_values_that_differ_in_case_alone_are_told():
    empty = [labelled("n1", rack="r1"), labelled("n2", rack="r1"), labelled("n3", rack="")]
    ((severity, text),) = found("topology", nodes=empty)
    assert (severity, "1 of 3 nodes lacks the label" in text) == ("warning", True)
    assert found("topology", nodes=[labelled("n1", rack=""), labelled("n2", rack="")]) == []
    unlike = [labelled("n1", rack="r1"), labelled("n2", rack="R1")]
    ((severity, text),) = found("topology", nodes=unlike)
    assert (severity, "upper and lower case alone: R1, r1" in text) == ("warning", True)


def test_a_rack_in_two_blocks_is_told_with_the_number_of_its_nodes():
    nodes = [labelled(f"n{i}", rack="r1", block="b1" if i < 3 else "b2") for i in range(4)]
    ((_, text),) = found("topology", nodes=nodes)
    assert "b1 (n0 and 2 more), b2 (n3)" in text


def test_a_topology_key_that_no_node_has():
    confined = gang("g", 1, schedulingConstraints={"topology": [{"key": "example.com/row"}]})
    ((severity, text),) = found("topology", nodes=[node("n1")], groups=[confined], pods=[pod("a", group="g")])
    assert (severity, "no node has the label example.com/row" in text) == ("error", True)


def test_gangs_that_no_empty_cluster_could_hold():
    large = [pod(f"p{number}", group="g", gpus=8) for number in range(3)]
    nodes = [node("n1"), node("n2")]
    ((severity, text),) = found("gang-sizes", nodes=nodes, groups=[gang("g", 3)], pods=large)
    assert (severity, "posse explain podgroup/g -n team" in text) == ("error", True)
    assert found("gang-sizes", nodes=nodes, groups=[gang("g", 2)], pods=large[:2]) == []


def test_a_gang_whose_pods_are_larger_than_any_node_is_not_called_larger_than_the_cluster():
    huge = [pod("p0", group="g", gpus=9)]
    nodes = [node("n1"), node("n2")]
    ((severity, text),) = found("gang-sizes", nodes=nodes, groups=[gang("g", 1)], pods=huge)
    assert severity == "error"
    assert "No node is large enough for one of its pods" in text
    assert "whole cluster" not in text


def device_class(name, driver):
    return {
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}]},
    }


def resource_slice(name, driver, count=1):
    pool = {"name": "pool", "generation": 1, "resourceSliceCount": count}
    spec = {"driver": driver, "pool": pool, "nodeName": "n1", "devices": [{"name": "d0"}]}
    return {"metadata": {"name": name}, "spec": spec}


def claim(name, wanted):
    request = {
        "name": "r",
        "exactly": {"deviceClassName": wanted, "allocationMode": "ExactCount", "count": 1},
    }
    return made(name, spec={"devices": {"requests": [request]}})


def test_drivers_without_slices_incomplete_pools_and_unknown_classes():
    told = found(
        "devices",
        device_classes=[device_class("gpu", "gpu.example"), device_class("nic", "nic.example")],
        slices=[resource_slice("s1", "gpu.example", count=2)],
        claims=[claim("c", "fpga"), claim("d", "gpu")],
    )
    assert [severity for severity, _ in told] == ["warning", "warning", "error"]
    assert "DeviceClass nic is for devices of nic.example" in told[0][1]
    assert "1 of 2 ResourceSlices" in told[1][1]
    assert "DeviceClass fpga does not exist" in told[2][1]
    sound = {"device_classes": [device_class("gpu", "g")], "slices": [resource_slice("s", "g")]}
    assert found("devices", **sound, claims=[claim("d", "gpu")]) == []


def priority_class(name, value, **more):
    return {"metadata": {"name": name}, "value": value, **more}


def test_priority_classes_that_do_not_exist():
    groups = [gang("g", 1, priorityClassName="absent", priority=0)]
    ((severity, text),) = found("priorities", groups=groups, pods=[pod("a", group="g")])
    assert (severity, "PriorityClass absent" in text) == ("error", True)


def test_a_default_class_above_gangs():
    usual = priority_class("usual", 100, globalDefault=True)
    given = {"groups": [gang("g", 1, priority=5)], "pods": [of_priority(5, "a", "g")]}
    ((severity, text),) = found("priorities", priority_classes=[usual], **given)
    assert (severity, "PriorityClass usual (100)" in text) == ("warning", True)
    assert found("priorities", priority_classes=[usual | {"preemptionPolicy": "Never"}], **given) == []


def of_priority(priority, name, group):
    one = pod(name, group=group)
    one["spec"]["priority"] = priority
    return one


def test_members_below_the_priority_of_their_group():
    given = {"groups": [gang("g", 1, priority=5)]}
    ((severity, text),) = found("priorities", pods=[of_priority(0, "a", "g")], **given)
    assert (severity, "team/g" in text) == ("warning", True)
    assert found("priorities", pods=[of_priority(5, "a", "g")], **given) == []


def test_gangs_that_need_every_pod_and_may_lose_one():
    pods = [pod("a", group="g"), pod("b", group="g")]
    high = [priority_class("high", 100)]
    ((severity, text),) = found("disruption", groups=[gang("g", 2)], pods=pods, priority_classes=high)
    assert (severity, "team/g" in text) == ("warning", True)
    whole = [gang("g", 2, disruptionMode={"all": {}})]
    assert found("disruption", groups=whole, pods=pods, priority_classes=high) == []
    assert found("disruption", groups=[gang("g", 1)], pods=pods, priority_classes=high) == []
    assert found("disruption", groups=[gang("g", 2)], pods=pods) == []


def test_checks_without_their_facts_are_skipped_with_a_reason():
    diagnosis = diagnose(facts(read={"unread": {"version": "not in a snapshot"}}))
    assert ("version", "not in a snapshot") in diagnosis.skipped
    assert set(diagnosis.passed) | {name for name, _ in diagnosis.skipped} == {one.name for one in CHECKS}


def test_the_guide_lists_every_check():
    guide = (Path(__file__).parents[4] / "docs" / "guides" / "doctor.md").read_text()
    assert re.findall(r"^\| `([a-z-]+)` \|", guide, re.MULTILINE) == [one.name for one in CHECKS]


def test_long_lists_are_cut():
    assert names([*"abcdefg"]) == "a, b, c, d, e and 2 more"
