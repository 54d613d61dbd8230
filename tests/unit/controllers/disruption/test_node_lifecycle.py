import pytest

from posse.controllers.disruption.node_lifecycle import LEASE_NAMESPACE, NodeLifecycle
from posse.kinds.registry import LEASE, NODE, POD
from posse.model.timestamps import format_timestamp

NOW = 1_800_000_000.0


def node(ready="True", taints=(), annotations=None, **spec):
    metadata = {"name": "n", "uid": "n", "resourceVersion": "7", "annotations": annotations or {}}
    conditions = [{"type": "Ready", "status": ready}, {"type": "DiskPressure", "status": "False"}]
    return {
        "metadata": metadata,
        "spec": {"taints": list(taints)} | spec,
        "status": {"conditions": conditions},
    }


def lease(renewed="1", namespace=LEASE_NAMESPACE):
    spec = {"renewTime": renewed, "leaseDurationSeconds": 40}
    return {"metadata": {"namespace": namespace, "name": "n", "uid": "l"}, "spec": spec}


def pod(**metadata):
    conditions = [{"type": "Ready", "status": "True"}]
    return {
        "metadata": {"namespace": "default", "name": "p", "uid": "p"} | metadata,
        "spec": {"nodeName": "n"},
        "status": {"phase": "Running", "conditions": conditions},
    }


def taint(name, effect, added=None):
    made = {"key": f"node.kubernetes.io/{name}", "effect": effect}
    return made | {"timeAdded": added or format_timestamp(NOW)}


def lifecycle(*seen):
    reconciler = NodeLifecycle()
    for kind, obj in seen:
        reconciler.see(kind, obj)
    return reconciler


def steps(plan):
    return [step for stage in plan.stages for step in stage]


def test_a_node_whose_heartbeats_stop_becomes_unknown():
    reconciler = lifecycle((LEASE, lease()), (NODE, node()))
    assert reconciler.plan("n", NOW).wake_at == NOW + 40
    assert reconciler.plan("n", NOW + 39).stages == []
    plan = reconciler.plan("n", NOW + 40)
    [amend] = steps(plan)
    assert amend.subresource == "status"
    assert [(each["type"], each["status"]) for each in amend.patch["status"]["conditions"]] == [
        ("Ready", "Unknown"),
        ("DiskPressure", "Unknown"),
    ]
    assert amend.patch["status"]["conditions"][0]["reason"] == "NodeStatusUnknown"
    assert plan.news[0].message == "Node n status is now: NodeNotReady"


def test_a_heartbeat_is_a_sign_of_life_whatever_the_clock_of_the_node_says():
    reconciler = lifecycle((LEASE, lease("1")), (NODE, node()))
    reconciler.plan("n", NOW)
    reconciler.see(LEASE, lease("2"))
    assert reconciler.plan("n", NOW + 30).wake_at == NOW + 70
    reconciler.see(LEASE, lease("2"))
    assert reconciler.plan("n", NOW + 60).wake_at == NOW + 70


def test_the_silence_of_a_node_told_to_fail_is_noticed_as_the_annotation_says():
    annotations = {"posse.dev/failure": "crash", "posse.dev/notice-seconds": "2"}
    reconciler = lifecycle((LEASE, lease()), (NODE, node(annotations=annotations)))
    assert reconciler.plan("n", NOW).wake_at == NOW + 2
    bad = annotations | {"posse.dev/notice-seconds": "soon"}
    reconciler.see(NODE, node(annotations=bad))
    assert reconciler.plan("n", NOW).wake_at == NOW + 40


def test_nodes_without_a_kubelet_are_left_alone():
    assert lifecycle((NODE, node())).plan("n", NOW).wake_at is None
    assert lifecycle((LEASE, lease(namespace="default")), (NODE, node())).plan("n", NOW).wake_at is None
    silent = node(taints=[taint("not-ready", "NoExecute")])
    silent["status"]["conditions"] = []
    assert lifecycle((NODE, silent)).plan("n", NOW).stages == []


@pytest.mark.parametrize(("ready", "name"), [("False", "not-ready"), ("Unknown", "unreachable")])
def test_a_node_that_is_not_ready_gets_its_taints_once(ready, name):
    other = {"key": "gpu", "effect": "NoSchedule"}
    before = [other, taint("unreachable" if name == "not-ready" else "not-ready", "NoExecute")]
    [amend] = steps(lifecycle((NODE, node(ready, before))).plan("n", NOW))
    taints = amend.patch["spec"]["taints"]
    assert taints == [other, taint(name, "NoSchedule"), taint(name, "NoExecute")]
    assert amend.patch["metadata"] == {"uid": "n", "resourceVersion": "7"}
    assert lifecycle((NODE, node(ready, taints))).plan("n", NOW + 5).stages == []


def test_a_node_that_is_ready_again_loses_them():
    taints = [taint("unreachable", "NoSchedule"), taint("unreachable", "NoExecute")]
    [amend] = steps(lifecycle((NODE, node("True", taints))).plan("n", NOW))
    assert amend.patch["spec"] == {"taints": None}


def test_a_node_that_is_cordoned_has_a_taint_that_says_so():
    [amend] = steps(lifecycle((NODE, node(unschedulable=True))).plan("n", NOW))
    [added] = amend.patch["spec"]["taints"]
    assert (added["key"], added["effect"]) == ("node.kubernetes.io/unschedulable", "NoSchedule")
    assert steps(lifecycle((NODE, node(taints=[added], unschedulable=True))).plan("n", NOW)) == []
    [amend] = steps(lifecycle((NODE, node(taints=[added]))).plan("n", NOW))
    assert amend.patch["spec"] == {"taints": None}


def test_pods_of_a_node_that_is_not_ready_are_not_ready():
    taints = [taint("not-ready", "NoSchedule"), taint("not-ready", "NoExecute")]
    leaving = pod(uid="q", deletionTimestamp=format_timestamp(NOW))
    reconciler = lifecycle((NODE, node("False", taints)), (POD, pod()), (POD, leaving))
    [amend] = steps(reconciler.plan("n", NOW))
    assert amend.kind is POD
    assert amend.patch["status"]["conditions"][0]["status"] == "False"
    reconciler.lose(POD, pod())
    assert reconciler.plan("n", NOW).stages == []
