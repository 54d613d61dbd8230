"""What is made from a LeaderWorkerSet, to the letter: StatefulSets, Services, revisions, groups of every provider, pods."""

import json

import pytest

from posse.controllers.leader_worker_sets.controller import LeaderWorkerSetController
from posse.controllers.leader_worker_sets.keys import group_key, subgroup_key
from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.kinds.registry import (
    CONTROLLER_REVISION,
    COSCHEDULING_POD_GROUP,
    KINDS,
    LEADER_WORKER_SET,
    POD,
    POD_GROUP,
    PRIORITY_CLASS,
    SERVICE,
    STATEFUL_SET,
    VOLCANO_POD_GROUP,
    WORKLOAD,
)
from tests.support.controller_world import World

LWS = "leaderworkerset.sigs.k8s.io/"
PROVIDER = "scheduling.posse.dev/provider"
LEADER_TEMPLATE = {
    "metadata": {"labels": {"role": "leader"}},
    "spec": {"containers": [{"name": "l", "image": "i:1", "resources": {"requests": {"cpu": "500m"}}}]},
}
WORKER_TEMPLATE = {
    "metadata": {"labels": {"role": "worker"}},
    "spec": {
        "containers": [
            {"name": "w", "image": "i:1", "resources": {"requests": {"cpu": "1", "memory": "1536Mi"}}}
        ]
    },
}


def lws(provider="posse", annotations=None, template=None, labels=None, **spec):
    leader_worker = {"size": 3, "leaderTemplate": LEADER_TEMPLATE, "workerTemplate": WORKER_TEMPLATE}
    return {
        "metadata": {
            "name": "serve",
            "labels": labels or {},
            "annotations": {PROVIDER: provider, **(annotations or {})},
        },
        "spec": {"replicas": 1, "leaderWorkerTemplate": {**leader_worker, **(template or {})}, **spec},
    }


@pytest.fixture
def made():
    """Make a set with all that follows from it, on a cluster without room unless it is said to have some."""

    def make(obj, per_node=0):
        world = World(
            StatefulSetController, lambda: LeaderWorkerSetController(KINDS), nodes=1, per_node=per_node
        )
        world.create(LEADER_WORKER_SET, obj)
        world.settle()
        return world

    return make


def key_of(world):
    (revision,) = [name for name in world.of(CONTROLLER_REVISION) if name.endswith("-1")]
    return revision.split("-")[1]


def without(obj, *names):
    return {name: value for name, value in obj.items() if name not in names}


def owners(obj):
    return [
        (owner["kind"], owner["name"], owner["controller"]) for owner in obj["metadata"]["ownerReferences"]
    ]


def annotations_of(obj):
    return {name.removeprefix(LWS): text for name, text in obj["metadata"]["annotations"].items()}


def labels_of(obj):
    return {name.removeprefix(LWS): text for name, text in obj["metadata"]["labels"].items()}


def test_the_leaders(made):
    world = made(lws(labels={"team": "a"}, annotations={"note": "n"}, replicas=2))
    key, leaders = key_of(world), world.find(STATEFUL_SET, "serve")
    assert owners(leaders) == [("LeaderWorkerSet", "serve", True)]
    assert labels_of(leaders) == {"team": "a", "name": "serve", "template-revision-hash": key}
    assert annotations_of(leaders) == {PROVIDER: "posse", "note": "n", "replicas": "2"}
    spec = leaders["spec"]
    assert spec["replicas"] == 2
    assert spec["serviceName"] == "serve"
    assert spec["podManagementPolicy"] == "Parallel"
    assert spec["selector"] == {"matchLabels": {f"{LWS}name": "serve", f"{LWS}worker-index": "0"}}
    assert spec["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"partition": 0, "maxUnavailable": 1},
    }
    template = spec["template"]
    assert labels_of(template) == {
        "role": "leader",
        "name": "serve",
        "worker-index": "0",
        "template-revision-hash": key,
    }
    assert annotations_of(template) == {"size": "3", PROVIDER: "posse"}
    assert template["spec"]["containers"][0]["name"] == "l"


def test_the_workers(made):
    world = made(lws())
    key, workers = key_of(world), world.find(STATEFUL_SET, "serve-0")
    assert owners(workers) == [("Pod", "serve-0", True)]
    digest = group_key("default", "serve-0")
    labels = {"name": "serve", "group-index": "0", "group-key": digest, "template-revision-hash": key}
    assert labels_of(workers) == labels
    spec = workers["spec"]
    assert (spec["replicas"], spec["ordinals"], spec["serviceName"]) == (2, {"start": 1}, "serve")
    assert spec["podManagementPolicy"] == "Parallel"
    assert set(spec["selector"]["matchLabels"]) == {
        f"{LWS}{key}" for key in ("group-index", "name", "group-key")
    }
    assert labels_of(spec["template"]) == {"role": "worker", **labels}
    assert annotations_of(spec["template"]) == {"size": "3", "leader-name": "serve-0"}


def test_the_service_and_the_revision(made):
    world = made(lws())
    service = world.find(SERVICE, "serve")
    assert owners(service) == [("LeaderWorkerSet", "serve", True)]
    defaults = (
        "type",
        "sessionAffinity",
        "clusterIPs",
        "internalTrafficPolicy",
        "ipFamilies",
        "ipFamilyPolicy",
    )
    assert without(service["spec"], *defaults) == {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {f"{LWS}name": "serve"},
    }
    key = key_of(world)
    revision = world.find(CONTROLLER_REVISION, f"serve-{key}-1")
    assert owners(revision) == [("LeaderWorkerSet", "serve", True)]
    assert labels_of(revision) == {"name": "serve", "template-revision-hash": key}
    assert set(revision["data"]["spec"]) == {"leaderWorkerTemplate", "networkConfig"}
    assert all(part["$patch"] == "replace" for part in revision["data"]["spec"].values())


def test_pods_know_their_place(made):
    world = made(lws())
    leader, worker = world.find(POD, "serve-0"), world.find(POD, "serve-0-2")
    digest = group_key("default", "serve-0")
    for pod, index in ((leader, "0"), (worker, "2")):
        labels = labels_of(pod)
        assert (labels["group-index"], labels["group-key"], labels["worker-index"]) == ("0", digest, index)
        assert pod["spec"]["containers"][0]["env"] == [
            {"name": "LWS_LEADER_ADDRESS", "value": "serve-0.serve.default"},
            {"name": "LWS_GROUP_SIZE", "value": "3"},
            {"name": "LWS_WORKER_INDEX", "value": index},
        ]
        assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == (pod["metadata"]["name"], "serve")


def test_digests_are_those_of_upstream():
    assert group_key("default", "lws-0") == "9f7c49a9534189e737848b962d712086e1d5dfd8"
    assert subgroup_key("lws-0", 0) == "64d26fbc1313c4f19359835dc0314b7986243248"


def test_variables_of_ours_replace_those_of_the_same_name(made):
    container = {"name": "w", "image": "i", "env": [{"name": "A", "value": "1"}, {"name": "LWS_GROUP_SIZE"}]}
    template = {
        "workerTemplate": {"spec": {"containers": [container], "initContainers": [container | {"name": "i"}]}}
    }
    world = made(lws(template=template))
    spec = world.find(POD, "serve-0-1")["spec"]
    for item in (*spec["containers"], *spec["initContainers"]):
        names = [variable["name"] for variable in item["env"]]
        assert names == ["LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX", "A"]


# Groups, by provider and startup policy. What the whole replica requests is in all of them.

WHOLE = {"cpu": "2500m", "memory": "3Gi"}


@pytest.mark.parametrize(("policy", "minimum"), [("LeaderCreated", 3), ("LeaderReady", 1)])
def test_a_group_for_volcano(made, policy, minimum):
    annotations = {"scheduling.volcano.sh/queue-name": "q", "volcano.sh/x": "y", "other": "z"}
    world = made(lws("volcano", annotations, startupPolicy=policy))
    key = key_of(world)
    ((name, group),) = world.of(VOLCANO_POD_GROUP).items()
    assert name == f"serve-0-{key}"
    assert group["apiVersion"] == "scheduling.volcano.sh/v1beta1"
    assert labels_of(group) == {"name": "serve", "group-index": "0", "template-revision-hash": key}
    assert group["metadata"]["annotations"] == {"volcano.sh/x": "y"}
    assert group["spec"] == {"minMember": minimum, "minResources": WHOLE, "queue": "q"}
    assert owners(group) == [("Pod", "serve-0", True)]
    for pod in world.of(POD).values():
        assert pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == name


@pytest.mark.parametrize(("annotations", "kind"), [({}, VOLCANO_POD_GROUP), ({PROVIDER: "posse"}, POD_GROUP)])
def test_pods_that_name_volcano_get_groups_of_it_unless_the_set_says_otherwise(made, annotations, kind):
    obj = lws()
    obj["metadata"]["annotations"] = annotations
    obj["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["schedulerName"] = "volcano"
    world = made(obj)
    assert {group for group in (POD_GROUP, VOLCANO_POD_GROUP) if world.of(group)} == {kind}


def test_a_group_for_volcano_without_a_queue(made):
    (group,) = made(lws("volcano")).of(VOLCANO_POD_GROUP).values()
    assert "queue" not in group["spec"] or group["spec"]["queue"] == "default"
    assert "annotations" not in group["metadata"]


def test_what_pods_are_allowed_counts_where_they_do_not_say_what_they_request(made):
    limited = {"limits": {"cpu": "1", "nvidia.com/gpu": "8"}, "requests": {"cpu": "500m"}}
    warm_up = {"name": "init", "image": "i", "resources": {"limits": {"memory": "1Gi"}}}
    container = {"name": "c", "image": "i", "resources": limited}
    template = {"spec": {"initContainers": [warm_up], "containers": [container]}}
    world = made(lws("volcano", template={"leaderTemplate": template, "workerTemplate": template}))
    (group,) = world.of(VOLCANO_POD_GROUP).values()
    assert group["spec"]["minResources"] == {"cpu": "1500m", "memory": "3Gi", "nvidia.com/gpu": "24"}


@pytest.mark.parametrize(("policy", "minimum"), [("LeaderCreated", 3), ("LeaderReady", 1)])
def test_a_group_for_coscheduling(made, policy, minimum):
    world = made(lws("coscheduling", startupPolicy=policy))
    key = key_of(world)
    ((name, group),) = world.of(COSCHEDULING_POD_GROUP).items()
    assert name == f"serve-0-{key}"
    assert group["apiVersion"] == "scheduling.x-k8s.io/v1alpha1"
    assert group["spec"] == {"minMember": minimum, "minResources": WHOLE}
    assert owners(group) == [("Pod", "serve-0", True)]
    for pod in world.of(POD).values():
        assert pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] == name


@pytest.mark.parametrize(("policy", "minimum"), [("LeaderCreated", 3), ("LeaderReady", 1)])
def test_a_group_of_kubernetes_itself(made, policy, minimum):
    world = made(lws("posse", startupPolicy=policy))
    scheduling = {"schedulingPolicy": {"gang": {"minCount": minimum}}, "disruptionMode": {"all": {}}}
    workload = world.find(WORKLOAD, "serve")
    assert owners(workload) == [("LeaderWorkerSet", "serve", True)]
    assert workload["spec"] == {
        "controllerRef": {
            "apiGroup": "leaderworkerset.x-k8s.io",
            "kind": "LeaderWorkerSet",
            "name": "serve",
        },
        "podGroupTemplates": [{"name": "replica", **scheduling}],
    }
    ((name, group),) = world.of(POD_GROUP).items()
    uid = world.find(POD, "serve-0")["metadata"]["uid"]
    assert name == f"serve-0-{uid[:8]}"
    assert labels_of(group) == {"name": "serve", "group-index": "0", "template-revision-hash": key_of(world)}
    assert without(group["spec"], "priority", "preemptionPolicy") == {
        "workloadRef": {"workloadName": "serve", "templateName": "replica"},
        **scheduling,
    }
    assert owners(group) == [("Pod", "serve-0", True)]
    whole = {"scheduling.posse.dev/min-resources": json.dumps(WHOLE, separators=(",", ":"))}
    assert group["metadata"].get("annotations", {}) == (whole if minimum == 1 else {})
    for pod in world.of(POD).values():
        assert pod["spec"]["schedulingGroup"] == {"podGroupName": name}


def test_a_group_for_yunikorn_is_in_the_pods(made):
    annotations = {
        "yunikorn.apache.org/queue": "root.q",
        "yunikorn.apache.org/schedulingPolicyParameters": "a=b",
    }
    world = made(lws("yunikorn", annotations))
    application = f"serve-0-{key_of(world)}"
    groups = [
        {"name": "leader", "minMember": 1, "minResource": {"cpu": "500m"}},
        {"name": "worker", "minMember": 2, "minResource": {"cpu": "1", "memory": "1536Mi"}},
    ]
    assert set(world.of(POD)) == {"serve-0", "serve-0-1", "serve-0-2"}
    for name, pod in world.of(POD).items():
        labels, found = pod["metadata"]["labels"], pod["metadata"]["annotations"]
        assert labels["yunikorn.apache.org/app-id"] == application
        assert labels["yunikorn.apache.org/queue"] == "root.q"
        role = "leader" if name == "serve-0" else "worker"
        assert found["yunikorn.apache.org/task-group-name"] == role
        assert json.loads(found["yunikorn.apache.org/task-groups"]) == groups
        assert found["yunikorn.apache.org/schedulingPolicyParameters"] == "a=b"
    assert not world.of(POD_GROUP)


def test_equal_pods_are_one_task_group(made):
    world = made(lws("yunikorn", template={"leaderTemplate": None}))
    found = [pod["metadata"]["annotations"] for pod in world.of(POD).values()]
    assert {item["yunikorn.apache.org/task-group-name"] for item in found} == {"worker"}
    (groups,) = {item["yunikorn.apache.org/task-groups"] for item in found}
    assert [group["minMember"] for group in json.loads(groups)] == [3]


def test_one_by_one_there_is_no_group(made):
    world = made(lws("none"))
    assert not any(
        world.of(kind) for kind in (POD_GROUP, WORKLOAD, VOLCANO_POD_GROUP, COSCHEDULING_POD_GROUP)
    )
    assert all("schedulingGroup" not in pod["spec"] for pod in world.of(POD).values())


def test_a_priority_is_that_of_the_group():
    world = World(StatefulSetController, lambda: LeaderWorkerSetController(KINDS), nodes=0)
    world.service.create(PRIORITY_CLASS, "", {"metadata": {"name": "high"}, "value": 7})
    worker = {"spec": WORKER_TEMPLATE["spec"] | {"priorityClassName": "high"}}
    template = {"workerTemplate": worker, "leaderTemplate": None, "restartPolicy": "None"}
    world.create(LEADER_WORKER_SET, lws(template=template))
    world.settle()
    (group,) = world.of(POD_GROUP).values()
    assert (group["spec"]["priorityClassName"], group["spec"]["priority"]) == ("high", 7)
    assert group["spec"]["disruptionMode"] == {"single": {}}


# Subgroups and topology


@pytest.mark.parametrize(
    ("size", "part", "policy", "indexes"),
    [
        (4, 2, "LeaderWorker", ["0", "0", "1", "1"]),
        (5, 2, "LeaderWorker", ["0", "0", "0", "1", "1"]),
        (5, 2, "LeaderExcluded", [None, "0", "0", "1", "1"]),
        (4, 3, "LeaderExcluded", [None, "0", "0", "0"]),
        (4, 4, "LeaderWorker", ["0", "0", "0", "0"]),
    ],
)
def test_subgroups(made, size, part, policy, indexes):
    subgroups = {"subGroupSize": part, "subGroupPolicyType": policy}
    world = made(lws(template={"size": size, "subGroupPolicy": subgroups}))
    pods = [world.find(POD, "serve-0"), *(world.find(POD, f"serve-0-{worker}") for worker in range(1, size))]
    assert [labels_of(pod).get("subgroup-index") for pod in pods] == indexes
    keys = [labels_of(pod).get("subgroup-key") for pod in pods]
    assert keys == [index and subgroup_key("serve-0", int(index)) for index in indexes]
    assert all(annotations_of(pod)["subgroup-size"] == str(part) for pod in pods)


def terms(pod):
    affinity = pod["spec"].get("affinity", {})
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return affinity.get("podAffinity", {}).get(required), affinity.get("podAntiAffinity", {}).get(required)


def exclusive(label, value):
    own = {"key": LWS + label, "operator": "In", "values": [value]}
    others = [
        {"key": LWS + label, "operator": "Exists"},
        {"key": LWS + label, "operator": "NotIn", "values": [value]},
    ]
    return (
        [{"labelSelector": {"matchExpressions": [own]}, "topologyKey": "rack"}],
        [{"labelSelector": {"matchExpressions": others}, "topologyKey": "rack"}],
    )


def test_exclusive_gangs_look_for_their_domain_together(made):
    world = made(lws(annotations={f"{LWS}exclusive-topology": "rack"}))
    wanted = exclusive("group-key", group_key("default", "serve-0"))
    assert [terms(pod) for pod in world.of(POD).values()] == [wanted] * 3
    (group,) = world.of(POD_GROUP).values()
    assert group["spec"]["schedulingConstraints"] == {"topology": [{"key": "rack"}]}


def test_otherwise_exclusive_workers_follow_their_leader(made):
    world = made(lws("none", {f"{LWS}exclusive-topology": "host"}))
    assert set(world.of(POD)) == {"serve-0"}
    world.add_node("big", 8)
    world.settle()
    worker = world.find(POD, "serve-0-1")
    assert worker["spec"]["nodeSelector"] == {"host": "big"}
    assert terms(worker) == (None, None)


def test_exclusive_subgroups(made):
    policy = {"subGroupSize": 2}
    annotations = {f"{LWS}subgroup-exclusive-topology": "rack"}
    world = made(lws(annotations=annotations, template={"size": 4, "subGroupPolicy": policy}))
    for name, index in (("serve-0", 0), ("serve-0-1", 0), ("serve-0-2", 1)):
        assert terms(world.find(POD, name)) == exclusive("subgroup-key", subgroup_key("serve-0", index))


def test_claims_go_to_leaders_and_workers(made):
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    claim["spec"]["resources"] = {"requests": {"storage": "1Gi"}}
    retention = {"whenDeleted": "Delete"}
    template = {"volumeClaimTemplates": [claim], "persistentVolumeClaimRetentionPolicy": retention}
    world = made(lws(template=template))
    for name in ("serve", "serve-0"):
        spec = world.find(STATEFUL_SET, name)["spec"]
        assert spec["volumeClaimTemplates"][0]["metadata"]["name"] == "data"
        assert spec["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Delete"
    (volume,) = world.find(POD, "serve-0-1")["spec"]["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == "data-serve-0-1"


def test_a_claim_that_the_pods_of_a_replica_share_is_a_claim_of_its_group(made):
    shared = {"name": "fabric", "resourceClaimTemplateName": "channel"}
    own = {"name": "gpu", "resourceClaimTemplateName": "gpu"}
    obj = lws(annotations={"scheduling.posse.dev/shared-claims": "fabric"})
    for part in ("leaderTemplate", "workerTemplate"):
        obj["spec"]["leaderWorkerTemplate"][part]["spec"]["resourceClaims"] = [shared, own]
    world = made(obj)
    for group in world.of(POD_GROUP).values():
        assert group["spec"]["resourceClaims"] == [shared]
    (workload,) = world.of(WORKLOAD).values()
    assert workload["spec"]["podGroupTemplates"][0]["resourceClaims"] == [shared]
    for name in ("serve-0", "serve-0-1"):
        assert world.find(POD, name)["spec"]["resourceClaims"] == [shared, own]


# TPUs


def tpu_template(name):
    resources = {"limits": {"google.com/tpu": "4"}, "requests": {"google.com/tpu": "4"}}
    return {"spec": {"containers": [{"name": name, "image": "i", "resources": resources}]}}


def tpu_variables(pod):
    variables = {item["name"]: item["value"] for item in pod["spec"]["containers"][0]["env"]}
    return variables.get("TPU_WORKER_ID"), variables.get("TPU_WORKER_HOSTNAMES")


def test_hosts_of_tpus_are_told_of_each_other(made):
    world = made(lws(template={"leaderTemplate": None, "workerTemplate": tpu_template("w")}))
    hosts = "serve-0.serve,serve-0-1.serve,serve-0-2.serve"
    found = [tpu_variables(world.find(POD, name)) for name in ("serve-0", "serve-0-1", "serve-0-2")]
    assert found == [("0", hosts), ("1", hosts), ("2", hosts)]
    assert world.find(POD, "serve-0-1")["metadata"]["annotations"][f"{LWS}leader-requests-tpus"] == "true"
    variables = world.find(POD, "serve-0")["spec"]["containers"][0]["env"]
    assert {"name": "TPU_PROCESS_PORT", "value": "8476"} in variables


def test_a_leader_without_tpus_is_no_host(made):
    world = made(lws(template={"workerTemplate": tpu_template("w")}))
    hosts = "serve-0-1.serve,serve-0-2.serve"
    assert tpu_variables(world.find(POD, "serve-0")) == (None, None)
    assert tpu_variables(world.find(POD, "serve-0-2")) == ("1", hosts)


def test_the_hosts_of_tpus_are_those_of_a_subgroup(made):
    template = {"leaderTemplate": None, "workerTemplate": tpu_template("w"), "size": 4}
    world = made(lws(template=template | {"subGroupPolicy": {"subGroupSize": 2}}))
    assert tpu_variables(world.find(POD, "serve-0-1")) == ("1", "serve-0.serve,serve-0-1.serve")
    assert tpu_variables(world.find(POD, "serve-0-3")) == ("1", "serve-0-2.serve,serve-0-3.serve")
