"""How pods name groups and what becomes of groups in other forms, one by one."""

import pytest

from posse.engine.groups.forms import (
    COSCHEDULING,
    MIN_RESOURCES_ANNOTATION,
    NATIVE,
    POSSE,
    VOLCANO,
    WORKLOAD_REF,
    describe,
    form_of,
    group_of,
    key_of,
)
from posse.engine.keys import GroupKey
from posse.model.volcano import PodGroupCondition
from posse.model.workload import (
    TEMPLATE_FIELDS,
    AllDisruptionMode,
    DisruptionMode,
    GangSchedulingPolicy,
    PodGroupResourceClaim,
    PodGroupSchedulingPolicy,
    PodGroupTemplate,
    SchedulingConstraints,
    TopologyConstraint,
    Workload,
    WorkloadSpec,
)
from tests.support.builders import NAMESPACE, basic_group, changed, gang, pod
from tests.support.group_forms import (
    coscheduling_gang,
    describing,
    member,
    named,
    posse_gang,
    volcano_gang,
    workload,
)

OTHERS = (POSSE, COSCHEDULING, VOLCANO)


@pytest.mark.parametrize("form", OTHERS, ids=lambda form: form.name)
def test_a_label_or_annotation_names_a_group_of_its_own_form(form):
    key = group_of(named(pod(), form))
    assert key == GroupKey(NAMESPACE, "g1", form.name)
    assert key == key_of(describing(form))
    assert key != key_of(gang("g1"))


@pytest.mark.parametrize("form", OTHERS, ids=lambda form: form.name)
def test_an_empty_name_is_no_membership(form):
    assert group_of(named(pod(), form, "")) is None


def test_the_first_form_decides_when_a_pod_names_several_groups():
    one = member("p", VOLCANO)
    for form in (COSCHEDULING, POSSE):
        assert group_of(one).form != form.name
        one = named(one, form, "g2")
        assert group_of(one) == GroupKey(NAMESPACE, "g2", form.name)
    reference = member("q", WORKLOAD_REF, "w").spec.workload_ref
    one = changed(one, spec={"workload_ref": reference})
    assert group_of(one) == GroupKey(NAMESPACE, "w", WORKLOAD_REF.name, "a")
    one = changed(one, spec={"scheduling_group": pod(group="g3").spec.scheduling_group})
    assert group_of(one) == GroupKey(NAMESPACE, "g3")


def test_every_replica_of_a_group_of_a_workload_is_a_group():
    keys = [group_of(member("p", WORKLOAD_REF, "w", key=key)) for key in ("", "key-1", "key-2")]
    assert len(set(keys)) == 3
    assert [str(key) for key in keys] == [
        f"{NAMESPACE}/w/a",
        f"{NAMESPACE}/w/a/key-1",
        f"{NAMESPACE}/w/a/key-2",
    ]


def test_groups_of_one_name_are_told_apart_in_text_too():
    texts = {str(key_of(describing(form))) for form in (NATIVE, *OTHERS)}
    assert len(texts) == 4
    assert f"{NAMESPACE}/g1" in texts


@pytest.mark.parametrize("make", [coscheduling_gang, volcano_gang])
@pytest.mark.parametrize(("given", "taken"), [(5, 5), (1, 1), (0, 1), (-3, 1)])
def test_a_minimum_that_makes_no_sense_counts_as_one(make, given, taken):
    podgroup = describe(make(minimum=given)).podgroup
    assert podgroup.spec.scheduling_policy.gang.min_count == taken


@pytest.mark.parametrize("make", [coscheduling_gang, volcano_gang])
def test_minimum_resources_are_kept(make):
    wanted = {"cpu": "8", "memory": "1Gi"}
    assert describe(make(min_resources=wanted)).minimum_resources == wanted
    assert describe(make()).minimum_resources == {}


@pytest.mark.parametrize(
    ("text", "wanted"), [('{"cpu":"8"}', {"cpu": "8"}), ("{", {}), ("[]", {}), ('{"cpu":[]}', {})]
)
@pytest.mark.parametrize("make", [gang, posse_gang])
def test_hub_shapes_say_in_an_annotation_what_they_need_in_all(make, text, wanted):
    group = changed(make(), metadata={"annotations": {MIN_RESOURCES_ANNOTATION: text}})
    assert describe(group).minimum_resources == wanted


def test_hub_shapes_are_taken_as_they_are():
    for group in (gang(), basic_group(), posse_gang()):
        assert describe(group).podgroup is group


@pytest.mark.parametrize(
    ("group", "statuses"),
    [
        (coscheduling_gang(), []),
        (coscheduling_gang(phase="Pending"), []),
        (coscheduling_gang(phase="Unknown"), []),
        (coscheduling_gang(phase="Scheduled"), ["True"]),
        (coscheduling_gang(phase="Running"), ["True"]),
        (volcano_gang(), []),
        (volcano_gang(phase="Inqueue"), []),
        (volcano_gang(phase="Running"), ["True"]),
        (volcano_gang(phase="Completed"), ["True"]),
    ],
)
def test_a_phase_says_whether_the_group_has_started(group, statuses):
    assert [condition.status for condition in describe(group).podgroup.status.conditions] == statuses


def test_why_a_group_of_volcano_waits_is_read_back():
    said = PodGroupCondition(type="Unschedulable", status="True", reason="Unschedulable", message="too big")
    over = PodGroupCondition(type="Unschedulable", status="False", reason="Scheduled")
    [condition] = describe(volcano_gang(phase="Inqueue", conditions=[said])).podgroup.status.conditions
    assert (condition.status, condition.reason, condition.message) == ("False", "Unschedulable", "too big")
    assert describe(volcano_gang(conditions=[over])).podgroup.status.conditions == ()


def test_a_workload_implies_the_groups_it_has_and_no_others():
    key = group_of(member("p", WORKLOAD_REF, "w", pod_group="b", key="k"))
    made = workload("w", uid="u7", a=3, b=5, priority=9)
    implied = WORKLOAD_REF.implied_group(made, key)
    assert implied.metadata.uid == "u7"
    assert implied.spec.scheduling_policy.gang.min_count == 5
    assert implied.spec.priority == 9
    assert implied.spec.workload_ref.template_name == "b"
    assert WORKLOAD_REF.implied_group(workload("w", a=3), key) is None


def test_an_implied_group_has_all_that_its_template_says():
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=2))
    template = PodGroupTemplate(
        name="a",
        scheduling_policy=policy,
        scheduling_constraints=SchedulingConstraints(topology=(TopologyConstraint(key="rack"),)),
        resource_claims=(PodGroupResourceClaim(name="gpu", resource_claim_name="shared"),),
        disruption_mode=DisruptionMode(all=AllDisruptionMode()),
        priority_class_name="high",
        priority=7,
        preemption_policy="Never",
    )
    made = Workload(metadata=workload("w").metadata, spec=WorkloadSpec(pod_group_templates=(template,)))
    implied = WORKLOAD_REF.implied_group(made, group_of(member("p", WORKLOAD_REF, "w")))
    for name in TEMPLATE_FIELDS:
        assert getattr(implied.spec, name) == getattr(template, name) != getattr(PodGroupTemplate(), name)


def absence(key, siblings=None):
    return form_of(key).absence(key, siblings)


def test_what_is_missing_is_named_in_its_form():
    assert absence(key_of(gang("g1"))) == "PodGroup g1 does not exist yet"
    assert absence(key_of(volcano_gang("g1"))) == "PodGroup g1 of scheduling.volcano.sh does not exist yet"
    key = group_of(member("p", WORKLOAD_REF, "w"))
    assert absence(key) == "Workload w does not exist yet"
    assert absence(key, ("b", "c")) == "Workload w has no pod group 'a' yet, only b, c"
    assert absence(key, ()) == "Workload w has no pod group 'a' yet, none at all"
