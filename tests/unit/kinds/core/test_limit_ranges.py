"""What limit ranges and quotas are refused for."""

import pytest

from posse.kinds.registry import LIMIT_RANGE, RESOURCE_QUOTA

METADATA = {"name": "x", "namespace": "ns"}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1"}}, []),
        (
            {"type": "Thing"},
            [
                (
                    'spec.limits[0].type: Invalid value: "Thing": '
                    "must be a standard limit type or fully qualified"
                )
            ],
        ),
        (
            {"type": "Pod", "default": {"cpu": "1"}},
            ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
        ),
        (
            {"type": "Pod", "max": {"cpu": "1"}, "min": {"cpu": "2"}},
            ['spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'],
        ),
    ],
)
def test_a_limit_range(problems, item, expected):
    assert problems(LIMIT_RANGE, {"metadata": METADATA, "spec": {"limits": [item]}}) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"hard": {"pods": "1"}, "scopes": ["BestEffort"]}, []),
        ({"scopes": ["Odd"]}, ['spec.scopes: Invalid value: "Odd": unsupported scope']),
        (
            {"hard": {"cpu": "-1"}},
            ['spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
        ),
    ],
)
def test_a_quota(problems, spec, expected):
    assert problems(RESOURCE_QUOTA, {"metadata": METADATA, "spec": spec}) == expected
