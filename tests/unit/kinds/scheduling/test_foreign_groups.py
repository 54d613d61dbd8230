"""PodGroups of coscheduling and Volcano, and Posse's own kinds: what is filled in, refused and printed."""

import pytest

from posse.kinds.registry import (
    COSCHEDULING_POD_GROUP,
    POSSE_COMPOSITE_POD_GROUP,
    POSSE_POD_GROUP,
    POSSE_WORKLOAD,
    VOLCANO_POD_GROUP,
)
from posse.model.decoding import unknown_fields

FOREIGN = (COSCHEDULING_POD_GROUP, VOLCANO_POD_GROUP)
GROUP = {"metadata": {"name": "g", "namespace": "ns"}, "spec": {"minMember": 3}}


@pytest.fixture(params=FOREIGN, ids=lambda kind: kind.group)
def kind(request):
    return request.param


def test_good(problems, kind):
    assert problems(kind, GROUP) == []
    assert problems(kind, GROUP, {"spec": {"minResources": {"cpu": "4", "memory": "1Gi"}}}) == []
    assert problems(kind, GROUP, {"spec": None}) == []


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"minMember": 0}, "spec.minMember: Invalid value: 0: must be greater than or equal to 1"),
        ({"minMember": -2}, "spec.minMember: Invalid value: -2: must be greater than or equal to 1"),
        ({"minResources": {"cpu": "-1"}}, "spec.minResources[cpu]: Invalid value: "),
        ({"minResources": {"cpu": "much"}}, "spec.minResources[cpu]: Invalid value: "),
    ],
)
def test_bad_sizes(problems, update_problems, kind, spec, problem):
    [found] = problems(kind, GROUP, {"spec": spec})
    assert found.startswith(problem)
    [found] = update_problems(kind, GROUP, {"spec": spec})
    assert found.startswith(problem)


def test_the_size_may_change_at_any_time(update_problems, kind):
    assert update_problems(kind, GROUP, {"spec": {"minMember": 5}}) == []


def test_what_is_particular_to_each(problems):
    [found] = problems(COSCHEDULING_POD_GROUP, GROUP, {"spec": {"scheduleTimeoutSeconds": -1}})
    assert found.startswith("spec.scheduleTimeoutSeconds: Invalid value: -1")
    [found] = problems(VOLCANO_POD_GROUP, GROUP, {"spec": {"queue": "No Queue"}})
    assert found.startswith('spec.queue: Invalid value: "No Queue"')
    [found] = problems(VOLCANO_POD_GROUP, GROUP, {"spec": {"priorityClassName": "A_b"}})
    assert found.startswith('spec.priorityClassName: Invalid value: "A_b"')
    [found] = problems(VOLCANO_POD_GROUP, GROUP, {"spec": {"minTaskMember": {"ps": -1}}})
    assert found.startswith("spec.minTaskMember[ps]: Invalid value: -1")


def test_defaults():
    group = {"metadata": {}}
    COSCHEDULING_POD_GROUP.rules.default(group)
    assert group["spec"] == {"minMember": 1}
    VOLCANO_POD_GROUP.rules.default(group)
    assert group["spec"] == {"minMember": 1, "queue": "default"}


def test_groups_begin_pending_whatever_is_sent(kind):
    group = {"status": {"phase": "Running"}}
    kind.rules.prepare_create(group)
    assert group["status"] == {"phase": "Pending"}
    assert unknown_fields(kind.struct, group) == []


def test_printed():
    group = {**GROUP, "status": {"phase": "Scheduled", "running": 2}}
    cells = {column.name: column.cell(group, 0.0) for column in COSCHEDULING_POD_GROUP.columns[:-1]}
    expected = {"Name": "g", "Phase": "Scheduled", "MinMember": 3, "Running": 2, "Succeeded": 0, "Failed": 0}
    assert cells == expected
    group = {**GROUP, "status": {"phase": "Inqueue"}, "spec": {"minMember": 3, "queue": "q"}}
    cells = {c.name: c.cell(group, 0.0) for c in VOLCANO_POD_GROUP.columns if c.name != "Age"}
    assert cells == {"Name": "g", "Status": "Inqueue", "MinMember": 3, "Runnings": 0, "Queue": "q"}


def test_own_kinds_have_the_shapes_and_rules_of_kubernetes(problems):
    assert POSSE_POD_GROUP.api_version == "scheduling.posse.dev/v1alpha1"
    bad = {"metadata": GROUP["metadata"], "spec": {"schedulingPolicy": {"gang": {"minCount": -1}}}}
    [found] = problems(POSSE_POD_GROUP, bad)
    assert found.startswith("spec.schedulingPolicy.gang.minCount: Invalid value: -1")
    assert problems(POSSE_WORKLOAD, {"metadata": GROUP["metadata"]})
    assert problems(POSSE_COMPOSITE_POD_GROUP, {"metadata": GROUP["metadata"]})
