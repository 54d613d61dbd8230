"""The objects that are made for each example of the requirement document, and when a Workload of the user stands in for them.

The document was written for an older API. Its groups, sizes and names are kept; where pods named a Workload, a group in
it and the index of a replica, they now name one PodGroup each, and replicas are counted from 0 as Jobs are.
"""

import copy

import pytest

from posse.controllers.jobsets.controller import JobSetController
from posse.controllers.steps import Create, Write
from posse.kinds.registry import COMPOSITE_POD_GROUP, JOB, JOB_SET, POD_GROUP, WORKLOAD
from posse.model.decoding import decode
from posse.model.feature_gates import ALL_GATES, Gate

NOW = 1_800_000_000.0
OWNER = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "name": "sample-jobset",
    "uid": "u",
    "controller": True,
    "blockOwnerDeletion": True,
}
PREFIX = "jobset.sigs.k8s.io/"


def replicated_job(name, container, replicas, parallelism, **fields):
    pod = {"spec": {"containers": [{"name": container, "image": "busybox"}]}}
    spec = {"parallelism": parallelism, "completions": parallelism, "template": pod}
    return {"name": name, "replicas": replicas, "template": {"spec": spec}, **fields}


def jobset(*jobs, **spec):
    obj = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "sample-jobset", "namespace": "ns", "uid": "u", "resourceVersion": "1"},
        "spec": {"replicatedJobs": list(jobs), **spec},
    }
    JOB_SET.rules.default(obj)
    assert JOB_SET.rules.validate(decode(JOB_SET.struct, obj)) == []
    return obj


def plan(obj, *workloads):
    controller = JobSetController()
    controller.see(JOB_SET, obj)
    for workload in workloads:
        controller.see(WORKLOAD, workload)
    return controller.plan("u", NOW)


def steps(result):
    return [step for stage in result.stages for step in stage]


def made(result, kind):
    return [step.obj for step in steps(result) if isinstance(step, Create) and step.kind is kind]


def prerequisites(result):
    kinds = [step.kind for step in steps(result) if isinstance(step, Create)]
    return [kind.name for kind in kinds if kind is not JOB]


def status(result):
    return next(step.obj["status"] for step in steps(result) if isinstance(step, Write))


def workload(*templates):
    """The Workload that is expected, given names and sizes of its templates."""
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "Workload",
        "metadata": {
            "name": "w-sample-jobset",
            "namespace": "ns",
            "labels": {PREFIX + "jobset-name": "sample-jobset"},
            "ownerReferences": [OWNER],
        },
        "spec": {
            "controllerRef": {"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": "sample-jobset"},
            "podGroupTemplates": [
                {"name": name, "schedulingPolicy": {"gang": {"minCount": minimum}}}
                for name, minimum in templates
            ],
        },
    }


def group(name, template, minimum):
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "labels": {PREFIX + "jobset-name": "sample-jobset", PREFIX + "restart-attempt": "0"},
            "ownerReferences": [OWNER],
        },
        "spec": {
            "workloadRef": {"workloadName": "w-sample-jobset", "templateName": template},
            "schedulingPolicy": {"gang": {"minCount": minimum}},
        },
    }


INITIALIZER = ("replicated-job-1", "initializer")
LAUNCHER = ("replicated-job-2", "launcher")
GANG = {"gangMode": "Gang"}
REPLICATED_GANG = {"gangMode": "ReplicatedGang"}
DEPENDS = [{"name": "replicated-job-1", "status": "Complete"}]

WHOLE = jobset(
    replicated_job(*INITIALIZER, replicas=2, parallelism=4),
    replicated_job(*LAUNCHER, replicas=2, parallelism=4),
    gangConfig=GANG,
)
EACH_REPLICATED_JOB = jobset(
    replicated_job(*INITIALIZER, replicas=2, parallelism=4, gangConfig=GANG),
    replicated_job(*LAUNCHER, replicas=1, parallelism=3, gangConfig=GANG, dependsOn=DEPENDS),
)
EACH_JOB = jobset(
    replicated_job(*INITIALIZER, replicas=2, parallelism=4, gangConfig=REPLICATED_GANG),
    replicated_job(*LAUNCHER, replicas=3, parallelism=3, gangConfig=REPLICATED_GANG),
)
RACK = {"schedulingConstraints": {"topology": [{"key": "rack"}]}}
BLOCK = {"schedulingConstraints": {"topology": [{"key": "block"}]}}


def tree(**fields):
    return jobset(
        replicated_job(*INITIALIZER, replicas=2, parallelism=4, gangConfig=RACK),
        replicated_job(*LAUNCHER, replicas=1, parallelism=3),
        gangConfig=GANG | BLOCK,
        **fields,
    )


EXAMPLES = {
    "JobSet level gang": (
        WHOLE,
        workload(("pg-sample-jobset", 2 * 2 * 4)),
        [group("pg-sample-jobset", "pg-sample-jobset", 16)],
        dict.fromkeys(
            [f"sample-jobset-replicated-job-{job}-{index}" for job in (1, 2) for index in (0, 1)],
            "pg-sample-jobset",
        ),
    ),
    "ReplicatedJob level gang": (
        EACH_REPLICATED_JOB,
        workload(("pg-replicated-job-1", 2 * 4), ("pg-replicated-job-2", 1 * 3)),
        [
            group("sample-jobset-pg-replicated-job-1", "pg-replicated-job-1", 8),
            group("sample-jobset-pg-replicated-job-2", "pg-replicated-job-2", 3),
        ],
        # The second replicatedJob depends on the first, and has its group before it has Jobs.
        dict.fromkeys(
            ["sample-jobset-replicated-job-1-0", "sample-jobset-replicated-job-1-1"],
            "sample-jobset-pg-replicated-job-1",
        ),
    ),
    "Replica level gang": (
        EACH_JOB,
        workload(("pg-replicated-job-1", 4), ("pg-replicated-job-2", 3)),
        [
            group("sample-jobset-pg-replicated-job-1-0", "pg-replicated-job-1", 4),
            group("sample-jobset-pg-replicated-job-1-1", "pg-replicated-job-1", 4),
            group("sample-jobset-pg-replicated-job-2-0", "pg-replicated-job-2", 3),
            group("sample-jobset-pg-replicated-job-2-1", "pg-replicated-job-2", 3),
            group("sample-jobset-pg-replicated-job-2-2", "pg-replicated-job-2", 3),
        ],
        {
            f"sample-jobset-replicated-job-{job}-{index}": f"sample-jobset-pg-replicated-job-{job}-{index}"
            for job, replicas in ((1, 2), (2, 3))
            for index in range(replicas)
        },
    ),
}


@pytest.mark.parametrize(("obj", "blueprint", "groups", "membership"), EXAMPLES.values(), ids=EXAMPLES)
def test_the_examples_of_the_document(obj, blueprint, groups, membership):
    result = plan(obj)
    assert made(result, WORKLOAD) == [blueprint]
    assert made(result, POD_GROUP) == groups
    assert {
        job["metadata"]["name"]: job["spec"]["template"]["spec"]["schedulingGroup"]["podGroupName"]
        for job in made(result, JOB)
    } == membership
    # The Workload comes before its groups, and both before the Jobs.
    assert prerequisites(result) == [
        "Service",
        "Workload",
        *["PodGroup"] * len(groups),
    ]


@pytest.mark.parametrize("obj", [WHOLE, EACH_REPLICATED_JOB, EACH_JOB, tree()])
def test_what_is_made_is_what_the_api_accepts(obj):
    for step in steps(plan(obj)):
        obj = copy.deepcopy(step.obj)
        obj["metadata"].setdefault("uid", "v")
        step.kind.rules.default(obj)
        if isinstance(step, Create):
            step.kind.rules.prepare_create(obj)
        assert step.kind.rules.validate(decode(step.kind.struct, obj)) == []


def test_without_a_mode_there_is_no_workload():
    for config in ({}, {"gangConfig": {"gangMode": "Off"}}):
        jobs = [replicated_job(*INITIALIZER, replicas=2, parallelism=4, **config)]
        result = plan(jobset(*jobs, **config))
        assert prerequisites(result) == ["Service"]
        assert all("schedulingGroup" not in job["spec"]["template"]["spec"] for job in made(result, JOB))


def test_only_the_replicated_jobs_that_ask_for_it_are_gangs():
    jobs = [
        replicated_job(*INITIALIZER, replicas=2, parallelism=4),
        replicated_job(*LAUNCHER, replicas=1, parallelism=3, gangConfig=GANG),
    ]
    result = plan(jobset(*jobs))
    assert made(result, WORKLOAD) == [workload(("pg-replicated-job-2", 3))]
    groups = [job["spec"]["template"]["spec"].get("schedulingGroup") for job in made(result, JOB)]
    assert groups == [None, None, {"podGroupName": "sample-jobset-pg-replicated-job-2"}]


def test_a_gang_is_no_larger_than_the_number_of_pods_there_will_be():
    job = replicated_job(*INITIALIZER, replicas=2, parallelism=4, gangConfig=GANG)
    job["template"]["spec"]["completions"] = 3
    assert made(plan(jobset(job)), WORKLOAD) == [workload(("pg-replicated-job-1", 2 * 3))]


SEQUENCES = [
    {"startupPolicy": {"startupPolicyOrder": "InOrder"}},
    {"dependsOn": [{"name": "replicated-job-1", "status": "Ready"}]},
]


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_gang_of_all_is_one_of_each_where_they_start_one_after_the_other(sequence):
    dependency = {key: value for key, value in sequence.items() if key == "dependsOn"}
    jobs = [
        replicated_job(*INITIALIZER, replicas=2, parallelism=4),
        replicated_job(*LAUNCHER, replicas=2, parallelism=4, **dependency),
    ]
    policy = {key: value for key, value in sequence.items() if key != "dependsOn"}
    result = plan(jobset(*jobs, gangConfig=GANG, **policy))
    assert made(result, WORKLOAD) == [workload(("pg-replicated-job-1", 8), ("pg-replicated-job-2", 8))]
    assert len(made(result, JOB)) == 2


RACK = {"schedulingConstraints": {"topology": [{"key": "rack"}]}}
BLOCK = {"schedulingConstraints": {"topology": [{"key": "block"}]}}
AT_ONCE = {"disruptionMode": {"all": {}}}


@pytest.mark.parametrize(
    ("whole", "own", "expected"),
    [
        (RACK, AT_ONCE, RACK | AT_ONCE),
        (RACK, BLOCK, BLOCK),
        (RACK | AT_ONCE, {"disruptionMode": {"single": {}}}, RACK | {"disruptionMode": {"single": {}}}),
        (RACK, {"gangMode": "Off"}, RACK),
    ],
)
@pytest.mark.parametrize("gates", [ALL_GATES, ALL_GATES - {Gate.COMPOSITE_POD_GROUP}])
def test_in_a_sequence_a_part_has_the_settings_of_the_whole_but_for_its_own(whole, own, expected, gates):
    jobs = [
        replicated_job(*INITIALIZER, replicas=1, parallelism=4),
        replicated_job(*LAUNCHER, replicas=1, parallelism=4, dependsOn=DEPENDS, gangConfig=own),
    ]
    controller = JobSetController(gates)
    controller.see(JOB_SET, jobset(*jobs, gangConfig=GANG | whole))
    (workload,) = made(controller.plan("u", NOW), WORKLOAD)
    first, second = workload["spec"]["podGroupTemplates"]
    policy = {"schedulingPolicy": {"gang": {"minCount": 4}}}
    assert first == {"name": "pg-replicated-job-1"} | policy | whole
    assert second == {"name": "pg-replicated-job-2"} | policy | expected


def test_a_part_that_asks_for_no_gang_of_its_own_is_part_of_the_gang_of_all():
    jobs = [
        replicated_job(*INITIALIZER, replicas=2, parallelism=4),
        replicated_job(*LAUNCHER, replicas=2, parallelism=4, gangConfig={"gangMode": "Off"}),
    ]
    assert made(plan(jobset(*jobs, gangConfig=GANG)), WORKLOAD) == made(plan(WHOLE), WORKLOAD)


def test_settings_of_the_gang_are_passed_on():
    settings = {
        "schedulingConstraints": {"topology": [{"key": "rack"}]},
        "disruptionMode": {"all": {}},
    }
    job = replicated_job(*INITIALIZER, replicas=1, parallelism=4, gangConfig={**GANG, **settings})
    job["template"]["spec"]["template"]["spec"]["priorityClassName"] = "high"
    result = plan(jobset(job))
    expected = {**settings, "priorityClassName": "high", "schedulingPolicy": {"gang": {"minCount": 4}}}
    assert made(result, WORKLOAD)[0]["spec"]["podGroupTemplates"] == [
        {"name": "pg-replicated-job-1", **expected}
    ]
    reference = {"workloadName": "w-sample-jobset", "templateName": "pg-replicated-job-1"}
    assert made(result, POD_GROUP)[0]["spec"] == {"workloadRef": reference, **expected}


def users(name="w-sample-jobset", minimum=16, template="pg-sample-jobset", **fields):
    obj = workload((template, minimum))
    obj["metadata"] = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": "7"}
    obj["metadata"] |= fields.pop("metadata", {})
    obj["spec"] |= fields
    return obj


@pytest.mark.parametrize("name", ["w-sample-jobset", "mine"])
def test_the_workload_of_the_user_is_used_and_not_touched(name):
    """Also the example of the document in which the user has made the Workload."""
    theirs = users(name, minimum=12)
    before = copy.deepcopy(theirs)
    result = plan(WHOLE, theirs)
    assert theirs == before
    assert made(result, WORKLOAD) == []
    (group,) = made(result, POD_GROUP)
    assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 12}}
    assert group["spec"]["workloadRef"] == {"workloadName": name, "templateName": "pg-sample-jobset"}


def test_pods_that_name_their_group_are_left_alone():
    """The other half of that example: the templates name the group that the user has made, too."""
    jobs = [
        replicated_job(*names, replicas=2, parallelism=4, gangConfig={"gangMode": "Off"})
        for names in (INITIALIZER, LAUNCHER)
    ]
    for job in jobs:
        job["template"]["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": "theirs"}
    result = plan(jobset(*jobs, gangConfig=GANG))
    assert prerequisites(result) == ["Service"]
    assert {
        job["spec"]["template"]["spec"]["schedulingGroup"]["podGroupName"] for job in made(result, JOB)
    } == {"theirs"}


OTHER = {"apiGroup": "batch", "kind": "Job", "name": "train"}
STRANGER = [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "v", "controller": True}]


@pytest.mark.parametrize(
    ("workloads", "message"),
    [
        ([users(controllerRef=OTHER)], "Workload w-sample-jobset is for Job train"),
        (
            [users(metadata={"ownerReferences": STRANGER})],
            "Workload w-sample-jobset belongs to Job train, uid v",
        ),
        ([users(template="pg-other")], "Workload w-sample-jobset has no podGroupTemplate pg-sample-jobset"),
        (
            [users(minimum=17)],
            "Workload w-sample-jobset wants 17 pods in pg-sample-jobset, but there will be 16",
        ),
        (
            [users("one"), users("two")],
            "Workloads one, two all say that they are for this JobSet; only one can be",
        ),
    ],
)
def test_a_workload_that_does_not_fit_is_told_and_nothing_is_made(workloads, message):
    result = plan(WHOLE, *workloads)
    assert not any(isinstance(step, Create) for step in steps(result))
    (condition,) = status(result)["conditions"]
    assert (condition["type"], condition["status"]) == ("GangBlocked", "True")
    assert (condition["reason"], condition["message"]) == ("WorkloadMismatch", message)


def test_a_group_of_somebody_else_is_told_and_nothing_is_made():
    controller = JobSetController()
    controller.see(JOB_SET, WHOLE)
    metadata = {"name": "pg-sample-jobset", "namespace": "ns", "uid": "g", "resourceVersion": "2"}
    controller.see(POD_GROUP, {"metadata": metadata, "spec": {}})
    result = controller.plan("u", NOW)
    assert not any(isinstance(step, Create) for step in steps(result))
    (condition,) = status(result)["conditions"]
    assert condition["message"] == "PodGroup pg-sample-jobset exists and is not of this JobSet"
    controller.touched.take(9)
    controller.lose(POD_GROUP, {"metadata": metadata, "spec": {}})
    assert controller.touched.take(9) == ["u"]
    assert len(made(controller.plan("u", NOW), JOB)) == 4


def test_nothing_is_made_while_the_workload_is_being_deleted():
    leaving = users(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    result = plan(WHOLE, leaving)
    assert made(result, POD_GROUP) == []
    assert not made(result, JOB)


def test_a_workload_is_accepted_by_name_alone():
    theirs = users()
    del theirs["spec"]["controllerRef"]
    assert WORKLOAD.rules.validate(decode(WORKLOAD.struct, theirs)) == []
    assert len(made(plan(WHOLE, theirs), JOB)) == 4


def test_a_gang_of_all_is_a_tree_where_its_parts_have_settings_of_their_own():
    result = plan(tree())
    (blueprint,) = made(result, WORKLOAD)
    (root,) = blueprint["spec"]["compositePodGroupTemplates"]
    gang = {"gang": {"minGroupCount": 2}}
    assert root == {
        "name": "pg-sample-jobset",
        "schedulingPolicy": gang,
        **BLOCK,
        "podGroupTemplates": [
            {"name": "pg-replicated-job-1", "schedulingPolicy": {"gang": {"minCount": 8}}, **RACK},
            {"name": "pg-replicated-job-2", "schedulingPolicy": {"gang": {"minCount": 3}}},
        ],
    }
    (composite,) = made(result, COMPOSITE_POD_GROUP)
    reference = {"workloadName": "w-sample-jobset", "templateName": "pg-sample-jobset"}
    assert composite["metadata"]["name"] == "pg-sample-jobset"
    assert composite["spec"] == {"workloadRef": reference, "schedulingPolicy": gang, **BLOCK}
    parts = {obj["metadata"]["name"]: obj["spec"] for obj in made(result, POD_GROUP)}
    assert {name: spec["parentCompositePodGroupName"] for name, spec in parts.items()} == {
        "sample-jobset-pg-replicated-job-1": "pg-sample-jobset",
        "sample-jobset-pg-replicated-job-2": "pg-sample-jobset",
    }
    assert (
        parts["sample-jobset-pg-replicated-job-1"]["schedulingConstraints"] == RACK["schedulingConstraints"]
    )
    assert prerequisites(result) == ["Service", "Workload", "CompositePodGroup", "PodGroup", "PodGroup"]
    assert len(made(result, JOB)) == 3


def test_no_job_of_a_tree_is_made_before_its_root_is_there():
    controller = JobSetController()
    controller.see(JOB_SET, tree())
    (root,) = made(controller.plan("u", NOW), COMPOSITE_POD_GROUP)
    leaving = {"uid": "r", "resourceVersion": "2", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    controller.see(COMPOSITE_POD_GROUP, {**root, "metadata": root["metadata"] | leaving})
    result = controller.plan("u", NOW)
    assert (made(result, JOB), made(result, POD_GROUP)) == ([], [])


def test_where_there_are_no_trees_a_gang_of_all_is_one_group():
    controller = JobSetController(ALL_GATES - {Gate.COMPOSITE_POD_GROUP})
    controller.see(JOB_SET, tree())
    result = controller.plan("u", NOW)
    assert [obj["metadata"]["name"] for obj in made(result, POD_GROUP)] == ["pg-sample-jobset"]
    assert COMPOSITE_POD_GROUP not in controller.kinds


def test_a_workload_of_the_user_needs_the_root_of_a_tree():
    for workload in (users(), users(template="other")):
        (condition,) = status(plan(tree(), workload))["conditions"]
        missing = "compositePodGroupTemplate pg-sample-jobset"
        assert condition["message"] == f"Workload w-sample-jobset has no {missing}"


def tree_of_the_user(**changes):
    (blueprint,) = made(plan(tree()), WORKLOAD)
    theirs = {"name": "w-sample-jobset", "namespace": "ns", "uid": "w", "resourceVersion": "2"}
    root = blueprint["spec"]["compositePodGroupTemplates"][0] | changes
    spec = blueprint["spec"] | {"compositePodGroupTemplates": [root]}
    return {**blueprint, "metadata": theirs, "spec": spec}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"podGroupTemplates": [{"name": "pg-replicated-job-2", "schedulingPolicy": {"basic": {}}}]},
            "has no podGroupTemplate pg-replicated-job-1 in pg-sample-jobset",
        ),
        (
            {"schedulingPolicy": {"gang": {"minGroupCount": 3}}},
            "wants 3 groups in pg-sample-jobset, but there will be 2",
        ),
    ],
)
def test_a_tree_of_the_user_has_the_parts_where_they_belong(changes, problem):
    assert len(made(plan(tree(), tree_of_the_user()), JOB)) == 3
    result = plan(tree(), tree_of_the_user(**changes))
    assert not made(result, JOB)
    assert status(result)["conditions"][0]["message"] == f"Workload w-sample-jobset {problem}"


def test_templates_of_the_user_below_a_root_do_not_serve_a_jobset_without_one():
    theirs = tree_of_the_user()
    flat = jobset(*(job | {"gangConfig": {"gangMode": "Gang"}} for job in tree()["spec"]["replicatedJobs"]))
    result = plan(flat, theirs)
    assert not made(result, JOB)
    assert "has no podGroupTemplate pg-replicated-job-1" in status(result)["conditions"][0]["message"]


def test_a_workload_that_was_made_when_there_were_trees_is_told_of_when_there_are_none():
    (blueprint,) = made(plan(tree()), WORKLOAD)
    controller = JobSetController(ALL_GATES - {Gate.COMPOSITE_POD_GROUP})
    controller.see(JOB_SET, tree())
    controller.see(
        WORKLOAD, {**blueprint, "metadata": blueprint["metadata"] | {"uid": "w", "resourceVersion": "2"}}
    )
    (condition,) = status(controller.plan("u", NOW))["conditions"]
    assert condition["message"] == "Workload w-sample-jobset has no podGroupTemplate pg-sample-jobset"


def test_parts_may_differ_from_the_whole_where_they_start_one_after_the_other():
    result = plan(tree(startupPolicy={"startupPolicyOrder": "InOrder"}))
    (blueprint,) = made(result, WORKLOAD)
    first, second = blueprint["spec"]["podGroupTemplates"]
    assert first["schedulingConstraints"] == RACK["schedulingConstraints"]
    assert second["schedulingConstraints"] == BLOCK["schedulingConstraints"]


def test_a_replicated_job_may_be_called_like_its_jobset():
    names = ("sample-jobset", "c")
    obj = jobset(replicated_job(*names, replicas=2, parallelism=1, gangConfig=REPLICATED_GANG))
    groups = [item["metadata"]["name"] for item in made(plan(obj), POD_GROUP)]
    assert groups == ["sample-jobset-pg-sample-jobset-0", "sample-jobset-pg-sample-jobset-1"]


def test_no_gang_is_started_as_anything_less_where_its_kinds_are_not_served():
    controller = JobSetController(lacking=(WORKLOAD, POD_GROUP))
    assert not {WORKLOAD, POD_GROUP, COMPOSITE_POD_GROUP} & set(controller.kinds)
    asking = jobset(replicated_job("workers", "c", 2, 4), gangConfig={"gangMode": "Gang"})
    controller.see(JOB_SET, asking)
    (write,) = steps(controller.plan("u", NOW))
    (condition,) = write.obj["status"]["conditions"]
    assert (write.kind, condition["type"], condition["reason"]) == (JOB_SET, "GangBlocked", "APINotAvailable")
    assert "gangs need workloads.scheduling.k8s.io, podgroups.scheduling.k8s.io" in condition["message"]
    plain = jobset(replicated_job("workers", "c", 2, 4))
    plain["metadata"] |= {"name": "plain", "uid": "p"}
    controller.see(JOB_SET, plain)
    assert len(made(controller.plan("p", NOW), JOB)) == 2
