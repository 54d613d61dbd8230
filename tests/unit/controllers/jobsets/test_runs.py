"""Plans for the runs of a JobSet and the sizes of its gangs: what comes back after a restart, and what is not missed."""

import pytest

from posse.kinds.registry import JOB, POD_GROUP, SERVICE, WORKLOAD
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

RESTARTED = {"restarts": 1, "conditions": [condition("RestartingJobSet", "DefaultFailurePolicy")]}


def restarted(strategy, **spec):
    """A JobSet in its second run, and its Jobs of the first."""
    policy = {"maxRestarts": 3, "restartStrategy": strategy}
    return jobset(status=RESTARTED, failurePolicy=policy, **spec), children(jobset())


def test_jobs_come_back_as_soon_as_their_predecessors_are_gone():
    obj, before = restarted("Recreate")
    assert deleted(plan(obj, before)) == ["js-driver-0", "js-workers-0", "js-workers-1"]
    assert made(plan(obj, before)) == []
    leaving = as_seen(
        before[1], metadata={"deletionTimestamp": format_timestamp(NOW), "resourceVersion": "6"}
    )
    result = plan(obj, [leaving])
    assert deleted(result) == []
    assert names(made(result)) == ["js-driver-0", "js-workers-1"]
    assert made(result)[0]["metadata"]["labels"][PREFIX + "restart-attempt"] == "1"


def test_jobs_may_wait_until_all_predecessors_are_gone():
    obj, before = restarted("BlockingRecreate")
    assert made(plan(obj, before[:1])) == []
    assert len(made(plan(obj))) == 3


def test_a_restart_is_over_when_all_jobs_are_up():
    obj, _ = restarted("Recreate")
    jobs = children(obj, js_driver_0=COMPLETE, js_workers_0=READY, js_workers_1=READY)
    result = plan(obj, jobs)
    assert conditions(result, "False") == {"RestartingJobSet": "JobsReady"}
    assert plan(obj, jobs[:2]).news == []


def test_the_jobs_of_a_gang_come_back_together():
    obj, before = restarted("Recreate", gangConfig=GANG)
    (group,) = made(plan(jobset(gangConfig=GANG)), POD_GROUP)
    old = as_seen(group)
    result = plan(obj, before, [old])
    assert deleted(result, POD_GROUP) == ["pg-js"]
    assert (made(result), made(result, POD_GROUP)) == ([], [])
    # One Job of the first run is left, then only its group, then nothing.
    assert (made(plan(obj, before[:1])), made(plan(obj, before[:1]), POD_GROUP)) == ([], [])
    leaving = as_seen(group, metadata={"deletionTimestamp": format_timestamp(NOW)})
    result = plan(obj, [], [leaving])
    assert (made(result), deleted(result, POD_GROUP)) == ([], [])
    result = plan(obj)
    (new,) = made(result, POD_GROUP)
    assert new["metadata"]["labels"][PREFIX + "restart-attempt"] == "1"
    assert len(made(result)) == 3


def test_each_job_that_is_a_gang_comes_back_by_itself():
    jobs = [replicated_job("workers", 2, gangConfig={"gangMode": "ReplicatedGang"})]
    obj = jobset(*jobs, status=RESTARTED, failurePolicy={"maxRestarts": 3})
    before = children(jobset(replicated_job("workers", 2)))
    result = plan(obj, before[:1])
    assert names(made(result)) == ["js-workers-1"]
    assert names(made(result, POD_GROUP)) == ["js-pg-workers-1"]


def test_groups_are_not_made_twice():
    obj = jobset(gangConfig=GANG)
    first = plan(obj)
    groups = [as_seen(group) for group in made(first, POD_GROUP)]
    result = plan(obj, [], groups)
    assert made(result, POD_GROUP) == []
    assert len(made(result)) == 3


def short_handed(pods=4):
    """A gang of one Job whose pods have come far: three have succeeded, and the fourth had to be replaced."""
    obj = jobset(replicated_job("workers", pods=pods, gangConfig=GANG))
    (group,) = made(plan(obj), POD_GROUP)
    return obj, as_seen(group)


def test_pods_that_have_succeeded_are_not_missed():
    obj, group = short_handed()
    (job,) = children(obj, js_workers_0={"succeeded": 3, "active": 1, "ready": 0})
    (changed,) = written(plan(obj, [job], [group]), POD_GROUP)
    assert changed["spec"]["schedulingPolicy"] == {"gang": {"minCount": 1}}
    assert changed["metadata"]["resourceVersion"] == group["metadata"]["resourceVersion"]


def test_indexes_that_have_failed_for_good_are_not_missed():
    obj, group = short_handed()
    (job,) = children(obj, js_workers_0={"failedIndexes": "0,2,3", "failed": 3, "active": 1, "ready": 0})
    (changed,) = written(plan(obj, [job], [group]), POD_GROUP)
    assert changed["spec"]["schedulingPolicy"] == {"gang": {"minCount": 1}}


@pytest.mark.parametrize("status", [{"succeeded": 3, "active": 1, "ready": 1}, {"active": 4, "ready": 1}])
def test_a_group_whose_pods_run_or_are_yet_to_run_is_left_as_it_is(status):
    obj, group = short_handed()
    (job,) = children(obj, js_workers_0=status)
    assert written(plan(obj, [job], [group]), POD_GROUP) == []


def grown(pods, **status):
    """A JobSet of one gang of two Jobs, made when they had two pods each, that now wants another number of them."""
    before = jobset(replicated_job("workers", 2, gangConfig=GANG))
    (workload,) = made(plan(before), WORKLOAD)
    (group,) = made(plan(before), POD_GROUP)
    controller = controller_of(
        jobset(replicated_job("workers", 2, pods, gangConfig=GANG)),
        children(before, **status),
        [as_seen(group)],
    )
    controller.see(WORKLOAD, as_seen(workload))
    return controller.plan("u", NOW)


def sizes(result):
    """What is written, in this order: the minimum of Workload and group, the pods of each Job."""
    found = []
    for step in steps(result):
        spec = step.obj["spec"]
        if step.kind is WORKLOAD:
            found.append(spec["podGroupTemplates"][0]["schedulingPolicy"]["gang"]["minCount"])
        elif step.kind is POD_GROUP:
            found.append(spec["schedulingPolicy"]["gang"]["minCount"])
        elif step.kind is JOB:
            found.append((spec["parallelism"], spec["completions"]))
    return found


@pytest.mark.parametrize("pods", [1, 5])
def test_a_gang_is_told_its_new_size_before_its_jobs_are(pods):
    assert sizes(grown(pods)) == [2 * pods, 2 * pods, (pods, pods), (pods, pods)]


def test_what_has_succeeded_does_not_count_towards_the_new_size():
    result = grown(5, js_workers_0={"succeeded": 1, "active": 1})
    assert sizes(result) == [10, 9, (5, 5), (5, 5)]
    assert sizes(grown(5, js_workers_0=COMPLETE)) == [10, 5, (5, 5)]


def test_a_jobset_of_the_same_size_is_left_as_it_is():
    assert sizes(grown(2)) == []


def test_new_groups_have_the_new_size_at_once():
    before = jobset(gangConfig=GANG)
    controller = controller_of(
        jobset(replicated_job("driver"), replicated_job("workers", 2, 3), gangConfig=GANG)
    )
    controller.see(WORKLOAD, as_seen(made(plan(before), WORKLOAD)[0]))
    result = controller.plan("u", NOW)
    assert sizes(result)[:2] == [8, 8]
    assert len(made(result, POD_GROUP)) == 1


def test_what_an_earlier_jobset_has_left_behind_is_taken_over():
    obj = jobset(gangConfig=GANG)
    first = plan(obj)
    orphans = [
        (kind, as_seen(made(first, kind)[0], metadata={"ownerReferences": []}))
        for kind in (WORKLOAD, SERVICE, POD_GROUP)
    ]
    controller = controller_of(obj)
    for kind, orphan in orphans:
        controller.see(kind, orphan)
    result = controller.plan("u", NOW)
    assert [step.kind for step in steps(result)] == [WORKLOAD, SERVICE, POD_GROUP]
    for step in steps(result):
        assert [owner["uid"] for owner in step.obj["metadata"]["ownerReferences"]] == ["u"]
        controller.see(step.kind, {**step.obj, "metadata": step.obj["metadata"] | {"resourceVersion": "9"}})
    assert len(made(controller.plan("u", NOW))) == 3


def orphan(job, **labels):
    marks = job["metadata"]["labels"] | labels
    return {**job, "metadata": job["metadata"] | {"ownerReferences": [], "labels": marks}}


def test_jobs_that_an_earlier_jobset_has_left_behind_are_taken_over():
    obj = jobset()
    earlier = {PREFIX + "jobset-uid": "old", PREFIX + "restart-attempt": "3"}
    orphans = [orphan(job, **earlier) for job in children(obj, js_driver_0=COMPLETE)]
    controller = controller_of(obj, orphans)
    result = controller.plan("u", NOW)
    assert names(written(result)) == ["js-driver-0", "js-workers-0", "js-workers-1"]
    for job in written(result):
        assert [owner["uid"] for owner in job["metadata"]["ownerReferences"]] == ["u"]
        assert job["metadata"]["labels"][PREFIX + "jobset-uid"] == "u"
        assert job["metadata"]["labels"][PREFIX + "restart-attempt"] == "0"
        controller.see(JOB, {**job, "metadata": job["metadata"] | {"resourceVersion": "9"}})
    result = controller.plan("u", NOW)
    assert made(result) == []
    assert [item["succeeded"] for item in status(result)["replicatedJobsStatus"]] == [1, 0]


def test_jobs_that_were_left_behind_are_noticed_later_too():
    obj = jobset()
    controller = controller_of(obj)
    controller.touched.take(9)
    for job in children(obj):
        controller.see(JOB, orphan(job))
    assert controller.touched.take(9) == ["u"]
    assert len(written(controller.plan("u", NOW))) == 3


@pytest.mark.parametrize(
    "labels",
    [
        {PREFIX + "jobset-name": "other"},
        {PREFIX + "replicatedjob-name": "gone"},
        {PREFIX + "job-index": "7"},
    ],
)
def test_jobs_without_a_place_in_the_jobset_are_not(labels):
    obj = jobset()
    result = plan(obj, [orphan(children(obj)[0], **labels)])
    assert written(result) == []


@pytest.mark.parametrize("kind", [WORKLOAD, SERVICE])
def test_what_people_have_made_is_not(kind):
    obj = jobset(gangConfig=GANG)
    (theirs,) = made(plan(obj), kind)
    controller = controller_of(obj)
    controller.see(kind, as_seen(theirs, metadata={"ownerReferences": [], "labels": {}}))
    result = controller.plan("u", NOW)
    assert (written(result, kind), made(result, kind)) == ([], [])


# Jobs that are restarted alone


def with_rule(action, status=None, max_restarts=2, **spec):
    policy = {"maxRestarts": max_restarts, "rules": [{"name": "again", "action": action}]}
    return jobset(status=status, failurePolicy=policy, **spec)


def restart_counts(result):
    return {
        item["name"]: (item.get("jobRestarts"), item.get("jobRestartsCountTowardsMax"))
        for item in status(result)["replicatedJobsStatus"]
    }


@pytest.mark.parametrize(
    ("action", "counted"), [("RestartJob", [0, 1]), ("RestartJobAndIgnoreMaxRestarts", None)]
)
def test_a_failed_job_is_restarted_alone(action, counted):
    obj = with_rule(action)
    result = plan(obj, children(obj, js_driver_0=READY, js_workers_1=failed()))
    assert restart_counts(result) == {"driver": (None, None), "workers": ([0, 1], counted)}
    assert status(result).get("restarts") is None
    assert conditions(result) == {"RestartingJobSet": "FailurePolicy_again"}
    assert f"{action}FailurePolicyAction" in [news.reason for news in result.news]

    obj = with_rule(action, status=status(result))
    before = children(obj, js_driver_0=READY, js_workers_1=failed())
    before[2]["metadata"]["labels"][PREFIX + "job-restart-attempt"] = "0"
    result = plan(obj, before)
    assert (deleted(result), made(result)) == (["js-workers-1"], [])
    (made_again,) = made(plan(obj, before[:2]))
    assert made_again["metadata"]["name"] == "js-workers-1"
    for holder in (made_again, made_again["spec"]["template"]):
        assert holder["metadata"]["labels"][PREFIX + "job-restart-attempt"] == "1"
        assert holder["metadata"]["annotations"][PREFIX + "job-restart-attempt"] == "1"


def test_jobs_that_failed_together_are_restarted_one_after_the_other():
    obj = with_rule("RestartJob")
    jobs = children(obj, js_workers_0=failed(at=NOW - 5), js_workers_1=failed(at=NOW - 10))
    assert restart_counts(plan(obj, jobs))["workers"] == ([0, 1], [0, 1])


def test_restarts_of_jobs_count_like_those_of_the_jobset():
    spent = {
        "replicatedJobsStatus": [{"name": "workers", "jobRestarts": [1], "jobRestartsCountTowardsMax": [1]}]
    }
    obj = with_rule("RestartJob", status=spent | {"restartsCountTowardsMax": 1}, max_restarts=2)
    result = plan(obj, children(obj, js_driver_0=failed()))
    assert conditions(result) == {"Failed": "ReachedMaxRestarts"}


def test_jobs_say_how_often_they_were_restarted_only_where_that_may_be():
    assert PREFIX + "job-restart-attempt" not in made(plan(jobset()))[0]["metadata"]["labels"]


def test_a_gang_does_not_miss_what_ended_when_a_job_is_restarted_alone():
    obj = with_rule("RestartJob", gangConfig=GANG)
    (group,) = made(plan(obj), POD_GROUP)
    jobs = children(obj, js_driver_0=COMPLETE, js_workers_0=READY)
    (changed,) = written(plan(obj, jobs[:2], [as_seen(group)]), POD_GROUP)
    assert changed["spec"]["schedulingPolicy"]["gang"]["minCount"] == 4


# More gangs than a Workload has templates


def nine(**spec):
    jobs = [replicated_job(f"step{index}", pods=1) for index in range(9)]
    return jobset(*jobs, gangConfig=GANG, startupPolicy={"startupPolicyOrder": "InOrder"}, **spec)


def test_many_gangs_are_described_by_several_workloads():
    result = plan(nine())
    workloads = made(result, WORKLOAD)
    assert [(item["metadata"]["name"], len(item["spec"]["podGroupTemplates"])) for item in workloads] == [
        ("w-js", 8),
        ("w-js.2", 1),
    ]
    groups = {item["metadata"]["name"]: item["spec"]["workloadRef"] for item in made(result, POD_GROUP)}
    assert len(groups) == 9
    assert groups["js-pg-step7"] == {"workloadName": "w-js", "templateName": "pg-step7"}
    assert groups["js-pg-step8"] == {"workloadName": "w-js.2", "templateName": "pg-step8"}


def test_workloads_that_exist_are_found_again():
    controller = controller_of(nine())
    for item in made(plan(nine()), WORKLOAD):
        controller.see(WORKLOAD, as_seen(item))
    result = controller.plan("u", NOW)
    assert made(result, WORKLOAD) == []
    assert len(made(result, POD_GROUP)) == 9


def test_a_stranger_of_the_second_name_is_in_the_way():
    controller = controller_of(nine())
    _, second = made(plan(nine()), WORKLOAD)
    strange = as_seen(second)
    strange["metadata"]["ownerReferences"][0]["uid"] = "other"
    controller.see(WORKLOAD, strange)
    result = controller.plan("u", NOW)
    assert conditions(result) == {"GangBlocked": "WorkloadMismatch"}
    assert (made(result, WORKLOAD), made(result, POD_GROUP), made(result)) == ([], [], [])
