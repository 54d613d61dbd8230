"""What is decided by looking at the rest of the cluster."""

import pytest

from posse.kinds.admission import admit_create, admit_delete, admit_update
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import COMPOSITE_POD_GROUP, CONFIG_MAP, NAMESPACE, POD, POD_GROUP, PRIORITY_CLASS


def priority_class(name, value, **fields):
    return {"metadata": {"name": name}, "value": value, "preemptionPolicy": "PreemptLowerPriority", **fields}


class Cluster:
    def __init__(self, *classes):
        self.classes = {item["metadata"]["name"]: item for item in classes}
        self.namespaces = {
            "ns": {"metadata": {"name": "ns"}},
            "going": {"metadata": {"name": "going", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
        }

    def get(self, kind, namespace, name):
        return (self.namespaces if kind is NAMESPACE else self.classes).get(name)

    def list(self, kind, namespace):
        return list(self.classes.values()) if kind is PRIORITY_CLASS else []


CLUSTER = Cluster(
    priority_class("high", 1000),
    priority_class("quiet", 10, preemptionPolicy="Never"),
    {"metadata": {"name": "bare"}},
)


def obj(namespace="ns", **spec):
    return {"metadata": {"name": "x", "namespace": namespace}, "spec": spec}


def refusal(kind, item, cluster=CLUSTER):
    with pytest.raises(ApiError) as caught:
        admit_create(kind, item, cluster)
    return caught.value


def test_namespace_must_exist():
    error = refusal(CONFIG_MAP, obj("missing"))
    assert (error.code, error.message) == (404, 'namespaces "missing" not found')


def test_namespace_must_not_be_going():
    error = refusal(CONFIG_MAP, obj("going"))
    assert (error.code, error.reason) == (403, "Forbidden")
    assert error.message == (
        'configmaps "x" is forbidden: unable to create new content in namespace going because it is being terminated'
    )


PRIORITISED = {
    "no class": (CLUSTER, {}, {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}),
    "class": (
        CLUSTER,
        {"priorityClassName": "high"},
        {"priorityClassName": "high", "priority": 1000, "preemptionPolicy": "PreemptLowerPriority"},
    ),
    "class that never preempts": (
        CLUSTER,
        {"priorityClassName": "quiet", "preemptionPolicy": "Never", "priority": 10},
        {"priorityClassName": "quiet", "priority": 10, "preemptionPolicy": "Never"},
    ),
    "class without anything": (
        CLUSTER,
        {"priorityClassName": "bare"},
        {"priorityClassName": "bare", "priority": 0, "preemptionPolicy": "PreemptLowerPriority"},
    ),
    "lowest of several defaults": (
        Cluster(
            priority_class("b", 7, globalDefault=True),
            priority_class("a", 9, globalDefault=True),
            priority_class("c", 1),
        ),
        {},
        {"priorityClassName": "b", "priority": 7, "preemptionPolicy": "PreemptLowerPriority"},
    ),
}


@pytest.mark.parametrize("kind", [POD, POD_GROUP, COMPOSITE_POD_GROUP], ids=lambda kind: kind.name)
@pytest.mark.parametrize(("cluster", "spec", "expected"), PRIORITISED.values(), ids=PRIORITISED.keys())
def test_priority_is_resolved(kind, cluster, spec, expected):
    item = obj(**spec)
    admit_create(kind, item, cluster)
    assert {name: item["spec"][name] for name in expected} == expected
    assert ("priorityClassName" in item["spec"]) == ("priorityClassName" in expected)


REFUSED = {
    "unknown class": (
        POD_GROUP,
        {"priorityClassName": "nope"},
        'podgroups.scheduling.k8s.io "x" is forbidden: no PriorityClass with name nope was found',
    ),
    "pod priority": (
        POD,
        {"priorityClassName": "high", "priority": 1},
        (
            'pods "x" is forbidden: the integer value of priority (1) must not be provided in pod spec; '
            "priority admission controller computed 1000 from the given PriorityClass name"
        ),
    ),
    "group priority": (
        POD_GROUP,
        {"priority": 7},
        (
            'podgroups.scheduling.k8s.io "x" is forbidden: priority set in the pod group (7) must match the priority '
            "computed (0) based on the priority class set in the spec"
        ),
    ),
    "composite priority": (
        COMPOSITE_POD_GROUP,
        {"priority": 7},
        (
            'compositepodgroups.scheduling.k8s.io "x" is forbidden: priority set in the composite pod group (7) must '
            "match the priority computed (0) based on the priority class set in the spec"
        ),
    ),
    "group policy": (
        POD_GROUP,
        {"priorityClassName": "quiet", "preemptionPolicy": "PreemptLowerPriority"},
        (
            'podgroups.scheduling.k8s.io "x" is forbidden: the string value of PreemptionPolicy '
            "(PreemptLowerPriority) must not be provided in pod group spec; priority admission controller computed "
            "Never from the given PriorityClass name"
        ),
    ),
}


@pytest.mark.parametrize(("kind", "spec", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_priorities(kind, spec, message):
    error = refusal(kind, obj(**spec))
    assert (error.code, error.message) == (403, message)


def test_a_group_that_states_no_policy_takes_that_of_its_class():
    group = obj(priorityClassName="quiet")
    POD_GROUP.rules.default(group)
    admit_create(POD_GROUP, group, CLUSTER)
    assert group["spec"]["preemptionPolicy"] == "Never"


def test_name_in_errors_may_be_generated_later():
    item = {"metadata": {"generateName": "x-", "namespace": "ns"}, "spec": {"priorityClassName": "nope"}}
    assert refusal(POD, item).message.startswith('pods "x-" is forbidden')


def test_pod_groups_are_protected_once():
    group = obj()
    admit_create(POD_GROUP, group, CLUSTER)
    admit_create(POD_GROUP, group, CLUSTER)
    assert group["metadata"]["finalizers"] == ["scheduling.k8s.io/podgroup-protection"]
    composite = obj()
    admit_create(COMPOSITE_POD_GROUP, composite, CLUSTER)
    assert composite["metadata"]["finalizers"] == ["scheduling.k8s.io/podgroup-protection"]


def failing(taint):
    return {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


NOT_READY, UNREACHABLE = failing("node.kubernetes.io/not-ready"), failing("node.kubernetes.io/unreachable")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], [NOT_READY, UNREACHABLE]),
        ([{"key": "a"}], [{"key": "a"}, NOT_READY, UNREACHABLE]),
        ([{"operator": "Exists"}], [{"operator": "Exists"}]),
        (
            [{"operator": "Exists", "effect": "NoSchedule"}],
            [{"operator": "Exists", "effect": "NoSchedule"}, NOT_READY, UNREACHABLE],
        ),
        ([NOT_READY | {"tolerationSeconds": 5}], [NOT_READY | {"tolerationSeconds": 5}, UNREACHABLE]),
    ],
)
def test_pods_stay_a_while_on_failing_nodes(given, expected):
    pod = obj(tolerations=given, nodeName="n1")
    admit_create(POD, pod, CLUSTER)
    assert pod["spec"]["tolerations"] == expected
    assert pod["spec"]["nodeName"] == "n1"


def test_one_default_class_only():
    cluster = Cluster(priority_class("a", 1, globalDefault=True))
    other = priority_class("b", 1, globalDefault=True)
    text = (
        'priorityclasses.scheduling.k8s.io "b" is forbidden: PriorityClass a is already marked as default. '
        "Only one default can exist"
    )
    assert refusal(PRIORITY_CLASS, other, cluster).message == text
    with pytest.raises(ApiError, match="already marked as default"):
        admit_update(PRIORITY_CLASS, other, cluster)
    admit_update(PRIORITY_CLASS, priority_class("a", 1, globalDefault=True), cluster)
    admit_create(PRIORITY_CLASS, priority_class("c", 1), cluster)


def test_some_namespaces_stay():
    with pytest.raises(
        ApiError, match='namespaces "default" is forbidden: this namespace may not be deleted'
    ):
        admit_delete(NAMESPACE, "default")
    admit_delete(NAMESPACE, "team")
    admit_delete(POD, "default")
