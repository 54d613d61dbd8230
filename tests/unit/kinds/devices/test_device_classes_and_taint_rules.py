"""DeviceClass and DeviceTaintRule."""

import pytest

from posse.kinds.registry import DEVICE_CLASS, DEVICE_TAINT_RULE

CLASS = {"metadata": {"name": "gpu"}, "spec": {}}
RULE = {"metadata": {"name": "broken"}, "spec": {"taint": {"key": "broken", "effect": "NoExecute"}}}


def test_good_class(problems):
    config = [{"opaque": {"driver": "gpu.example.com", "parameters": {}}}]
    spec = {"config": config, "extendedResourceName": "example.com/gpu"}
    assert problems(DEVICE_CLASS, CLASS, {"spec": spec}) == []


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (
            {"extendedResourceName": "cpu"},
            'spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name',
        ),
        ({"config": [{}]}, "spec.config[0].opaque: Required value"),
        ({"selectors": [{}] * 33}, "spec.selectors: Too many: 33: must have at most 32 items"),
        (
            {"selectors": [{"cel": {"expression": "device.driver"}}]},
            (
                'spec.selectors[0].cel.expression: Invalid value: "device.driver": '
                "must evaluate to bool or the unknown type, not string"
            ),
        ),
        (
            {"selectors": [{"cel": {"expression": "gadget.driver == 'a'"}}]},
            (
                "spec.selectors[0].cel.expression: Invalid value: \"gadget.driver == 'a'\": compilation failed: "
                "ERROR: <input>:1:1: undeclared reference to 'gadget' (in container '')\n"
                " | gadget.driver == 'a'\n | ^"
            ),
        ),
        (
            {"selectors": [{"cel": {"expression": " " * 10241}}]},
            "spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes",
        ),
    ],
)
def test_bad_classes(problems, spec, problem):
    assert problems(DEVICE_CLASS, CLASS, {"spec": spec}) == [problem]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"taint": {"effect": ""}}, "spec.taint.effect: Required value"),
        ({"taint": {"key": ""}}, "spec.taint.key: Required value"),
        ({"deviceSelector": {"driver": ""}}, "spec.deviceSelector.driver: Required value"),
        ({"deviceSelector": {"pool": ""}}, "spec.deviceSelector.pool: Required value"),
    ],
)
def test_bad_taint_rules(problems, spec, problem):
    assert problems(DEVICE_TAINT_RULE, RULE) == []
    assert problems(DEVICE_TAINT_RULE, RULE, {"spec": spec}) == [problem]


def test_a_rule_that_gets_another_effect_begins_anew():
    old = {"spec": {"taint": {"effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}}}
    new = {"spec": {"taint": {"effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}}}
    DEVICE_TAINT_RULE.rules.stamp(new, old, "2026-02-02T00:00:00Z")
    assert new["spec"]["taint"]["timeAdded"] == "2026-02-02T00:00:00Z"
    DEVICE_TAINT_RULE.rules.stamp(new, new, "2026-03-03T00:00:00Z")
    assert new["spec"]["taint"]["timeAdded"] == "2026-02-02T00:00:00Z"
