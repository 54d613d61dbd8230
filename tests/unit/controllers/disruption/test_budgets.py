import pytest

from posse.controllers.disruption.budgets import DISRUPTION_SECONDS, DisruptionBudgets
from posse.kinds.registry import POD, POD_DISRUPTION_BUDGET, STATEFUL_SET
from posse.model.timestamps import format_timestamp
from tests.support.plans import planned

NOW = 1_800_000_000.0


def pod(name, *, is_ready=True, owner=None, **metadata):
    conditions = [{"type": "Ready", "status": "True" if is_ready else "False"}]
    owners = [{"kind": owner[0], "name": "o", "uid": owner[1], "controller": True}] if owner else []
    labels = {"app": "web"}
    return {
        "metadata": {
            "namespace": "default",
            "name": name,
            "uid": name,
            "labels": labels,
            "ownerReferences": owners,
        }
        | metadata,
        "status": {"conditions": conditions},
    }


def budget(status=None, **spec):
    spec = {"selector": {"matchLabels": {"app": "web"}}} | spec
    metadata = {"namespace": "default", "name": "b", "uid": "b", "generation": 2}
    return {"metadata": metadata, "spec": spec} | ({"status": status} if status else {})


def stateful_set(replicas):
    metadata = {"namespace": "default", "name": "o", "uid": "set", "resourceVersion": "1"}
    return {"metadata": metadata, "spec": {"replicas": replicas}}


def status_of(*pods, owners=(), now=NOW, **kwargs):
    reconciler = DisruptionBudgets()
    for owner in owners:
        reconciler.see(STATEFUL_SET, owner)
    reconciler.see(POD_DISRUPTION_BUDGET, budget(**kwargs))
    for each in pods:
        reconciler.see(POD, each)
    [write] = planned(reconciler, now)
    assert write.subresource == "status"
    return write.obj["status"]


def counts(status):
    names = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    return tuple(status[name] for name in names)


OWNED = [pod(f"p{number}", owner=("StatefulSet", "set")) for number in range(3)]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"minAvailable": 2}, (1, 3, 2, 3)),
        ({"minAvailable": 5}, (0, 3, 5, 3)),
        ({"minAvailable": "50%"}, (1, 3, 2, 4)),
        ({"maxUnavailable": 1}, (0, 3, 3, 4)),
        ({"maxUnavailable": 2}, (1, 3, 2, 4)),
        ({"maxUnavailable": "50%"}, (1, 3, 2, 4)),
        ({"maxUnavailable": 9}, (3, 3, 0, 4)),
        ({}, (3, 3, 0, 3)),
    ],
)
def test_limits_count_the_pods_or_what_their_controllers_want(spec, expected):
    assert counts(status_of(*OWNED, owners=[stateful_set(4)], **spec)) == expected


def test_the_condition_says_whether_pods_may_go():
    status = status_of(*OWNED, minAvailable=3)
    assert [(each["type"], each["status"], each["reason"]) for each in status["conditions"]] == [
        ("DisruptionAllowed", "False", "InsufficientPods")
    ]
    assert status["observedGeneration"] == 2
    assert status_of(*OWNED, minAvailable=1)["conditions"][0]["reason"] == "SufficientPods"


def test_only_ready_pods_that_stay_are_healthy():
    leaving = pod("p9", deletionTimestamp=format_timestamp(NOW))
    others = pod("p8", labels={"app": "other"})
    assert counts(status_of(*OWNED, pod("p7", is_ready=False), leaving, others, minAvailable=1)) == (
        2,
        3,
        1,
        5,
    )


def test_granted_evictions_count_until_their_pods_leave_or_time_is_up():
    granted = {"disruptedPods": {"p0": format_timestamp(NOW - 10), "gone": format_timestamp(NOW - 10)}}
    status = status_of(*OWNED, minAvailable=1, status=granted)
    assert counts(status) == (1, 2, 1, 3)
    assert list(status["disruptedPods"]) == ["p0"]
    late = status_of(*OWNED, minAvailable=1, status=granted, now=NOW + DISRUPTION_SECONDS)
    assert counts(late) == (2, 3, 1, 3)
    assert "disruptedPods" not in late


def test_controllers_that_do_not_say_how_many_pods_they_want_allow_nothing():
    job = [pod("p0", owner=("Job", "job"))]
    status = status_of(*job, maxUnavailable=1)
    assert counts(status) == (0, 1, 0, 0)
    assert status["conditions"][0]["reason"] == "SyncFailed"
    assert "Job o does not implement the scale subresource" in status["conditions"][0]["message"]


def test_what_is_written_already_is_not_written_again():
    reconciler = DisruptionBudgets()
    written = budget(status_of(*OWNED, minAvailable=1), minAvailable=1)
    reconciler.see(POD_DISRUPTION_BUDGET, written)
    for each in OWNED:
        reconciler.see(POD, each)
    assert planned(reconciler, NOW + 5) == []


def test_pods_that_are_gone_or_relabelled_do_not_count():
    reconciler = DisruptionBudgets()
    reconciler.see(POD_DISRUPTION_BUDGET, budget(minAvailable=1))
    for each in OWNED:
        reconciler.see(POD, each)
    reconciler.lose(POD, OWNED[0])
    reconciler.see(POD, pod("p1", labels={}))
    [write] = planned(reconciler, NOW)
    assert counts(write.obj["status"]) == (0, 1, 1, 1)
