"""JobSets whose pods restart where they are: what the status tells the pods, and when there were too many restarts."""

import pytest

from posse.controllers.jobsets.in_place_restarts import ATTEMPT, InPlaceRestarts
from posse.kinds.registry import JOB_SET, POD
from tests.support.jobset_plans import NOW, conditions, jobset, replicated_job, status

PODS = 3


def in_place(status=None, max_restarts=2, strategy="InPlaceRestart"):
    job = replicated_job("workers", replicas=PODS, pods=1)
    job["template"]["spec"] |= {"backoffLimit": 2**31 - 1, "podReplacementPolicy": "Failed"}
    policy = {"maxRestarts": max_restarts, "restartStrategy": strategy}
    return jobset(job, status=status, failurePolicy=policy)


def pod(number, attempt=None, restarts=0):
    annotations = {} if attempt is None else {ATTEMPT: str(attempt)}
    labels = {"jobset.sigs.k8s.io/jobset-name": "js", "jobset.sigs.k8s.io/jobset-uid": "u"}
    metadata = {"name": f"p{number}", "namespace": "default", "uid": f"p{number}", "resourceVersion": "1"}
    return {
        "metadata": metadata | {"annotations": annotations, "labels": labels},
        "status": {"containerStatuses": [{"name": "c", "restartCount": restarts}]},
    }


def plan(obj, *pods):
    reconciler = InPlaceRestarts()
    for each in pods:
        reconciler.see(POD, each)
    reconciler.see(JOB_SET, obj)
    return reconciler.plan("u", NOW)


def attempts(result):
    written = status(result)
    return written.get("previousInPlaceRestartAttempt"), written.get("currentInPlaceRestartAttempt")


def test_pods_may_run_when_all_have_reached_the_attempt():
    assert plan(in_place(), pod(0, 0), pod(1, 0), pod(2)).stages == []
    assert attempts(plan(in_place(), pod(0, 0), pod(1, 0), pod(2, 0))) == (None, 0)
    told = in_place(status={"currentInPlaceRestartAttempt": 0})
    assert plan(told, pod(0, 0), pod(1, 0), pod(2, 0)).stages == []


def test_a_pod_that_is_ahead_takes_the_others_along():
    told = {"currentInPlaceRestartAttempt": 0}
    assert attempts(plan(in_place(told), pod(0, 1), pod(1, 0), pod(2, 0))) == (0, 0)
    told |= {"previousInPlaceRestartAttempt": 0}
    assert attempts(plan(in_place(told), pod(0, 1), pod(1, 1), pod(2, 1))) == (0, 1)
    # A pod that was replaced begins again; what was over stays so.
    told |= {"currentInPlaceRestartAttempt": 1}
    assert plan(in_place(told), pod(0, 1), pod(1, 1), pod(2, 0)).stages == []


@pytest.mark.parametrize(
    ("pods", "told"),
    [
        ([pod(0, 3), pod(1, 2)], {}),
        ([pod(0, restarts=3)], {}),
        ([pod(0, 4), pod(1, 3)], {"restarts": 2, "restartsCountTowardsMax": 1}),
    ],
)
def test_too_many_restarts_fail_the_jobset(pods, told):
    result = plan(in_place(told), *pods)
    assert conditions(result) == {"Failed": "ReachedMaxRestarts"}
    assert status(result)["terminalState"] == "Failed"
    assert [news.reason for news in result.news] == ["ReachedMaxRestarts"]


@pytest.mark.parametrize(
    "obj", [in_place(strategy="Recreate"), in_place(status={"terminalState": "Completed"})]
)
def test_other_jobsets_are_left_alone(obj):
    assert plan(obj, pod(0, 9, restarts=9)).stages == []


def test_what_cannot_be_read_says_nothing():
    assert plan(in_place(), pod(0, "soon"), pod(1, -1), pod(2, 0)).stages == []


def test_pods_that_are_gone_do_not_count():
    reconciler = InPlaceRestarts()
    reconciler.see(JOB_SET, in_place())
    reconciler.see(POD, pod(0, 3))
    reconciler.lose(POD, pod(0, 3))
    assert reconciler.touched.take(9) == ["u"]
    assert reconciler.plan("u", NOW).stages == []
