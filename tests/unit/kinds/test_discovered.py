"""Which form a cluster has and which versions to speak, from documents as clusters of several releases give them."""

import pytest

from posse.apiserver.http.discovery import documents
from posse.kinds.discovered import GROUPS_PATH, ClusterForm, Discovered, paths_to_ask
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    COSCHEDULING_POD_GROUP,
    KINDS,
    NODE,
    POD,
    POD_GROUP,
    POSSE_POD_GROUP,
    POSSE_WORKLOAD,
    PRIORITY_CLASS,
    VOLCANO_POD_GROUP,
    WORKLOAD,
)

CORE = ("v1", "pods", "pods/status", "pods/binding", "nodes")
PRIORITIES = ("scheduling.k8s.io/v1", "priorityclasses")
POSSE = ("scheduling.posse.dev/v1alpha1", "workloads", "podgroups", "podgroups/status", "compositepodgroups")


def discovered(*served):
    return Discovered(
        {
            "kind": "APIResourceList",
            "groupVersion": group_version,
            "resources": [{"name": name} for name in names],
        }
        for group_version, *names in served
    )


@pytest.mark.parametrize(
    ("served", "workload", "pod_group", "composite"),
    [
        pytest.param(
            [
                ("scheduling.k8s.io/v1beta1", "workloads", "podgroups", "podgroups/status"),
                ("scheduling.k8s.io/v1alpha3", "workloads", "podgroups", "compositepodgroups"),
            ],
            "v1beta1",
            "v1beta1",
            "v1alpha3",
            id="1.37",
        ),
        pytest.param(
            [("scheduling.k8s.io/v1alpha3", "workloads", "podgroups")],
            "v1alpha3",
            "v1alpha3",
            None,
            id="1.37 without beta and without hierarchies",
        ),
        pytest.param(
            [("scheduling.k8s.io/v1alpha2", "workloads", "podgroups")],
            "v1alpha2",
            "v1alpha2",
            None,
            id="1.36",
        ),
        pytest.param([("scheduling.k8s.io/v1alpha1", "workloads")], "v1alpha1", None, None, id="1.35"),
    ],
)
def test_the_newest_version_of_each_native_kind_is_spoken(served, workload, pod_group, composite):
    found = discovered(CORE, PRIORITIES, *served)
    assert found.form is ClusterForm.NATIVE
    assert found.version_of(WORKLOAD) == workload
    assert found.version_of(POD_GROUP) == pod_group
    assert found.version_of(COMPOSITE_POD_GROUP) == composite
    assert found.version_of(POSSE_POD_GROUP) is None


def test_priority_classes_alone_are_no_groups():
    found = discovered(CORE, PRIORITIES)
    assert found.form is None
    assert found.version_of(PRIORITY_CLASS) == "v1"
    assert found.version_of(POD) == "v1"


def test_kinds_that_posse_brought_along():
    found = discovered(CORE, PRIORITIES, POSSE)
    assert found.form is ClusterForm.CRD
    assert found.version_of(POSSE_POD_GROUP) == "v1alpha1"
    assert found.version_of(POSSE_WORKLOAD) == "v1alpha1"
    assert found.version_of(POD_GROUP) is None


def test_an_upgraded_cluster_has_both_and_is_native():
    found = discovered(CORE, ("scheduling.k8s.io/v1beta1", "workloads", "podgroups"), POSSE)
    assert found.form is ClusterForm.NATIVE
    assert found.version_of(POSSE_POD_GROUP) == "v1alpha1"


def test_groups_of_other_projects_are_seen_and_make_no_form():
    found = discovered(CORE, ("scheduling.x-k8s.io/v1alpha1", "podgroups"))
    assert found.form is None
    assert found.version_of(COSCHEDULING_POD_GROUP) == "v1alpha1"
    assert found.version_of(VOLCANO_POD_GROUP) is None


def test_a_subresource_is_no_resource():
    assert discovered(("v1", "nodes/status")).version_of(NODE) is None


def test_only_documents_about_known_kinds_are_asked_for():
    groups = {
        "groups": [
            {"name": "autoscaling", "versions": [{"groupVersion": "autoscaling/v2"}]},
            {
                "name": "scheduling.k8s.io",
                "versions": [
                    {"groupVersion": "scheduling.k8s.io/v1"},
                    {"groupVersion": "scheduling.k8s.io/v1alpha9"},
                ],
            },
        ]
    }
    assert paths_to_ask(groups) == ["/api/v1", "/apis/scheduling.k8s.io/v1"]


def test_the_embedded_cluster_is_understood_in_every_kind():
    served = documents(KINDS)
    found = Discovered(served[path] for path in paths_to_ask(served[GROUPS_PATH]))
    assert {kind.group_resource: found.version_of(kind) for kind in KINDS} == {
        kind.group_resource: kind.versions[0] for kind in KINDS
    }
