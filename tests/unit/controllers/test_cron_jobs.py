"""CronJobs: when Jobs are made, what happens while one runs, and which are deleted."""

from posse.controllers.cron_jobs import SCHEDULED_AT, CronJobController
from posse.controllers.steps import Create, Delete, Write, owner_reference
from posse.kinds.registry import CRON_JOB, JOB
from posse.model.timestamps import format_timestamp, parse_timestamp
from tests.support.plans import steps_of

NOON = parse_timestamp("2026-01-01T12:00:00Z")


def cron_job(status=None, **spec):
    metadata = {"name": "c", "namespace": "ns", "uid": "c1", "resourceVersion": "1"}
    metadata["creationTimestamp"] = "2026-01-01T11:30:00Z"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"parallelism": 2}}
    defaults = {"schedule": "0 * * * *", "jobTemplate": template, "concurrencyPolicy": "Allow"}
    return {"metadata": metadata, "spec": defaults | spec, "status": status or {}}


def job(name, ending=None, started="2026-01-01T11:00:00Z", mark=SCHEDULED_AT):
    metadata = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"}
    metadata["annotations"] = {mark: "x"}
    metadata["ownerReferences"] = [owner_reference(CRON_JOB, cron_job())]
    status = {"startTime": started}
    if ending:
        status["conditions"] = [{"type": ending, "status": "True", "lastTransitionTime": started}]
        status["completionTime"] = started
    return {"metadata": metadata, "spec": {}, "status": status}


def planned(obj, *jobs, now=NOON):
    controller = CronJobController()
    controller.see(CRON_JOB, obj)
    for each in jobs:
        controller.see(JOB, each)
    return controller.plan("c1", now)


def made(plan):
    return [step.obj for step in steps_of(plan, Create)]


def deleted(plan):
    return [step.obj["metadata"]["name"] for step in steps_of(plan, Delete)]


def status_of(plan):
    [step] = steps_of(plan, Write)
    return step.obj["status"]


def test_a_job_is_made_when_its_time_has_come():
    plan = planned(cron_job())
    [made_job] = made(plan)
    assert made_job["metadata"]["name"] == f"c-{int(NOON) // 60}"
    assert made_job["metadata"]["labels"] == {"a": "b"}
    assert made_job["metadata"]["annotations"][SCHEDULED_AT] == "2026-01-01T12:00:00Z"
    assert made_job["metadata"]["ownerReferences"][0]["uid"] == "c1"
    assert made_job["spec"] == {"parallelism": 2}
    assert status_of(plan)["lastScheduleTime"] == "2026-01-01T12:00:00Z"
    assert plan.wake_at == NOON + 3600


def test_before_its_time_nothing_happens():
    plan = planned(cron_job(), now=NOON - 1)
    assert (steps_of(plan), plan.wake_at) == ([], NOON)


def test_a_time_that_has_its_job_is_over():
    assert made(planned(cron_job({"lastScheduleTime": "2026-01-01T12:00:00Z"}), now=NOON + 60)) == []


def test_only_the_last_of_the_missed_times_counts():
    [late] = made(planned(cron_job(), now=NOON + 3 * 3600 + 5))
    assert late["metadata"]["annotations"][SCHEDULED_AT] == "2026-01-01T15:00:00Z"


def test_what_is_too_late_is_not_made():
    assert made(planned(cron_job(startingDeadlineSeconds=30), now=NOON + 60)) == []
    assert made(planned(cron_job(startingDeadlineSeconds=90), now=NOON + 60))


def test_a_suspended_cron_job_makes_nothing():
    plan = planned(cron_job(suspend=True))
    assert (steps_of(plan), plan.wake_at) == ([], None)


def test_jobs_run_side_by_side():
    plan = planned(cron_job(), job("c-1"))
    assert len(made(plan)) == 1
    assert [each["name"] for each in status_of(plan)["active"]] == ["c-1"]


def test_while_a_job_runs_another_may_be_forbidden():
    plan = planned(cron_job(concurrencyPolicy="Forbid"), job("c-1"))
    assert made(plan) == []
    assert [news.reason for news in plan.news] == ["JobAlreadyActive"]
    assert made(planned(cron_job(concurrencyPolicy="Forbid"), job("c-1", "Complete")))


def test_a_job_that_was_made_by_hand_keeps_no_other_from_starting():
    by_hand = job("c-1", mark="cronjob.kubernetes.io/instantiate")
    plan = planned(cron_job(concurrencyPolicy="Forbid"), by_hand)
    assert len(made(plan)) == 1
    assert "active" not in status_of(plan)
    assert deleted(planned(cron_job(concurrencyPolicy="Replace"), by_hand)) == []


def test_a_running_job_may_be_replaced():
    plan = planned(cron_job(concurrencyPolicy="Replace"), job("c-1"))
    assert deleted(plan) == ["c-1"]
    assert len(made(plan)) == 1
    assert "active" not in status_of(plan)


def test_old_jobs_are_deleted():
    ended = [job(f"c-{n}", "Complete", format_timestamp(NOON - 9000 + n)) for n in range(4)]
    failed = [job(f"f-{n}", "Failed", format_timestamp(NOON - 9000 + n)) for n in range(3)]
    obj = cron_job(successfulJobsHistoryLimit=3, failedJobsHistoryLimit=0)
    assert deleted(planned(obj, *ended, *failed, now=NOON - 1)) == ["c-0", "f-0", "f-1", "f-2"]


def test_the_end_of_a_job_is_told_once():
    active = {"active": [{"uid": "c-1", "name": "c-1"}]}
    plan = planned(cron_job(active), job("c-1", "Complete"), now=NOON - 1)
    assert [news.message for news in plan.news] == ["Saw completed job: c-1, condition: Complete"]
    assert status_of(plan) == {"lastSuccessfulTime": "2026-01-01T11:00:00Z"}
