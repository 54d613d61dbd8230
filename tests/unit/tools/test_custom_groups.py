"""What the proxy of the conformance scenarios makes of objects on their way to a cluster without native groups."""

from tools.custom_groups import kept

GROUP = {
    "apiVersion": "scheduling.k8s.io/v1beta1",
    "kind": "PodGroup",
    "spec": {"schedulingPolicy": {"basic": {}}},
}


def pod(**spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "labels": {"app": "x"}},
        "spec": spec,
    }


def test_a_group_becomes_a_custom_resource():
    assert kept(GROUP) == GROUP | {"apiVersion": "scheduling.posse.dev/v1alpha1"}


def test_a_pod_names_its_group_by_a_label():
    member = kept(pod(schedulingGroup={"podGroupName": "g"}, priority=1))
    assert member["spec"] == {"priority": 1}
    assert member["metadata"]["labels"] == {"app": "x", "scheduling.posse.dev/pod-group": "g"}


def test_everything_else_stays_as_it_is():
    for obj in (pod(priority=1), {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}, {"metadata": {}}):
        assert kept(obj) == obj
