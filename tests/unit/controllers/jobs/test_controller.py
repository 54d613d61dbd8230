"""Plans for Jobs in every situation that their spec speaks of; the bounds that always hold are property tests."""

import copy
import sys

import pytest

from posse.controllers.jobs.controller import JobController
from posse.controllers.jobs.pods import COMPLETION_INDEX, INDEX_FAILURE_COUNT, TRACKING_FINALIZER
from posse.kinds.registry import JOB, POD
from posse.model.timestamps import format_timestamp
from tests.support.plans import job_plan

NOW = 1_800_000_000.0


def job(status=None, name="j", **spec):
    template = spec.pop(
        "template", {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]}}
    )
    obj = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "ns", "uid": "u", "resourceVersion": "1"},
        "spec": {"template": template, **spec},
    }
    JOB.rules.default(obj)
    JOB.rules.prepare_create(obj)
    started = {"startTime": format_timestamp(NOW - 100)}
    return obj | {"status": started | (status or {})}


def pod(name, phase="Running", index=None, exit_code=1, ended=0.0, failures=0, **metadata):
    annotations = {} if index is None else {COMPLETION_INDEX: str(index), INDEX_FAILURE_COUNT: str(failures)}
    status = {"phase": phase}
    if phase in {"Succeeded", "Failed"}:
        code = exit_code if phase == "Failed" else 0
        terminated = {"exitCode": code, "finishedAt": format_timestamp(NOW - ended)}
        status["containerStatuses"] = [{"name": "c", "state": {"terminated": terminated}}]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    return {
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": name,
            "resourceVersion": "1",
            "annotations": annotations,
            "finalizers": [TRACKING_FINALIZER],
            "ownerReferences": [owner],
            **metadata,
        },
        "spec": {"nodeName": "n"},
        "status": status,
    }


def plan(obj, *pods, now=NOW):
    controller = JobController()
    controller.see(JOB, obj)
    for item in pods:
        controller.see(POD, item)
    return job_plan(controller.plan("u", now))


def conditions(result):
    return {
        item["type"]: item["reason"]
        for item in result.job["status"].get("conditions", [])
        if item["status"] == "True"
    }


def names(pods):
    return sorted(item["metadata"]["name"] for item in pods)


def indexes(result):
    return [int(item["metadata"]["annotations"][COMPLETION_INDEX]) for item in result.create]


INDEXED = {"completionMode": "Indexed", "completions": 4, "parallelism": 4}


def test_pods_of_an_indexed_job_are_told_who_they_are():
    (made,) = plan(job(completionMode="Indexed", completions=1)).create
    assert made["metadata"]["generateName"] == "j-0-"
    assert made["metadata"]["labels"][COMPLETION_INDEX] == "0"
    assert made["metadata"]["labels"]["job-name"] == "j"
    assert made["metadata"]["annotations"] == {COMPLETION_INDEX: "0"}
    assert made["spec"]["hostname"] == "j-0"
    (variable,) = made["spec"]["containers"][0]["env"]
    assert variable["name"] == "JOB_COMPLETION_INDEX"
    assert variable["valueFrom"]["fieldRef"]["fieldPath"] == f"metadata.labels['{COMPLETION_INDEX}']"
    (owner,) = made["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == ("u", True, True)


def test_a_variable_of_their_own_is_left_alone():
    variable = {"name": "JOB_COMPLETION_INDEX", "value": "mine"}
    containers = [{"name": "c", "image": "i:1", "env": [variable]}]
    template = {"spec": {"restartPolicy": "Never", "containers": containers}}
    (made,) = plan(job(completionMode="Indexed", completions=1, template=template)).create
    assert made["spec"]["containers"][0]["env"] == [variable]


def test_long_names_are_cut_before_the_index():
    name = "n" * 60
    (made,) = plan(job(completionMode="Indexed", completions=1, name=name)).create
    assert made["metadata"]["generateName"] == "n" * 55 + "-0-"


def test_pods_of_other_jobs_are_all_alike():
    created = plan(job(completions=5, parallelism=2)).create
    assert [item["metadata"]["generateName"] for item in created] == ["j-", "j-"]
    assert all("hostname" not in item["spec"] for item in created)


def test_the_lowest_free_indexes_come_first():
    status = {"completedIndexes": "1", "succeeded": 1}
    assert indexes(plan(job(status, **INDEXED), pod("a", index=0))) == [2, 3]


def test_a_finished_pod_is_counted_and_then_released():
    result = plan(job(completions=2), pod("a", "Succeeded"), pod("b", "Failed"))
    assert result.job["status"]["uncountedTerminatedPods"] == {"succeeded": ["a"], "failed": ["b"]}
    assert names(result.release) == ["a", "b"]
    released = [pod("a", "Succeeded", finalizers=[]), pod("b", "Failed", finalizers=[])]
    status = plan(result.job, *released).job["status"]
    assert (status["succeeded"], status["failed"], status["uncountedTerminatedPods"]) == (1, 1, {})


def test_failures_are_answered_with_a_growing_pause():
    result = plan(job(completions=1), pod("a", "Failed", ended=5))
    assert not result.create
    assert result.wake_at == NOW + 5
    assert len(plan(job(completions=1), pod("a", "Failed", ended=10)).create) == 1
    assert plan(job(completions=1), *(pod(n, "Failed", ended=5) for n in "abc")).wake_at == NOW + 35


def test_too_many_failures_end_the_job():
    result = plan(job(completions=2, backoffLimit=1), pod("a", "Failed"), pod("b", "Failed"), pod("c"))
    assert conditions(result) == {"FailureTarget": "BackoffLimitError"}
    assert names(result.delete) == ["c"]
    assert not result.create


def test_restarts_in_place_count_against_the_limit():
    template = {"spec": {"restartPolicy": "OnFailure", "containers": [{"name": "c", "image": "i:1"}]}}
    running = pod("a")
    running["status"]["containerStatuses"] = [{"name": "c", "restartCount": 2}]
    obj = job(completions=1, backoffLimit=2, template=template)
    assert conditions(plan(obj, running)) == {"FailureTarget": "BackoffLimitError"}


def test_the_end_is_told_only_when_every_pod_has_ended():
    target = {"type": "FailureTarget", "status": "True", "reason": "DeadlineExceeded", "message": "m"}
    obj = job({"conditions": [target]}, completions=2)
    leaving = pod("a", deletionTimestamp=format_timestamp(NOW), deletionGracePeriodSeconds=30, finalizers=[])
    assert "Failed" not in conditions(plan(obj, leaving))
    result = plan(obj)
    assert conditions(result)["Failed"] == "DeadlineExceeded"
    assert "completionTime" not in result.job["status"]
    assert [(news.reason, news.is_warning) for news in result.news] == [("DeadlineExceeded", True)]


def test_a_deadline_ends_the_job_and_is_waited_for():
    assert plan(job(activeDeadlineSeconds=150), pod("a")).wake_at == NOW + 50
    result = plan(job(activeDeadlineSeconds=100), pod("a"))
    assert conditions(result) == {"FailureTarget": "DeadlineExceeded"}


def test_without_completions_the_first_success_ends_the_work():
    obj = job(parallelism=3)
    result = plan(obj, pod("a", "Succeeded"), pod("b"))
    assert not result.create
    assert "conditions" not in result.job["status"]
    assert conditions(plan(obj, pod("a", "Succeeded"), pod("b", "Failed"))) == {
        "SuccessCriteriaMet": "CompletionsReached"
    }


def test_fewer_are_wanted_and_the_least_started_go():
    waiting = pod("waiting", "Pending")
    waiting["spec"] = {}
    result = plan(job(completions=4, parallelism=1), pod("old"), waiting, pod("starting", "Pending"))
    assert names(result.withdraw) == ["starting", "waiting"]
    assert not result.delete


def test_an_indexed_job_may_grow_and_shrink():
    assert indexes(plan(job(completionMode="Indexed", completions=3, parallelism=3), pod("a", index=0))) == [
        1,
        2,
    ]
    smaller = job({"completedIndexes": "0,3"}, completionMode="Indexed", completions=2, parallelism=2)
    result = plan(smaller, pod("a", index=1), pod("b", index=2))
    assert names(result.withdraw) == ["b"]
    assert result.job["status"]["completedIndexes"] == "0"


def test_of_two_pods_with_one_index_one_goes():
    result = plan(job(**INDEXED), pod("a", index=0), pod("b", "Pending", index=0))
    assert names(result.withdraw) == ["b"]


@pytest.mark.parametrize(("policy", "created"), [("TerminatingOrFailed", 1), ("Failed", 0)])
def test_a_pod_on_its_way_out_is_replaced_at_once_or_when_it_has_ended(policy, created):
    leaving = pod(
        "a",
        deletionTimestamp=format_timestamp(NOW - 20),
        deletionGracePeriodSeconds=30,
    )
    result = plan(job(podReplacementPolicy=policy, backoffLimit=3), leaving)
    assert len(result.create) == created
    assert names(result.release) == ["a"] * created


POLICY = {
    "rules": [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    ]
}


def test_a_failure_policy_can_fail_the_job_at_once():
    result = plan(job(podFailurePolicy=POLICY), pod("a", "Failed", exit_code=42))
    assert conditions(result) == {"FailureTarget": "PodFailurePolicy"}
    (condition,) = result.job["status"]["conditions"]
    assert condition["message"] == (
        "Container c for pod ns/a failed with exit code 42 matching FailJob rule at index 0"
    )


def test_a_failure_policy_can_overlook_failures():
    disrupted = pod("a", "Failed")
    disrupted["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True"}]
    result = plan(job(podFailurePolicy=POLICY, backoffLimit=0), disrupted)
    assert result.job["status"]["uncountedTerminatedPods"] == {}
    assert names(result.release) == ["a"]
    assert conditions(result) == {}


def test_failures_that_are_overlooked_are_answered_with_a_growing_pause_too():
    policy = {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}}]}
    obj = job(podFailurePolicy=policy, backoffLimit=0)
    failed = [pod("a", "Failed", exit_code=42, ended=30.0), pod("b", "Failed", exit_code=42)]
    assert plan(obj, failed[0], now=NOW - 21).wake_at == NOW - 20
    assert len(plan(obj, failed[0], now=NOW - 20).create) == 1
    assert plan(obj, *failed).wake_at == NOW + 20
    assert len(plan(obj, *failed, now=NOW + 20).create) == 1


def test_each_index_has_failures_of_its_own():
    obj = job(**INDEXED, backoffLimitPerIndex=1)
    result = plan(obj, pod("a", "Failed", index=0, ended=10), pod("b", "Failed", index=1, failures=1))
    assert result.job["status"]["failedIndexes"] == "1"
    assert indexes(result) == [0, 2, 3]
    counts = [item["metadata"]["annotations"][INDEX_FAILURE_COUNT] for item in result.create]
    assert counts == ["1", "0", "0"]
    # The pod of an index that is tried again stays until its successor carries the number of failures.
    assert names(result.release) == ["b"]
    replaced = plan(obj, pod("a", "Failed", index=0), pod("c", index=0, failures=1))
    assert names(replaced.release) == ["a"]


@pytest.mark.parametrize(
    ("limit", "reason"), [(0, "MaxFailedIndexesExceeded"), (None, "FailedIndexes"), (1, "FailedIndexes")]
)
def test_failed_indexes_end_the_job(limit, reason):
    status = {"completedIndexes": "0-2", "failedIndexes": ""}
    obj = job(status, **INDEXED, backoffLimitPerIndex=0, maxFailedIndexes=limit)
    assert conditions(plan(obj, pod("a", "Failed", index=3))) == {"FailureTarget": reason}


@pytest.mark.parametrize(
    ("rule", "is_met"),
    [
        ({"succeededIndexes": "0"}, True),
        ({"succeededIndexes": "0-1"}, False),
        ({"succeededIndexes": "0-1", "succeededCount": 1}, True),
        ({"succeededCount": 2}, False),
    ],
)
def test_a_success_policy_ends_the_job_early(rule, is_met):
    obj = job(**INDEXED, successPolicy={"rules": [rule]})
    result = plan(obj, pod("a", "Succeeded", index=0), pod("b", index=1))
    assert conditions(result) == ({"SuccessCriteriaMet": "SuccessPolicy"} if is_met else {})
    assert names(result.delete) == (["b"] if is_met else [])


def test_suspension_takes_pods_back_uncounted_and_stops_the_clock():
    result = plan(job(suspend=True, activeDeadlineSeconds=1), pod("a"))
    assert names(result.withdraw) == ["a"]
    assert conditions(result) == {"Suspended": "JobSuspended"}
    assert "startTime" not in result.job["status"]
    resumed = copy.deepcopy(result.job)
    resumed["spec"]["suspend"] = False
    status = plan(resumed, now=NOW + 500).job["status"]
    assert status["startTime"] == format_timestamp(NOW + 500)
    assert [(item["type"], item["status"]) for item in status["conditions"]] == [("Suspended", "False")]


def test_a_finished_job_goes_when_its_time_is_up():
    complete = {"type": "Complete", "status": "True", "lastTransitionTime": format_timestamp(NOW - 10)}
    obj = job({"conditions": [complete]}, ttlSecondsAfterFinished=30)
    assert plan(obj).wake_at == NOW + 20
    assert not plan(obj).is_expired
    assert plan(obj, now=NOW + 20).is_expired


def test_jobs_of_another_manager_are_left_alone():
    result = plan(job({"startTime": ""}, managedBy="acme.io/jobs"))
    assert result.job is None
    assert not result.create


def test_pods_whose_job_is_going_or_gone_are_let_go():
    going = job(completions=2)
    going["metadata"]["deletionTimestamp"] = format_timestamp(NOW)
    result = plan(going, pod("a"), pod("b", finalizers=[]))
    assert names(result.release) == ["a"]
    assert not result.create
    controller = JobController()
    controller.see(POD, pod("a"))
    assert names(job_plan(controller.plan("u", NOW)).release) == ["a"]
    controller.see(POD, pod("a", ownerReferences=[], resourceVersion="2"))
    assert names(job_plan(controller.plan("", NOW)).release) == ["a"]
    assert not job_plan(controller.plan("u", NOW)).release


def test_old_news_changes_nothing():
    controller = JobController()
    controller.see(JOB, job(completions=1))
    controller.see(POD, pod("a", "Succeeded", resourceVersion="5"))
    controller.see(POD, pod("a", resourceVersion="4"))
    assert not job_plan(controller.plan("u", NOW)).create


def test_a_job_of_many_indexes_costs_no_more_than_its_pods():
    """Nothing is made for each of its completions."""
    many = 2_000_000_000
    rule = {"succeededIndexes": f"0-{many - 2}"}
    obj = job(
        {"completedIndexes": f"0-{many - 9}"},
        **INDEXED | {"completions": many, "parallelism": 3},
        successPolicy={"rules": [rule]},
    )
    result = plan(obj, pod("a", "Succeeded", index=many - 8), pod("b", index=many - 6))
    assert indexes(result) == [many - 7, many - 5]
    assert result.job["status"]["completedIndexes"] == f"0-{many - 8}"
    assert result.job["status"]["succeeded"] == many - 7


def calls_of_a_plan(count, **spec):
    """Functions that a plan enters while so many pods run and none is missing."""
    controller = JobController()
    controller.see(JOB, job(completions=count, parallelism=count, **spec))
    for number in range(count):
        controller.see(POD, pod(f"p-{number}", index=number))
    calls = 0

    def count_calls(_frame, event, _argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count_calls)
    try:
        controller.plan("u", NOW)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("spec", [{}, {"completionMode": "Indexed"}, {"scheduling": {}}])
def test_a_plan_enters_no_function_per_active_pod(spec):
    """Each of 50,000 pods touches its Job several times: 0.3 s per plan left no time for anything else."""
    assert calls_of_a_plan(400, **spec) < calls_of_a_plan(100, **spec) + 20
