"""ResourceClaim and its template: defaults, rules for the spec, and what the status may become."""

import copy

import pytest

from posse.kinds.registry import RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE

CLAIM = {
    "metadata": {"name": "claim", "namespace": "ns"},
    "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}},
}
RESULT = {"request": "gpu", "driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0"}
POD = {"resource": "pods", "name": "p", "uid": "1"}
ALLOCATED = CLAIM | {"status": {"allocation": {"devices": {"results": [RESULT]}}, "reservedFor": [POD]}}
REFERENCE = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)


def asking(**exactly):
    return {"name": "gpu", "exactly": {"deviceClassName": "gpu", **exactly}}


def devices(**fields):
    return {"spec": {"devices": fields}}


def test_one_device_is_the_default():
    claim = copy.deepcopy(CLAIM)
    RESOURCE_CLAIM.rules.default(claim)
    [request] = claim["spec"]["devices"]["requests"]
    assert request["exactly"] == {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}


def test_good_claims(problems):
    alternatives = [{"name": "big", "deviceClassName": "big"}, {"name": "small", "deviceClassName": "small"}]
    requests = [asking(count=2), {"name": "any", "firstAvailable": alternatives}]
    constraints = [{"requests": ["gpu", "any/big"], "matchAttribute": "example.com/numa"}]
    config = [{"requests": ["gpu"], "opaque": {"driver": "gpu.example.com", "parameters": {"a": 1}}}]
    patch = devices(requests=requests, constraints=constraints, config=config)
    assert problems(RESOURCE_CLAIM, CLAIM, patch) == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"requests": []}, "requests: Required value"),
        (
            {"requests": [{"name": "gpu"}]},
            "requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
        ),
        ({"requests": [asking(deviceClassName="")]}, "requests[0].exactly.deviceClassName: Required value"),
        (
            {"requests": [asking(allocationMode="All", count=1)]},
            "requests[0].exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'",
        ),
        (
            {"requests": [asking(count=-1)]},
            "requests[0].exactly.count: Invalid value: -1: must be greater than zero",
        ),
        (
            {"requests": [asking(allocationMode="Some")]},
            'requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
        ),
        ({"requests": [asking(selectors=[{}])]}, "requests[0].exactly.selectors[0].cel: Required value"),
        (
            {"requests": [asking(tolerations=[{"operator": "Exists", "key": "a", "value": "b"}])]},
            'requests[0].exactly.tolerations[0].value: Invalid value: "b": must be empty for operator `Exists`',
        ),
        ({"requests": [asking(), asking()]}, 'requests[1]: Duplicate value: "gpu"'),
        (
            {"constraints": [{"requests": ["cpu"], "matchAttribute": "example.com/numa"}]},
            f'constraints[0].requests[0]: Invalid value: "cpu": {REFERENCE}',
        ),
        (
            {"constraints": [{"matchAttribute": "numa"}]},
            (
                'constraints[0].matchAttribute: Invalid value: "numa": '
                "a fully qualified name must be a domain and a name separated by a slash"
            ),
        ),
        ({"config": [{}]}, "config[0].opaque: Required value"),
        (
            {"config": [{"opaque": {"driver": "gpu.example.com", "parameters": 3}}]},
            'config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
        ),
    ],
)
def test_bad_claims(problems, fields, problem):
    assert problems(RESOURCE_CLAIM, CLAIM, devices(**fields)) == [f"spec.devices.{problem}"]


def test_templates_are_judged_like_claims(problems):
    template = {"metadata": {"name": "t", "namespace": "ns"}, "spec": {"spec": CLAIM["spec"]}}
    assert problems(RESOURCE_CLAIM_TEMPLATE, template) == []
    patch = {"spec": {"spec": {"devices": {"requests": []}}}}
    assert problems(RESOURCE_CLAIM_TEMPLATE, template, patch) == [
        "spec.spec.devices.requests: Required value"
    ]


def test_the_spec_is_fixed(update_problems):
    [problem] = update_problems(RESOURCE_CLAIM, CLAIM, devices(requests=[asking(count=2)]))
    assert problem.startswith("spec: Invalid value: ")
    assert problem.endswith("field is immutable")


def test_allocation_with_its_first_consumer(update_problems):
    assert update_problems(RESOURCE_CLAIM, CLAIM, {"status": ALLOCATED["status"]}) == []


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (
            {"allocation": {"devices": {"results": [RESULT | {"device": "gpu-1"}]}}},
            "field is immutable",
        ),
        (
            {"allocation": None},
            "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
        ),
        ({"reservedFor": [POD, POD]}, 'status.reservedFor[1]: Duplicate value: "1"'),
        (
            {"reservedFor": [{"resource": "pods", "name": str(uid), "uid": str(uid)} for uid in range(257)]},
            "status.reservedFor: Too many: 257: must have at most 256 items",
        ),
        ({"reservedFor": [{"resource": "pods", "name": "p"}]}, "status.reservedFor[0].uid: Required value"),
        (
            {"devices": [{"driver": "gpu.example.com", "pool": "node-1", "device": "gpu-1"}]},
            (
                'status.devices[0]: Invalid value: "gpu.example.com/node-1/gpu-1": '
                "must be an allocated device in the claim"
            ),
        ),
    ],
)
def test_bad_changes_of_status(update_problems, status, problem):
    [found] = update_problems(RESOURCE_CLAIM, ALLOCATED, {"status": status})
    assert found.endswith(problem)


def test_results_name_requests_of_the_claim(update_problems):
    status = {"allocation": {"devices": {"results": [RESULT | {"request": "nic"}]}}}
    assert update_problems(RESOURCE_CLAIM, CLAIM, {"status": status}) == [
        f'status.allocation.devices.results[0].request: Invalid value: "nic": {REFERENCE}'
    ]


def test_a_claim_that_is_being_deleted_gets_no_new_consumers(update_problems):
    going = copy.deepcopy(ALLOCATED)
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    more = {"status": {"reservedFor": [POD, {"resource": "pods", "name": "q", "uid": "2"}]}}
    assert update_problems(RESOURCE_CLAIM, going, more) == [
        (
            "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or "
            "`deletionTimestamp` are set"
        )
    ]
    assert update_problems(RESOURCE_CLAIM, going, {"status": {"reservedFor": []}}) == []


def test_reports_of_drivers_go_with_the_devices():
    report = {"driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0", "conditions": []}
    old = copy.deepcopy(ALLOCATED)
    old["status"]["devices"] = [report]
    new = copy.deepcopy(old)
    del new["status"]["allocation"], new["status"]["reservedFor"]
    RESOURCE_CLAIM.rules.prepare_status_update(new, old)
    assert "status" not in new


@pytest.mark.parametrize(
    ("status", "deleted", "state"),
    [
        ({}, False, "pending"),
        ({"allocation": {}}, False, "allocated"),
        ({"allocation": {}, "reservedFor": [POD]}, False, "allocated,reserved"),
        ({"allocation": {}}, True, "deleted,allocated"),
    ],
)
def test_the_printed_state(status, deleted, state):
    claim = {"metadata": {"name": "c"} | ({"deletionTimestamp": "x"} if deleted else {}), "status": status}
    [column] = [column for column in RESOURCE_CLAIM.columns if column.name == "State"]
    assert column.cell(claim, 0.0) == state
