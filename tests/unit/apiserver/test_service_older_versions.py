"""Workloads and groups written and read through older versions: nothing is lost, and errors speak the caller's version."""

import copy

import pytest

from posse.kinds.machinery.conversion import to_version
from posse.kinds.registry import POD_GROUP, WORKLOAD
from posse.transport.patches import Patch

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
GANG = {"gang": {"minCount": 2}}


def workload(version="v1alpha1", **spec):
    return {
        "apiVersion": f"scheduling.k8s.io/{version}",
        "kind": "Workload",
        "metadata": {"name": "w"},
        "spec": spec,
    }


def group(version="v1alpha2", **spec):
    return {
        "apiVersion": f"scheduling.k8s.io/{version}",
        "kind": "PodGroup",
        "metadata": {"name": "g"},
        "spec": {"schedulingPolicy": GANG, **spec},
    }


@pytest.fixture
def rich_workload(service):
    """One that says more than older versions can."""
    template = {
        "name": "a",
        "schedulingPolicy": GANG,
        "disruptionMode": {"all": {}},
        "preemptionPolicy": "Never",
        "priority": 7,
        "schedulingConstraints": {"topology": [{"key": "rack"}]},
    }
    other = {"name": "b", "schedulingPolicy": {"basic": {}}, "preemptionPolicy": "Never", "priority": 7}
    return service.create(WORKLOAD, "default", workload("v1beta1", podGroupTemplates=[template, other]))


def problem(error):
    return [(cause["field"], cause["message"]) for cause in error.details["causes"]]


def test_a_workload_of_1_35_is_stored_in_the_newest_shape(service):
    created = service.create(
        WORKLOAD, "default", workload(podGroups=[{"name": "pg1", "policy": {"gang": {"minCount": 100}}}])
    )
    assert created["apiVersion"] == "scheduling.k8s.io/v1beta1"
    template = {"name": "pg1", "schedulingPolicy": {"gang": {"minCount": 100}}}
    assert created["spec"] == {"podGroupTemplates": [template]}


def test_what_an_older_version_cannot_say_survives_an_update_through_it(service, rich_workload):
    for version in ("v1alpha1", "v1alpha2"):
        seen = copy.deepcopy(to_version(WORKLOAD, service.get(WORKLOAD, "default", "w"), version))
        seen["metadata"]["labels"] = {"through": version}
        updated = service.update(WORKLOAD, "default", "w", seen)
        assert updated["spec"] == rich_workload["spec"]
        assert updated["metadata"]["labels"] == {"through": version}


def test_what_an_older_version_cannot_say_survives_a_patch_through_it(service, rich_workload):
    body = {"metadata": {"labels": {"a": "1"}}}
    for media_type in (MERGE, STRATEGIC):
        patched = service.patch(WORKLOAD, "default", "w", Patch(media_type, body, "v1alpha1"))
        assert patched["spec"] == rich_workload["spec"]


def test_a_tree_of_templates_survives_a_version_without_trees(service):
    leaf = {"name": "leaf", "schedulingPolicy": GANG}
    branch = {"name": "tree", "schedulingPolicy": {"basic": {}}, "podGroupTemplates": [leaf]}
    made = service.create(WORKLOAD, "default", workload("v1beta1", compositePodGroupTemplates=[branch]))
    assert to_version(WORKLOAD, made, "v1alpha1")["spec"] == {}
    patch = Patch(MERGE, {"metadata": {"labels": {"a": "1"}}}, "v1alpha1")
    assert service.patch(WORKLOAD, "default", "w", patch)["spec"] == made["spec"]


@pytest.mark.parametrize(
    ("groups", "causes"),
    [
        ([], [("spec.podGroups", "Required value: must have at least one item")]),
        (
            [{"name": "a", "policy": {}}],
            [("spec.podGroups[0].policy", "Required value: exactly one of `basic`, `gang` is required")],
        ),
        (
            [{"name": "a", "policy": {"basic": {}, **GANG}}],
            [
                (
                    "spec.podGroups[0].policy",
                    (
                        'Invalid value: "{`basic`, `gang`}": exactly one of `basic`, `gang` is required, '
                        "but multiple fields are set"
                    ),
                )
            ],
        ),
        (
            [{"name": "a", "policy": {"gang": {}}}],
            [("spec.podGroups[0].policy.gang.minCount", "Required value")],
        ),
        (
            [{"name": "a", "policy": {"gang": {"minCount": -1}}}],
            [
                (
                    "spec.podGroups[0].policy.gang.minCount",
                    "Invalid value: -1: must be greater than or equal to 1",
                )
            ],
        ),
        (
            [{"name": "a", "policy": GANG}] * 2,
            [
                (
                    "spec.podGroups[1]",
                    'Duplicate value: {"name":"a","policy":{"gang":{"minCount":2}}}',
                )
            ],
        ),
        (
            [{"name": f"g{number}", "policy": GANG} for number in range(9)],
            [("spec.podGroups", "Too many: 9: must have at most 8 items")],
        ),
    ],
)
def test_errors_name_the_fields_of_1_35(service, refused, groups, causes):
    error = refused(service.create, WORKLOAD, "default", workload(podGroups=groups))
    assert (error.code, problem(error)) == (422, causes)


def test_in_1_35_groups_are_fixed_but_the_controller_may_come_late(service, refused):
    service.create(WORKLOAD, "default", workload(podGroups=[{"name": "a", "policy": GANG}]))
    more = {"spec": {"podGroups": [{"name": "a", "policy": {"gang": {"minCount": 3}}}]}}
    error = refused(service.patch, WORKLOAD, "default", "w", Patch(MERGE, more, "v1alpha1"))
    assert problem(error) == [("spec.podGroups", "Invalid value: null: field is immutable")]

    nameless = {"spec": {"controllerRef": {"kind": "Job"}}}
    error = refused(service.patch, WORKLOAD, "default", "w", Patch(MERGE, nameless, "v1alpha1"))
    assert problem(error) == [("spec.controllerRef.name", "Required value")]

    job = {"apiGroup": "batch", "kind": "Job", "name": "j"}
    late = {"spec": {"controllerRef": job}}
    error = refused(service.patch, WORKLOAD, "default", "w", Patch(MERGE, late, "v1beta1"))
    assert problem(error)[0][0] == "spec.controllerRef"
    patched = service.patch(WORKLOAD, "default", "w", Patch(MERGE, late, "v1alpha1"))
    assert patched["spec"]["controllerRef"] == job

    other = {"spec": {"controllerRef": {"name": "other"}}}
    error = refused(service.patch, WORKLOAD, "default", "w", Patch(MERGE, other, "v1alpha1"))
    assert problem(error) == [("spec.controllerRef", "Invalid value: null: field is immutable")]


def test_the_size_of_a_gang_may_change_only_through_versions_that_allow_it(service, refused):
    service.create(POD_GROUP, "default", group())
    grown = {"spec": {"schedulingPolicy": {"gang": {"minCount": 5}}}}
    error = refused(service.patch, POD_GROUP, "default", "g", Patch(MERGE, grown, "v1alpha2"))
    assert problem(error) == [("spec.schedulingPolicy", "Invalid value: null: field is immutable")]
    patched = service.patch(POD_GROUP, "default", "g", Patch(MERGE, grown, "v1alpha3"))
    assert patched["spec"]["schedulingPolicy"] == grown["spec"]["schedulingPolicy"]


def test_a_group_of_1_36_is_stored_in_the_newest_shape(service):
    reference = {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}}
    sent = group(podGroupTemplateRef=reference, disruptionMode="PodGroup")
    stored = service.create(POD_GROUP, "default", sent)
    assert stored["spec"]["workloadRef"] == {"workloadName": "w", "templateName": "t"}
    assert stored["spec"]["disruptionMode"] == {"all": {}}
    seen = to_version(POD_GROUP, stored, "v1alpha2")["spec"]
    assert (seen["podGroupTemplateRef"], seen["disruptionMode"]) == (reference, "PodGroup")
    assert "preemptionPolicy" not in seen


def test_the_default_of_1_36_is_to_disrupt_pods(service):
    stored = service.create(POD_GROUP, "default", group())
    assert to_version(POD_GROUP, stored, "v1alpha2")["spec"]["disruptionMode"] == "Pod"


@pytest.mark.parametrize("word", ["single", "all", "Everything", ""])
def test_words_of_other_versions_mean_nothing_in_1_36(service, refused, word):
    error = refused(service.create, POD_GROUP, "default", group(disruptionMode=word))
    text = f'Unsupported value: "{word}": supported values: "Pod", "PodGroup"'
    assert problem(error) == [("spec.disruptionMode", text)]


def test_errors_name_the_fields_of_1_36(service, refused):
    reference = {"workload": {"workloadName": "w"}}
    error = refused(service.create, POD_GROUP, "default", group(podGroupTemplateRef=reference))
    field = "spec.podGroupTemplateRef.workload.podGroupTemplateName"
    assert problem(error) == [(field, "Required value")]
    error = refused(service.create, WORKLOAD, "default", workload("v1alpha2", podGroupTemplates=[]))
    assert problem(error) == [("spec.podGroupTemplates", "Required value: must have at least one item")]
    template = {"name": "a", "schedulingPolicy": GANG, "disruptionMode": "All"}
    error = refused(service.create, WORKLOAD, "default", workload("v1alpha2", podGroupTemplates=[template]))
    assert problem(error)[0][0] == "spec.podGroupTemplates[0].disruptionMode"


def test_conditions_have_the_name_of_the_version(service):
    service.create(POD_GROUP, "default", group())
    condition = {
        "type": "PodGroupScheduled",
        "status": "True",
        "reason": "Scheduled",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    patch = Patch(STRATEGIC, {"status": {"conditions": [condition]}}, "v1alpha2")
    for _ in range(2):
        stored = service.patch(POD_GROUP, "default", "g", patch, subresource="status")
        assert [item["type"] for item in stored["status"]["conditions"]] == ["PodGroupInitiallyScheduled"]
    assert to_version(POD_GROUP, stored, "v1alpha2")["status"]["conditions"] == [condition]


def test_the_status_subresource_of_an_older_version_does_not_judge_the_spec(service):
    service.create(POD_GROUP, "default", group())
    seen = copy.deepcopy(to_version(POD_GROUP, service.get(POD_GROUP, "default", "g"), "v1alpha2"))
    seen["spec"] = {"schedulingPolicy": {"basic": {}}, "disruptionMode": "All"}
    updated = service.update(POD_GROUP, "default", "g", seen, subresource="status")
    assert updated["spec"]["schedulingPolicy"] == GANG


def test_how_many_members_a_basic_group_expects_is_known_to_every_version(service):
    basic = {"basic": {"desiredCount": 3}}
    service.create(WORKLOAD, "default", workload(podGroups=[{"name": "a", "policy": basic}]))
    stored = service.get(WORKLOAD, "default", "w")
    assert stored["spec"]["podGroupTemplates"] == [{"name": "a", "schedulingPolicy": basic}]
    assert to_version(WORKLOAD, stored, "v1alpha1")["spec"]["podGroups"] == [{"name": "a", "policy": basic}]
    made = service.create(POD_GROUP, "default", group(schedulingPolicy=basic))
    assert to_version(POD_GROUP, made, "v1alpha2")["spec"]["schedulingPolicy"] == basic
