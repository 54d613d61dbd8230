"""The Workload and the group of a Job: which Jobs have them, what they are called, and how they follow the Job."""

import pytest

from posse.controllers.jobs.controller import JobController
from posse.controllers.revision_hash import name_hash
from posse.controllers.steps import Create, Write
from posse.kinds.registry import JOB, POD_GROUP, WORKLOAD
from posse.model.decoding import decode
from tests.support.plans import job_plan

NOW = 1_800_000_000.0
UID = "11111111-2222-3333-4444-555555555555"
WORKLOAD_NAME = "train-68d7549f75"
GROUP_NAME = "train-68d7549f75-train-pgt-0-5475bbc57d"
JOB_OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": UID} | {
    "controller": True,
    "blockOwnerDeletion": True,
}
GANG = {"schedulingPolicy": {"gang": {}}}
BASIC = {"schedulingPolicy": {"basic": {}}}


def job(status=None, name="train", pod=None, metadata=None, **spec):
    template = {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}], **(pod or {})}
    }
    obj = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "ns", "uid": UID, "resourceVersion": "1", **(metadata or {})},
        "spec": {"template": template, "parallelism": 4, **spec},
    }
    JOB.rules.default(obj)
    JOB.rules.prepare_create(obj)
    assert JOB.rules.validate(decode(JOB.struct, obj)) == []
    return obj | {"status": status or {}}


def as_seen(obj, version="7"):
    return {
        **obj,
        "metadata": {**obj["metadata"], "uid": f"uid-{obj['metadata']['name']}", "resourceVersion": version},
    }


def plan(obj, *groups):
    controller = JobController(makes_groups=True)
    controller.see(JOB, obj)
    for item in groups:
        controller.see(WORKLOAD if item["kind"] == "Workload" else POD_GROUP, item)
    return job_plan(controller.plan(UID, NOW))


def made(obj):
    """The Workload and the group that a Job gets, one after the other."""
    (first,) = plan(obj).prepare
    workload = as_seen(first.obj)
    (second,) = plan(obj, workload).prepare
    return workload, as_seen(second.obj)


def joined(result):
    return [pod["spec"].get("schedulingGroup", {}).get("podGroupName") for pod in result.create]


def test_names_are_hashed_as_in_kubernetes():
    assert name_hash(f"(types.UID){UID}") == "68d7549f75"
    assert name_hash(WORKLOAD_NAME + "train-pgt-0") == "5475bbc57d"


def test_the_workload_comes_first_and_nothing_else_happens_before():
    result = plan(job(scheduling=BASIC))
    (step,) = result.prepare
    assert step == Create(
        WORKLOAD,
        {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "Workload",
            "metadata": {"name": WORKLOAD_NAME, "namespace": "ns", "ownerReferences": [JOB_OWNER]},
            "spec": {
                "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "train"},
                "podGroupTemplates": [{"name": "train-pgt-0", "schedulingPolicy": {"basic": {}}}],
            },
        },
        failure="FailedWorkloadCreate",
        success="WorkloadCreated",
    )
    assert (result.job, result.create) == (None, [])


def test_a_job_that_asks_for_nothing_gets_no_group():
    labelled = job(pod={"priorityClassName": "system-cluster-critical"})
    for obj in (job(), labelled):
        result = plan(obj)
        assert (list(result.prepare), joined(result)) == ([], [None] * 4)


def test_a_job_that_has_groups_of_an_earlier_version_keeps_them():
    workload, group = made(job(scheduling=BASIC))
    result = plan(job(status={"startTime": "2026-01-01T00:00:00Z"}), workload, group)
    assert (list(result.prepare), joined(result)) == ([], [GROUP_NAME] * 4)


def test_the_group_is_made_of_the_workload_and_pods_join_it():
    obj = job(scheduling=BASIC)
    workload, _ = made(obj)
    result = plan(obj, workload)
    (step,) = result.prepare
    reference = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload", "name": WORKLOAD_NAME}
    assert step.obj == {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {
            "name": GROUP_NAME,
            "namespace": "ns",
            "ownerReferences": [JOB_OWNER, reference | {"uid": f"uid-{WORKLOAD_NAME}"}],
        },
        "spec": {
            "workloadRef": {"workloadName": WORKLOAD_NAME, "templateName": "train-pgt-0"},
            "schedulingPolicy": {"basic": {}},
        },
    }
    assert joined(result) == [GROUP_NAME] * 4


@pytest.mark.parametrize(
    ("scheduling", "expected"),
    [
        (GANG, {"schedulingPolicy": {"gang": {"minCount": 4}}}),
        ({"schedulingPolicy": {"gang": {"minCount": 2}}}, {"schedulingPolicy": {"gang": {"minCount": 2}}}),
        ({"schedulingPolicy": {}}, {"schedulingPolicy": {"basic": {}}}),
        (
            GANG | {"disruptionMode": {"all": {}}, "schedulingConstraints": {"topology": [{"key": "rack"}]}},
            {
                "schedulingPolicy": {"gang": {"minCount": 4}},
                "disruptionMode": {"all": {}},
                "schedulingConstraints": {"topology": [{"key": "rack"}]},
            },
        ),
    ],
)
def test_what_the_job_asks_for_is_passed_on(scheduling, expected):
    workload, group = made(job(scheduling=scheduling, pod={"priorityClassName": "high"}))
    (template,) = workload["spec"]["podGroupTemplates"]
    assert template == {"name": "train-pgt-0", "priorityClassName": "high", **expected}
    assert {key: value for key, value in group["spec"].items() if key != "workloadRef"} == {
        "priorityClassName": "high",
        **expected,
    }


OWNER = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "c", "controller": True}


@pytest.mark.parametrize(
    "obj",
    [
        job(pod={"schedulingGroup": {"podGroupName": "theirs"}}),
        job(pod={"workloadRef": {"name": "w", "podGroup": "g"}}),
        job(metadata={"ownerReferences": [OWNER]}),
        job(status={"startTime": "2026-01-01T00:00:00Z"}),
        job(status={"failed": 1}),
        job(status={"conditions": [{"type": "Suspended", "status": "False"}]}),
        job(name="n" * 58),
        job(name="with.dots"),
    ],
)
def test_some_jobs_have_no_group_of_their_own(obj):
    result = plan(obj)
    assert list(result.prepare) == []
    assert len(result.create) == 4


def test_a_name_that_is_no_good_is_told_to_those_who_ask_for_a_group():
    (step,) = plan(job(name="n" * 58, scheduling=GANG)).prepare
    assert step.kind is WORKLOAD


def test_a_job_that_has_begun_finds_its_group_again():
    workload, group = made(job(scheduling=GANG))
    begun = job(scheduling=GANG, status={"startTime": "2026-01-01T00:00:00Z"})
    result = plan(begun, workload, group)
    assert (list(result.prepare), joined(result)) == ([], [GROUP_NAME] * 4)
    assert joined(plan(begun, workload)) == [None] * 4


def test_groups_of_others_are_ignored():
    workload, group = made(job(scheduling=GANG))
    for obj in (workload, group):
        obj["metadata"]["ownerReferences"] = []
    assert [step.kind for step in plan(job(scheduling=GANG), workload, group).prepare] == [WORKLOAD]


def test_with_more_than_one_workload_there_is_none():
    workload, _ = made(job(scheduling=BASIC))
    other = {**workload, "metadata": {**workload["metadata"], "name": "other", "uid": "other"}}
    result = plan(job(scheduling=BASIC), workload, other)
    assert (list(result.prepare), joined(result)) == ([], [None] * 4)


def minimum(step):
    template = step.obj["spec"] if step.kind is POD_GROUP else step.obj["spec"]["podGroupTemplates"][0]
    return template["schedulingPolicy"]["gang"]["minCount"]


def test_both_follow_the_size_of_the_job():
    workload, group = made(job(scheduling=GANG))
    smaller = job(scheduling=GANG, parallelism=3, status={"startTime": "2026-01-01T00:00:00Z"})
    steps = plan(smaller, workload, group).prepare
    assert [(type(step), step.kind, minimum(step)) for step in steps] == [
        (Write, WORKLOAD, 3),
        (Write, POD_GROUP, 3),
    ]


def test_what_has_succeeded_is_not_missed():
    workload, group = made(job(scheduling=GANG))
    status = {"startTime": "2026-01-01T00:00:00Z", "succeeded": 4}
    almost = job(scheduling=GANG, completions=6, status=status)
    (step,) = plan(almost, workload, group).prepare
    assert (step.kind, minimum(step)) == (POD_GROUP, 2)


TEMPLATE = {"scheduling.k8s.io/group-template-name": "part"}
OWNED = {"ownerReferences": [OWNER], "annotations": TEMPLATE}


def owners_workload(name="part", minimum_count=3):
    metadata = {"name": "w", "namespace": "ns", "uid": "w", "resourceVersion": "3"}
    policy = {"gang": {"minCount": minimum_count}}
    reference = {"apiGroup": "batch", "kind": "CronJob", "name": "nightly"}
    spec = {"controllerRef": reference, "podGroupTemplates": [{"name": name, "schedulingPolicy": policy}]}
    return {"kind": "Workload", "metadata": metadata, "spec": spec}


def test_a_job_may_get_its_group_from_the_workload_of_its_owner():
    obj = job(metadata=OWNED)
    result = plan(obj, owners_workload())
    (step,) = result.prepare
    assert step.obj["metadata"]["name"] == f"w-part-{name_hash('wpart')}"
    assert step.obj["metadata"]["ownerReferences"] == [JOB_OWNER]
    assert step.obj["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}
    assert set(joined(result)) == {step.obj["metadata"]["name"]}
    (change,) = plan(obj, owners_workload(minimum_count=2), as_seen(step.obj)).prepare
    assert minimum(change) == 2


def test_without_that_workload_or_template_pods_have_no_group():
    for workloads in ([], [owners_workload("other")]):
        result = plan(job(metadata=OWNED), *workloads)
        assert (list(result.prepare), joined(result)) == ([], [None] * 4)


def test_news_of_a_group_touch_its_job():
    controller = JobController(makes_groups=True)
    controller.see(JOB, job(scheduling=BASIC))
    controller.touched.take(9)
    workload, _ = made(job(scheduling=BASIC))
    controller.see(WORKLOAD, workload)
    assert controller.touched.take(9) == [UID]
    controller.lose(WORKLOAD, workload)
    assert controller.touched.take(9) == [UID]
    assert [step.kind for step in job_plan(controller.plan(UID, NOW)).prepare] == [WORKLOAD]


@pytest.mark.parametrize("gang", [{}, {"minCount": 4}])
def test_a_gang_never_waits_for_more_pods_than_there_will_be(gang):
    scheduling = {"schedulingPolicy": {"gang": gang}}
    for item in made(job(completions=3, scheduling=scheduling)):
        described = item["spec"].get("podGroupTemplates", [item["spec"]])[0]
        assert described["schedulingPolicy"] == {"gang": {"minCount": 3}}


def test_indexes_that_have_failed_for_good_are_not_missed():
    obj = job(completions=4, completionMode="Indexed", backoffLimitPerIndex=0, scheduling=GANG)
    workload, group = made(obj)
    begun = {"startTime": "2026-01-01T00:00:00Z", "failed": 1, "failedIndexes": "2"}
    result = plan(obj | {"status": begun}, workload, group)
    (step,) = result.prepare
    assert step.obj["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}
