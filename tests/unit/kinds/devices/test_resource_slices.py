"""ResourceSlice: what is filled in, and each rule with the field and the words it is refused with."""

import pytest

from posse.kinds.registry import RESOURCE_SLICE

GPU = {
    "name": "gpu-0",
    "attributes": {"model": {"string": "a100"}},
    "capacity": {"memory": {"value": "40Gi"}},
}
SLICE = {
    "metadata": {"name": "node-1-gpu"},
    "spec": {
        "driver": "gpu.example.com",
        "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
        "nodeName": "node-1",
        "devices": [GPU],
    },
}
PLACES = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"


def with_device(**fields):
    return {"spec": {"devices": [{**GPU, **fields}]}}


def test_a_slice_with_devices(problems):
    assert problems(RESOURCE_SLICE, SLICE) == []


def test_a_slice_with_counters(problems):
    counters = {"devices": None, "sharedCounters": [{"name": "set", "counters": {"slices": {"value": "7"}}}]}
    assert problems(RESOURCE_SLICE, SLICE, {"spec": counters}) == []


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"driver": ""}, "spec.driver: Required value"),
        ({"driver": "d" * 64}, "spec.driver: Too long: may not be more than 63 bytes"),
        ({"pool": {"name": ""}}, "spec.pool.name: Required value"),
        (
            {"pool": {"resourceSliceCount": 0}},
            "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
        ),
        (
            {"pool": {"generation": -1}},
            "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
        ),
        ({"nodeName": None}, f"spec: Required value: {PLACES}"),
        (
            {"allNodes": True},
            f'spec: Invalid value: "{{`nodeName`, `allNodes`}}": {PLACES}, but multiple fields are set',
        ),
        (
            {"nodeName": None, "nodeSelector": {"nodeSelectorTerms": [{}, {}]}},
            "spec.nodeSelector.nodeSelectorTerms: Invalid value: [{},{}]: must have exactly one node selector term",
        ),
        (
            {"sharedCounters": [{"name": "set", "counters": {"slices": {"value": "7"}}}]},
            'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed',
        ),
        (
            {"devices": [{"name": f"gpu-{number}"} for number in range(129)]},
            "spec.devices: Too many: 129: must have at most 128 items",
        ),
        ({"devices": [GPU, GPU]}, 'spec.devices[1]: Duplicate value: "gpu-0"'),
    ],
)
def test_bad_slices(problems, spec, problem):
    assert problems(RESOURCE_SLICE, SLICE, {"spec": spec}) == [problem]


@pytest.mark.parametrize(
    ("device", "problem"),
    [
        (
            {"attributes": {"model": {"string": "a", "int": 1}}},
            'spec.devices[0].attributes[model]: Invalid value: "": exactly one value must be specified',
        ),
        (
            {"attributes": {"version": {"version": "1.2"}}},
            (
                'spec.devices[0].attributes[version].version: Invalid value: "1.2": '
                "must be a string compatible with semver.org spec 2.0.0"
            ),
        ),
        (
            {"attributes": {f"a{number}": {"int": number} for number in range(32)}},
            "spec.devices[0]: Invalid value: 33: the total number of attributes and capacities must not exceed 32",
        ),
        (
            {"capacity": {"memory": {"value": "4-0"}}},
            (
                "spec.devices[0].capacity[memory].value: Invalid value: \"4-0\": '4-0' is not a quantity: expected a "
                "number and a suffix, such as 500m, 2 or 1.5Gi"
            ),
        ),
        (
            {"capacity": {"memory": {"value": "40Gi", "requestPolicy": {"default": "1Gi"}}}},
            "spec.devices[0].capacity[memory].requestPolicy: Forbidden: allowMultipleAllocations must be true",
        ),
        (
            {"taints": [{"key": "broken", "effect": "Never"}]},
            (
                'spec.devices[0].taints[0].effect: Unsupported value: "Never": '
                'supported values: "NoExecute", "NoSchedule", "None"'
            ),
        ),
        (
            {"bindingConditions": ["ready"]},
            (
                "spec.devices[0].bindingFailureConditions: Invalid value: []: "
                "bindingFailureConditions are required to use bindingConditions"
            ),
        ),
        (
            {"nodeName": "node-1"},
            (
                "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if "
                "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
            ),
        ),
        (
            {"consumesCounters": [{"counterSet": "set"}]},
            "spec.devices[0].consumesCounters[0].counters: Required value",
        ),
        (
            {"attributes": {"9lives": {"int": 9}}},
            (
                'spec.devices[0].attributes: Invalid value: "9lives": a valid C identifier must start with alphabetic '
                "character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  "
                "or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
            ),
        ),
    ],
)
def test_bad_devices(problems, device, problem):
    assert problems(RESOURCE_SLICE, SLICE, with_device(**device)) == [problem]


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        ({"default": "2Gi", "validValues": ["1Gi", "2Gi"]}, None),
        ({"default": "2Gi", "validRange": {"min": "1Gi", "max": "4Gi", "step": "1Gi"}}, None),
        (
            {"default": "3Gi", "validValues": ["1Gi", "2Gi"]},
            '.validValues: Invalid value: "3Gi": default value is not valid according to the requestPolicy',
        ),
        ({"validValues": ["1Gi"]}, ".default: Required value: required when validValues is defined"),
        (
            {"default": "1e999999999", "validValues": ["1Gi"]},
            '.validValues: Invalid value: "1e999999999": default value is not valid according to the requestPolicy',
        ),
        (
            {"default": "1Gi", "validRange": {}},
            ".validRange.min: Required value: required when validRange is defined",
        ),
        (
            {"default": "3Gi", "validRange": {"min": "1Gi", "step": "4Gi"}},
            '.validRange.step: Invalid value: "3Gi": value is not a multiple of a given step (4Gi) from (1Gi)',
        ),
        (
            {"default": "2Gi", "validValues": ["2Gi", "1Gi"]},
            '.validValues[1]: Invalid value: "1Gi": values must be sorted in ascending order',
        ),
    ],
)
def test_request_policies(problems, policy, problem):
    capacity = {"memory": {"value": "40Gi", "requestPolicy": policy}}
    found = problems(RESOURCE_SLICE, SLICE, with_device(capacity=capacity, allowMultipleAllocations=True))
    expected = f"spec.devices[0].capacity[memory].requestPolicy{problem}"
    assert found == ([] if problem is None else [expected])


def test_devices_may_say_themselves_where_they_are(problems):
    spec = {"nodeName": None, "perDeviceNodeSelection": True, "devices": [{"name": "a", "allNodes": True}]}
    assert problems(RESOURCE_SLICE, SLICE, {"spec": spec}) == []
    spec["devices"] = [{"name": "a"}]
    assert problems(RESOURCE_SLICE, SLICE, {"spec": spec}) == [
        (
            "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required "
            "when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
        )
    ]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (
            {"driver": "other.example.com"},
            'spec.driver: Invalid value: "other.example.com": field is immutable',
        ),
        ({"pool": {"name": "p"}}, 'spec.pool.name: Invalid value: "p": field is immutable'),
        ({"nodeName": "node-2"}, 'spec.nodeName: Invalid value: "node-2": field is immutable'),
    ],
)
def test_what_may_not_change(update_problems, spec, problem):
    assert update_problems(RESOURCE_SLICE, SLICE, {"spec": spec}) == [problem]


def test_taints_get_the_time_at_which_they_were_added():
    obj = {
        "spec": {"devices": [{"taints": [{"key": "a"}, {"key": "b", "timeAdded": "2026-01-01T00:00:00Z"}]}]}
    }
    RESOURCE_SLICE.rules.stamp(obj, None, "2026-02-02T00:00:00Z")
    taints = obj["spec"]["devices"][0]["taints"]
    assert [taint["timeAdded"] for taint in taints] == ["2026-02-02T00:00:00Z", "2026-01-01T00:00:00Z"]
