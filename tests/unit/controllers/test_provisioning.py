"""What cluster autoscalers are asked for."""

import pytest

from posse.controllers.provisioning import ATOMIC_CLASS, demand_of, has_failed
from posse.engine.keys import GroupKey

GROUP = GroupKey("team", "trainer")


def pod(name="trainer-0", token="abcde", **spec):
    mounts = [{"name": "data", "mountPath": "/d"}, {"name": f"kube-api-access-{token}", "mountPath": "/t"}]
    return {
        "metadata": {"name": name, "uid": name, "labels": {"app": "trainer"}},
        "spec": {
            "nodeName": "",
            "schedulerName": "posse",
            "schedulingGroup": {"podGroupName": "trainer"},
            "nodeSelector": {"pool": "gpu"},
            "containers": [{"name": "c", "volumeMounts": mounts, "resources": {"limits": {"cpu": "1"}}}],
            "volumes": [
                {"name": "data", "emptyDir": {}},
                {"name": f"kube-api-access-{token}", "projected": {}},
            ],
            **spec,
        },
    }


def test_all_pods_that_must_start_are_requested_at_once():
    demand = demand_of(GROUP, [(pod(), 9), (pod("leader", priority=7), 1)], {})
    assert demand.request["spec"]["provisioningClassName"] == ATOMIC_CLASS
    names = [template["metadata"]["name"] for template in demand.templates]
    assert demand.request["spec"]["podSets"] == [
        {"podTemplateRef": {"name": names[0]}, "count": 9},
        {"podTemplateRef": {"name": names[1]}, "count": 1},
    ]
    assert {template["metadata"]["namespace"] for template in demand.templates} == {"team"}
    assert demand.pod_annotations["autoscaling.x-k8s.io/consume-provisioning-request"] == demand.name


def test_templates_have_what_decides_where_pods_go():
    (template,) = demand_of(GROUP, [(pod(), 9)], {"rack": "r-7"}).templates
    spec = template["template"]["spec"]
    assert spec["nodeSelector"] == {"pool": "gpu", "rack": "r-7"}
    assert spec["containers"][0]["resources"] == {"limits": {"cpu": "1"}}
    assert spec["volumes"] == [{"name": "data", "emptyDir": {}}]
    assert spec["containers"][0]["volumeMounts"] == [{"name": "data", "mountPath": "/d"}]
    assert template["template"]["metadata"]["labels"] == {"app": "trainer"}
    assert not {"nodeName", "schedulerName", "schedulingGroup"} & set(spec)


def test_the_name_is_that_of_the_demand():
    name = demand_of(GROUP, [(pod(), 9)], {}).name
    assert demand_of(GROUP, [(pod("trainer-1", token="other"), 9)], {}).name == name
    others = [
        demand_of(GROUP, [(pod(), 8)], {}),
        demand_of(GROUP, [(pod(priority=1), 9)], {}),
        demand_of(GROUP, [(pod(), 9)], {"rack": "r"}),
        demand_of(GroupKey("team", "other"), [(pod(), 9)], {}),
    ]
    assert len({name, *(one.name for one in others)}) == 5
    assert (
        len(demand_of(GroupKey("team", "x" * 253), [(pod(), 9)], {}).templates[0]["metadata"]["name"]) <= 253
    )


@pytest.mark.parametrize(
    ("conditions", "since"),
    [
        (None, ""),
        ([{"type": "Failed", "status": "False", "lastTransitionTime": "t"}], ""),
        ([{"type": "Provisioned", "status": "True", "lastTransitionTime": "t"}], ""),
        ([{"type": "Failed", "status": "True", "lastTransitionTime": "t"}], "t"),
    ],
)
def test_a_request_that_was_given_up_is_recognised(conditions, since):
    assert has_failed({"status": {"conditions": conditions}} if conditions else {}) == since
