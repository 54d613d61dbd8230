"""What kubectl tells a person whose manifest or command is wrong."""

import pytest

pytestmark = pytest.mark.kubectl

GROUP = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: training}
spec:
  schedulingPolicy: POLICY
"""


def refused_group(kubectl, policy: str) -> str:
    return kubectl.refused("apply -f -", manifest=GROUP.replace("POLICY", policy))


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (
            "{basic: {}, gang: {minCount: 2}}",
            'spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`',
        ),
        ("{}", 'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'),
        ("{gang: {minCount: 0}}", "spec.schedulingPolicy.gang.minCount: Required value"),
        ("{gang: {}}", "spec.schedulingPolicy.gang.minCount: Required value"),
        (
            "{gang: {minCount: -1}}",
            "spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1",
        ),
    ],
)
def test_policies_that_mean_nothing(kubectl, policy, expected):
    told = refused_group(kubectl, policy)
    assert 'The PodGroup "training" is invalid' in told
    assert expected in told
    assert kubectl("get podgroups -o name") == ""


def test_a_value_of_the_wrong_type(kubectl):
    told = refused_group(kubectl, "{gang: {minCount: two}}")
    assert "BadRequest" in told
    assert "spec.schedulingPolicy.gang.minCount" in told


def test_a_misspelt_field_is_found_before_anything_is_stored(kubectl):
    told = refused_group(kubectl, "{gang: {minCuont: 2, minCount: 2}}")
    assert 'strict decoding error: unknown field "spec.schedulingPolicy.gang.minCuont"' in told
    assert kubectl("get podgroups -o name") == ""


def test_a_misspelt_field_is_only_warned_about_without_validation(kubectl):
    manifest = GROUP.replace("POLICY", "{gang: {minCuont: 2, minCount: 2}}")
    result = kubectl.run("apply", "--validate=warn", "-f", "-", manifest=manifest)
    assert result.returncode == 0
    assert 'Warning: unknown field "spec.schedulingPolicy.gang.minCuont"' in result.stderr


def test_kinds_and_versions_that_are_not_served(kubectl):
    manifest = GROUP.replace("PodGroup", "PodGang").replace("POLICY", "{}")
    assert 'no matches for kind "PodGang"' in kubectl.refused("apply -f -", manifest=manifest)
    old = GROUP.replace("v1beta1", "v1alpha9").replace("POLICY", "{}")
    assert 'in version "scheduling.k8s.io/v1alpha9"' in kubectl.refused("apply -f -", manifest=old)
    assert 'the server doesn\'t have a resource type "gadgets"' in kubectl.refused("get gadgets")


def test_objects_and_namespaces_that_are_not_there(kubectl):
    assert 'podgroups.scheduling.k8s.io "nobody" not found' in kubectl.refused("get podgroup nobody")
    manifest = GROUP.replace("POLICY", "{basic: {}}")
    told = kubectl.refused("create -n nowhere -f -", manifest=manifest)
    assert 'namespaces "nowhere" not found' in told


def test_what_exists_already(kubectl):
    manifest = GROUP.replace("POLICY", "{basic: {}}")
    kubectl("create -f -", manifest=manifest)
    assert "AlreadyExists" in kubectl.refused("create -f -", manifest=manifest)


def test_what_cannot_be_changed_any_more(kubectl):
    kubectl("apply -f -", manifest=GROUP.replace("POLICY", "{gang: {minCount: 2}}"))
    told = refused_group(kubectl, "{basic: {}}")
    assert "spec.schedulingPolicy.gang" in told
    assert "field cannot be cleared once set" in told


def test_a_priority_class_that_does_not_exist(kubectl):
    manifest = GROUP.replace("POLICY", "{basic: {}}\n  priorityClassName: none-such")
    assert "no PriorityClass with name none-such was found" in kubectl.refused(
        "apply -f -", manifest=manifest
    )


def test_a_wrong_token(kubectl):
    assert "You must be logged in to the server" in kubectl.refused("get pods --token=wrong-wrong-wrong")
