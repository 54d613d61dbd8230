"""Plans for JobSets in every situation that their spec speaks of; gangs, restarts and sizes have tests of their own."""

import pytest

from posse.controllers.jobsets.controller import JobSetController
from posse.controllers.steps import Create, Delete, Write
from posse.kinds.registry import JOB, JOB_SET, POD_GROUP, SERVICE
from posse.model.feature_gates import ALL_GATES, Gate
from posse.model.timestamps import format_timestamp
from tests.support.jobset_plans import (
    COMPLETE,
    GANG,
    NOW,
    PREFIX,
    READY,
    as_seen,
    children,
    condition,
    conditions,
    controller_of,
    deleted,
    failed,
    jobset,
    made,
    names,
    plan,
    replicated_job,
    status,
    steps,
    written,
)

EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"


def test_jobs_are_told_who_they_are():
    obj = jobset(
        replicated_job("driver", groupName="a"),
        replicated_job("workers", 2, metadata={"labels": {"l": "1"}, "annotations": {"a": "1"}}),
        coordinator={"replicatedJob": "driver"},
        suspend=False,
    )
    job = made(plan(obj))[1]
    marks = {
        "jobset-name": "js",
        "jobset-uid": "u",
        "replicatedjob-name": "workers",
        "replicatedjob-replicas": "2",
        "global-replicas": "3",
        "job-index": "0",
        "job-global-index": "1",
        "job-key": "3088a61cca4e2b285ba0c7152a3394241edcfbc1",
        "restart-attempt": "0",
        "group-name": "default",
        "group-replicas": "2",
        "job-group-index": "0",
        "coordinator": "js-driver-0-0.js",
    }
    marks = {PREFIX + key: value for key, value in marks.items()}
    assert job["metadata"]["name"] == "js-workers-0"
    assert job["metadata"]["labels"] == {"l": "1", **marks}
    assert job["metadata"]["annotations"] == {"a": "1", **marks}
    assert job["spec"]["template"]["metadata"] == {"labels": marks, "annotations": marks}
    assert job["spec"]["template"]["spec"]["subdomain"] == "js"
    assert job["spec"]["suspend"] is False
    (owner,) = job["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("JobSet", "u", True)


def test_pods_are_reached_through_a_headless_service():
    (service,) = made(plan(jobset(network={"subdomain": "net", "publishNotReadyAddresses": False})), SERVICE)
    assert service["metadata"]["name"] == "net"
    assert service["spec"] == {
        "clusterIP": "None",
        "selector": {PREFIX + "jobset-name": "js"},
        "publishNotReadyAddresses": False,
    }
    result = plan(jobset(network={"enableDNSHostnames": False}))
    assert made(result, SERVICE) == []
    assert "subdomain" not in made(result)[0]["spec"]["template"]["spec"]


def test_a_service_that_exists_is_used():
    controller = controller_of(jobset())
    service = {
        "metadata": {"name": "js", "namespace": "default", "uid": "s", "resourceVersion": "2"},
        "spec": {},
    }
    controller.see(SERVICE, service)
    assert made(controller.plan("u", NOW), SERVICE) == []
    controller.touched.take(9)
    controller.lose(SERVICE, service)
    assert controller.touched.take(9) == ["u"]
    assert len(made(controller.plan("u", NOW), SERVICE)) == 1


def test_exclusive_placement_attracts_and_repels():
    obj = jobset(
        replicated_job("a"),
        replicated_job("b", metadata={"annotations": {EXCLUSIVE: "block"}}),
        annotations={EXCLUSIVE: "rack"},
    )
    one, other = made(plan(obj))
    affinity = one["spec"]["template"]["spec"]["affinity"]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    key = one["metadata"]["labels"][PREFIX + "job-key"]
    (attraction,) = affinity["podAffinity"][required]
    assert attraction == {
        "labelSelector": {
            "matchExpressions": [{"key": PREFIX + "job-key", "operator": "In", "values": [key]}]
        },
        "topologyKey": "rack",
        "namespaceSelector": {},
    }
    (repulsion,) = affinity["podAntiAffinity"][required]
    assert [item["operator"] for item in repulsion["labelSelector"]["matchExpressions"]] == [
        "Exists",
        "NotIn",
    ]
    assert other["metadata"]["annotations"][EXCLUSIVE] == "block"
    (attraction,) = other["spec"]["template"]["spec"]["affinity"]["podAffinity"][required]
    assert attraction["topologyKey"] == "block"


def test_exclusive_placement_by_labels_of_nodes():
    strategy = "alpha.jobset.sigs.k8s.io/node-selector"
    (job,) = made(plan(jobset(replicated_job("a"), annotations={EXCLUSIVE: "rack", strategy: "true"})))
    spec = job["spec"]["template"]["spec"]
    assert "affinity" not in spec
    assert spec["nodeSelector"] == {"alpha.jobset.sigs.k8s.io/namespaced-job": "default_js-a-0"}
    assert spec["tolerations"] == [
        {"key": "alpha.jobset.sigs.k8s.io/no-schedule", "operator": "Exists", "effect": "NoSchedule"}
    ]


def test_jobs_are_counted():
    obj = jobset()
    jobs = children(obj, js_driver_0=COMPLETE, js_workers_0=READY, js_workers_1={"active": 2, "ready": 1})
    counts = status(plan(obj, jobs))["replicatedJobsStatus"]
    assert counts == [
        {"name": "driver", "ready": 0, "succeeded": 1, "failed": 0, "active": 0, "suspended": 0},
        {"name": "workers", "ready": 1, "succeeded": 0, "failed": 0, "active": 2, "suspended": 0},
    ]


def test_nothing_is_done_for_those_whom_others_manage():
    assert steps(plan(jobset(managedBy="kueue.x-k8s.io/multikueue"))) == []
    assert len(made(plan(jobset(managedBy="jobset.sigs.k8s.io/jobset-controller")))) == 3


def test_a_jobset_that_is_being_deleted_is_left_alone():
    obj = jobset()
    obj["metadata"]["deletionTimestamp"] = format_timestamp(NOW)
    assert steps(plan(obj)) == []
    assert steps(JobSetController().plan("unknown", NOW)) == []


DONE = {"js_driver_0": COMPLETE, "js_workers_0": COMPLETE, "js_workers_1": COMPLETE}


@pytest.mark.parametrize(
    ("policy", "done", "is_complete"),
    [
        ({"operator": "All"}, ["js_driver_0", "js_workers_0"], False),
        ({"operator": "All"}, DONE, True),
        ({"operator": "Any"}, ["js_workers_0"], True),
        ({"operator": "Any", "targetReplicatedJobs": ["driver"]}, ["js_workers_0"], False),
        ({"operator": "All", "targetReplicatedJobs": ["driver"]}, ["js_driver_0"], True),
    ],
)
def test_success_is_what_the_policy_says(policy, done, is_complete):
    obj = jobset(successPolicy=policy)
    result = plan(obj, children(obj, **dict.fromkeys(done, COMPLETE)))
    assert ("Completed" in conditions(result)) is is_complete
    assert status(result).get("terminalState") == ("Completed" if is_complete else None)
    if is_complete:
        assert [news.reason for news in result.news] == ["AllJobsCompleted"]


def test_after_the_end_what_runs_is_deleted_and_what_is_done_stays():
    obj = jobset(status={"terminalState": "Completed", "conditions": [condition("Completed")]})
    result = plan(obj, children(obj, js_driver_0=COMPLETE, js_workers_0=READY))
    assert deleted(result) == ["js-workers-0", "js-workers-1"]
    assert made(result) == []


STARTED = {"conditions": [condition("PodGroupInitiallyScheduled")]}


@pytest.mark.parametrize(
    ("created", "group_status", "is_belated"),
    [("13:00:05", {}, True), ("13:00:05", STARTED, False), ("12:59:59", {}, False)],
)
def test_after_the_end_a_group_that_was_made_anew_for_nobody_goes(created, group_status, is_belated):
    obj = jobset(gangConfig=GANG)
    (group,) = made(plan(obj), POD_GROUP)
    group = as_seen(group, status=group_status, metadata={"creationTimestamp": f"2026-01-01T{created}Z"})
    jobs = children(obj, js_driver_0=failed("BackoffLimitError", ""))
    for job in jobs:
        job["metadata"]["creationTimestamp"] = "2026-01-01T13:00:00Z"
    ended = jobset(gangConfig=GANG, status={"conditions": [condition("Failed")]})
    assert deleted(plan(ended, jobs, [group]), POD_GROUP) == (["pg-js"] if is_belated else [])


def test_a_finished_jobset_goes_in_time():
    ended = {"conditions": [condition("Completed", at=NOW - 10)]}
    early = plan(jobset(status=ended, ttlSecondsAfterFinished=30))
    assert (early.wake_at, deleted(early, JOB_SET)) == (NOW + 20, [])
    assert deleted(plan(jobset(status=ended, ttlSecondsAfterFinished=10)), JOB_SET) == ["js"]
    assert plan(jobset(status=ended)).wake_at is None


def after_failure(policy, reason="BackoffLimitError", message="no luck", job="js_workers_0", **status):
    obj = jobset(status=status, **({} if policy is None else {"failurePolicy": policy}))
    return plan(obj, children(obj, **{job: failed(reason, message)}))


FIRST = " (first failed job: js-workers-0)"


def rule(action, name="rule", **fields):
    return {"name": name, "action": action, **fields}


@pytest.mark.parametrize(
    ("policy", "counts", "reason", "message"),
    [
        (None, {}, "FailedJobs", f"jobset failed due to one or more job failures{FIRST}"),
        ({}, {}, "ReachedMaxRestarts", f"jobset failed due to reaching max number of restarts{FIRST}"),
        (
            {"maxRestarts": 2},
            {"restarts": 3, "restartsCountTowardsMax": 2},
            "ReachedMaxRestarts",
            f"jobset failed due to reaching max number of restarts{FIRST}",
        ),
        (
            {"maxRestarts": 2, "rules": [rule("FailJobSet", targetReplicatedJobs=["workers"])]},
            {},
            "FailJobSetFailurePolicyAction",
            f"applying FailJobSet failure policy action{FIRST}",
        ),
    ],
)
def test_a_failed_job_fails_the_jobset(policy, counts, reason, message):
    result = after_failure(policy, **counts)
    (found,) = status(result)["conditions"]
    assert (found["type"], found["reason"], found["message"]) == ("Failed", reason, message)
    assert status(result)["terminalState"] == "Failed"
    assert [(news.reason, news.is_warning) for news in result.news] == [(reason, True)]
    assert made(result) == []


MATCHING = [
    {},
    {"onJobFailureReasons": ["BackoffLimitError"]},
    {"onJobFailureMessagePatterns": ["nothing", "l[uo]ck"]},
    {"targetReplicatedJobs": ["workers"]},
]
NOT_MATCHING = [
    {"onJobFailureReasons": ["DeadlineExceeded"]},
    {"onJobFailureMessagePatterns": ["^luck", "("]},
    {"targetReplicatedJobs": ["driver"]},
]


@pytest.mark.parametrize(
    ("fields", "is_met"), [(item, True) for item in MATCHING] + [(item, False) for item in NOT_MATCHING]
)
def test_rules_are_met_when_all_their_conditions_are(fields, is_met):
    rules = [rule("RestartJobSetAndIgnoreMaxRestarts", **fields)]
    result = after_failure({"maxRestarts": 1, "rules": rules}, restarts=4, restartsCountTowardsMax=1)
    if is_met:
        assert status(result)["restarts"] == 5
        assert status(result)["restartsCountTowardsMax"] == 1
        assert conditions(result) == {"RestartingJobSet": "FailurePolicy_rule"}
    else:
        assert conditions(result) == {"Failed": "ReachedMaxRestarts"}


def test_a_restart_is_counted_and_told():
    result = after_failure({"maxRestarts": 1})
    assert status(result)["restarts"] == status(result)["restartsCountTowardsMax"] == 1
    assert conditions(result) == {"RestartingJobSet": "DefaultFailurePolicy"}
    text = f"applying RestartJobSet failure policy action{FIRST}"
    assert [news[:3] for news in result.news] == [
        ("DefaultFailurePolicy", text, True),
        ("RestartJobSetFailurePolicyAction", text, True),
    ]


def test_the_job_that_failed_first_is_named():
    obj = jobset()
    failures = {"js_driver_0": failed(at=NOW - 5), "js_workers_1": failed(at=NOW - 50)}
    assert "js-workers-1" in status(plan(obj, children(obj, **failures)))["conditions"][0]["message"]


def with_dependency(status):
    dependency = [{"name": "driver", "status": status}]
    return jobset(replicated_job("driver", 2), replicated_job("workers", dependsOn=dependency))


@pytest.mark.parametrize(
    ("wanted", "statuses", "is_met"),
    [
        ("Ready", {}, False),
        ("Ready", {"js_driver_0": READY}, False),
        ("Ready", {"js_driver_0": READY, "js_driver_1": COMPLETE}, True),
        ("Complete", {"js_driver_0": READY, "js_driver_1": COMPLETE}, False),
        ("Complete", {"js_driver_0": COMPLETE, "js_driver_1": COMPLETE}, True),
    ],
)
def test_jobs_wait_for_what_they_depend_on(wanted, statuses, is_met):
    obj = with_dependency(wanted)
    assert names(made(plan(obj))) == ["js-driver-0", "js-driver-1"]
    jobs = children(obj, **statuses)[:2]
    assert names(made(plan(obj, jobs))) == (["js-workers-0"] if is_met else [])


IN_ORDER = {"startupPolicy": {"startupPolicyOrder": "InOrder"}}


def test_jobs_start_in_order():
    obj = jobset(**IN_ORDER)
    result = plan(obj)
    assert names(made(result)) == ["js-driver-0"]
    assert conditions(result) == {"StartupPolicyInProgress": "InOrderStartupPolicyInProgress"}
    jobs = children(obj, js_driver_0=READY, js_workers_0=READY, js_workers_1=READY)
    assert names(made(plan(obj, jobs[:1]))) == ["js-workers-0", "js-workers-1"]
    started = jobset(status={"conditions": status(result)["conditions"]}, **IN_ORDER)
    result = plan(started, jobs)
    assert conditions(result) == {"StartupPolicyCompleted": "InOrderStartupPolicyCompleted"}
    assert conditions(result, "False") == {"StartupPolicyInProgress": "InOrderStartupPolicyCompleted"}


def test_a_suspended_jobset_has_jobs_but_no_groups():
    obj = jobset(suspend=True, gangConfig=GANG, **IN_ORDER)
    result = plan(obj)
    assert [job["spec"]["suspend"] for job in made(result)] == [True] * 3
    assert made(result, POD_GROUP) == []
    assert conditions(result) == {"Suspended": "SuspendedJobs"}


def test_suspending_stops_jobs_before_it_takes_their_groups():
    running = jobset(gangConfig=GANG)
    (group,) = made(plan(running), POD_GROUP)
    jobs = children(running, js_driver_0=COMPLETE)
    result = plan(jobset(gangConfig=GANG, suspend=True), jobs, [as_seen(group)])
    assert [job["spec"]["suspend"] for job in written(result)] == [True, True]
    assert deleted(result, POD_GROUP) == ["pg-js"]
    kinds = [(type(stage[0]), stage[0].kind) for stage in result.stages]
    assert kinds.index((Write, JOB)) < kinds.index((Delete, POD_GROUP))


SUSPENDED = {"conditions": [condition("Suspended", "SuspendedJobs")]}


def test_resuming_takes_over_what_has_changed():
    asleep = children(jobset(suspend=True, gangConfig=GANG))
    assert all(job["spec"]["suspend"] for job in asleep)
    obj = jobset(gangConfig=GANG, status=SUSPENDED)
    pods = obj["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    toleration = {"key": "t", "operator": "Exists"}
    pods["metadata"] = {"labels": {"queue": "fast"}}
    pods["spec"] |= {"nodeSelector": {"pool": "a"}, "tolerations": [toleration]}
    result = plan(obj, asleep)
    assert names(made(result, POD_GROUP)) == ["pg-js"]
    driver, *workers = written(result)
    assert [job["spec"]["suspend"] for job in (driver, *workers)] == [False] * 3
    template = driver["spec"]["template"]
    assert template["metadata"]["labels"]["queue"] == "fast"
    assert template["metadata"]["labels"][PREFIX + "jobset-name"] == "js"
    assert template["spec"]["nodeSelector"] == {"pool": "a"}
    assert template["spec"]["tolerations"] == [toleration]
    assert conditions(result, "False") == {"Suspended": "ResumeJobs"}


def test_jobs_do_not_go_on_before_the_old_group_is_gone():
    asleep = children(jobset(suspend=True, gangConfig=GANG))
    (group,) = made(plan(jobset(gangConfig=GANG)), POD_GROUP)
    leaving = as_seen(group, metadata={"deletionTimestamp": format_timestamp(NOW)})
    result = plan(jobset(gangConfig=GANG, status=SUSPENDED), asleep, [leaving])
    assert written(result) == []
    assert made(result, POD_GROUP) == []


def test_without_groups_in_the_api_jobsets_run_as_if_they_asked_for_none():
    controller = JobSetController(ALL_GATES - {Gate.GENERIC_WORKLOAD})
    controller.see(JOB_SET, jobset(gangConfig=GANG))
    result = controller.plan("u", NOW)
    assert [kind.name for kind in dict.fromkeys(step.kind for step in steps(result))] == [
        "Service",
        "Job",
        "JobSet",
    ]
    assert all("schedulingGroup" not in job["spec"]["template"]["spec"] for job in made(result))


def test_nothing_is_planned_twice():
    """A plan that has been carried out leaves nothing to do."""
    obj = jobset(gangConfig=GANG)
    controller = controller_of(obj)
    first = controller.plan("u", NOW)
    for step in steps(first):
        seen = as_seen(step.obj) if isinstance(step, Create) else step.obj
        version = {"resourceVersion": "9"}
        controller.see(step.kind, {**seen, "metadata": seen["metadata"] | version})
    assert steps(controller.plan("u", NOW + 1)) == []


def test_jobs_of_others_are_nobodys_business():
    controller = controller_of(jobset())
    controller.touched.take(9)
    metadata = {"name": "j", "namespace": "default", "uid": "j", "resourceVersion": "3"}
    controller.see(JOB, {"metadata": metadata, "spec": {}})
    controller.lose(JOB, {"metadata": metadata, "spec": {}})
    assert controller.touched.take(9) == []


def test_one_plan_makes_a_bounded_number_of_jobs():
    """The next one is made when these are seen."""
    made = steps(plan(jobset(replicated_job("a", 400), replicated_job("b", 19_600))))
    jobs = [step for step in made if isinstance(step, Create) and step.kind is JOB]
    assert len(jobs) == 500
    assert {job.obj["metadata"]["name"] for job in jobs} >= {"js-a-0", "js-a-399", "js-b-0", "js-b-99"}
