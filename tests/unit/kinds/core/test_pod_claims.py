"""The device claims of a pod: entries, references of containers, status."""

import pytest

from posse.kinds.registry import POD

PODLET = {
    "metadata": {"name": "p", "namespace": "ns"},
    "spec": {
        "containers": [{"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}],
    },
}


def with_claims(*claims):
    return {"spec": {"resourceClaims": list(claims)}}


def with_references(*references):
    container = PODLET["spec"]["containers"][0] | {"resources": {"claims": list(references)}}
    return {"spec": {"containers": [container]}}


def test_a_pod_with_a_claim(problems):
    assert problems(POD, PODLET) == []


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        (
            with_claims({"name": "gpu"}),
            (
                'spec.resourceClaims[0]: Invalid value: {"name":"gpu"}: '
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            ),
        ),
        (
            with_claims({"name": "gpu", "resourceClaimName": "c"}, {"name": "gpu", "resourceClaimName": "c"}),
            'spec.resourceClaims[1].name: Duplicate value: "gpu"',
        ),
        (
            with_references({"name": "nic"}),
            (
                'spec.containers[0].resources.claims[0]: Not found: "nic": '
                "must be one of the names in pod.spec.resourceClaims: gpu"
            ),
        ),
        (
            with_references({"name": "gpu"}, {"name": "gpu", "request": "r"}),
            'spec.containers[0].resources.claims[1]: Duplicate value: "gpu/r"',
        ),
    ],
)
def test_bad_claims(problems, patch, problem):
    assert problems(POD, PODLET, patch) == [problem]


def test_the_status_names_entries_of_the_pod(update_problems):
    statuses = [{"name": "gpu", "resourceClaimName": "p-gpu-abcde"}]
    assert update_problems(POD, PODLET, {"status": {"resourceClaimStatuses": statuses}}) == []
    assert update_problems(POD, PODLET, {"status": {"resourceClaimStatuses": [{"name": "nic"}]}}) == [
        (
            'status.resourceClaimStatuses[0].name: Invalid value: "nic": '
            "must match the name of an entry in `spec.resourceClaims`"
        )
    ]
