import pytest

from posse.kubelet.lifecycle import Due, Move, backoff_seconds, next_move, phase_of, restarts_after
from posse.model.timestamps import format_timestamp

NOW = 1_800_000_000.25
RECORDED = format_timestamp(NOW)


def pod(phase="Pending", annotations=None, **metadata):
    return {
        "metadata": {"namespace": "default", "name": "p", "uid": "u", "annotations": annotations, **metadata},
        "spec": {"nodeName": "n", "containers": [{"name": "main"}]},
        "status": {"phase": phase} if phase else {},
    }


def running(annotations=None, restarts=0, **metadata):
    made = pod("Running", annotations, **metadata)
    state = {"running": {"startedAt": RECORDED}}
    made["status"]["containerStatuses"] = [{"name": "main", "restartCount": restarts, "state": state}]
    return made


def crashed(restarts):
    made = running({"posse.dev/run-seconds": "1"})
    made["status"]["containerStatuses"] = [
        {
            "name": "main",
            "restartCount": restarts,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"finishedAt": RECORDED}},
        }
    ]
    return made


def deleted(made, grace=30):
    times = {"deletionTimestamp": format_timestamp(NOW + grace), "deletionGracePeriodSeconds": grace}
    made["metadata"].update(times)
    return made


@pytest.mark.parametrize("phase", ["", "Pending"])
def test_a_waiting_pod_starts_at_once(phase):
    due = next_move(pod(phase), NOW)
    assert due.move is Move.START
    assert due.at <= NOW


def test_a_pod_without_a_status_is_waiting():
    made = pod()
    del made["status"]
    assert phase_of(made) == "Pending"
    assert next_move(made, NOW).move is Move.START


@pytest.mark.parametrize("phase", ["Succeeded", "Failed", "Unknown"])
def test_a_pod_that_ended_is_left_alone(phase):
    assert next_move(pod(phase, {"posse.dev/run-seconds": "1"}), NOW) is None


def test_without_a_run_time_a_pod_runs_on():
    assert next_move(running(), NOW) is None


def test_the_run_time_counts_from_the_start_exactly_when_it_was_seen_at_once():
    assert next_move(running({"posse.dev/run-seconds": "5"}), NOW) == Due(NOW + 5, Move.EXIT)


def test_the_run_time_is_not_lost_over_a_restart_of_the_process():
    due = next_move(running({"posse.dev/run-seconds": "5"}), NOW + 1000)
    assert due.move is Move.EXIT
    assert NOW + 5 <= due.at <= NOW + 6


def test_containers_that_crashed_start_again_after_a_growing_pause():
    for restarts, pause in [(-5, 0), (0, 0), (1, 10), (2, 20), (3, 40), (9, 300), (10_000, 300)]:
        assert backoff_seconds(restarts) == pause
        assert next_move(crashed(restarts), NOW) == Due(NOW + pause, Move.RESTART)


@pytest.mark.parametrize("state", [{}, None, {"waiting": {}}])
def test_a_status_written_by_somebody_else_is_no_reason_to_crash(state):
    made = running({"posse.dev/run-seconds": "5"})
    made["status"]["containerStatuses"] = [{"name": "main", "state": state}]
    assert next_move(made, NOW) is None
    made["status"]["containerStatuses"] = None
    assert next_move(made, NOW) is None


@pytest.mark.parametrize("started_at", [None, "", "yesterday"])
def test_an_unreadable_start_counts_from_now(started_at):
    made = running({"posse.dev/run-seconds": "5"})
    made["status"]["containerStatuses"][0]["state"] = {"running": {"startedAt": started_at}}
    assert next_move(made, NOW) == Due(NOW + 5, Move.EXIT)


@pytest.mark.parametrize(
    ("policy", "exit_code", "restarts"),
    [
        ("Always", 0, True),
        ("Always", 1, True),
        (None, 0, True),
        ("OnFailure", 0, False),
        ("OnFailure", 1, True),
        ("Never", 0, False),
        ("Never", 1, False),
    ],
)
def test_the_restart_policy_decides_whether_an_exit_is_the_end(policy, exit_code, restarts):
    made = pod()
    made["spec"]["restartPolicy"] = policy
    assert restarts_after(made, exit_code) is restarts


def test_a_deleted_pod_that_runs_is_removed_at_once_by_default():
    due = next_move(deleted(running()), NOW)
    assert due == Due(NOW, Move.REMOVE)


@pytest.mark.parametrize(("stop_seconds", "waits"), [("3", 3), ("30", 30), ("500", 30)])
def test_stopping_takes_the_annotated_time_but_never_longer_than_the_grace(stop_seconds, waits):
    due = next_move(deleted(running({"posse.dev/stop-seconds": stop_seconds})), NOW)
    assert due.move is Move.REMOVE
    assert due.at == pytest.approx(NOW + waits)


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_what_does_not_run_needs_no_time_to_stop(phase):
    due = next_move(deleted(pod(phase, {"posse.dev/stop-seconds": "20"})), NOW)
    assert due.move is Move.REMOVE
    assert due.at <= NOW


def test_holders_of_finalizers_see_how_the_pod_ended_before_it_goes():
    made = deleted(running(finalizers=["batch.kubernetes.io/job-tracking"]))
    assert next_move(made, NOW).move is Move.STOP
    made["status"]["phase"] = "Failed"
    assert next_move(made, NOW).move is Move.REMOVE


def test_a_pod_the_server_has_let_go_of_is_not_deleted_again():
    assert next_move(deleted(running(finalizers=["x"]), grace=0), NOW) is None


def test_pods_of_a_job_end_by_themselves_unless_they_say_when():
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    assert next_move(running(ownerReferences=[owner]), NOW) == Due(NOW + 5, Move.EXIT)
    asked = running({"posse.dev/run-seconds": "60"}, ownerReferences=[owner])
    assert next_move(asked, NOW) == Due(NOW + 60, Move.EXIT)
    assert next_move(running(ownerReferences=[owner | {"kind": "ReplicaSet"}]), NOW) is None


@pytest.mark.parametrize(
    ("made", "seconds", "move"),
    [
        (running({"posse.dev/run-seconds": "5"}), 5, Move.EXIT),
        (crashed(2), 20, Move.RESTART),
        (deleted(running({"posse.dev/stop-seconds": "3"})), 3, Move.REMOVE),
    ],
)
def test_times_that_are_yet_to_come_count_from_now(made, seconds, move):
    """The clock was an hour ahead when they were recorded, and was set right since."""
    earlier = NOW - 3600
    assert next_move(made, earlier) == Due(earlier + seconds, move)


@pytest.mark.parametrize(("run_seconds", "move", "after"), [("60", Move.EXPIRE, 20), ("5", Move.EXIT, 5)])
def test_a_pod_fails_when_its_deadline_is_over(run_seconds, move, after):
    made = running({"posse.dev/run-seconds": run_seconds})
    made["spec"]["activeDeadlineSeconds"] = 20
    made["status"]["startTime"] = RECORDED
    assert next_move(made, NOW) == Due(NOW + after, move)


def test_a_deadline_ends_pods_that_would_start_again():
    made = crashed(restarts=5)
    made["spec"]["activeDeadlineSeconds"] = 20
    made["status"]["startTime"] = RECORDED
    assert next_move(made, NOW) == Due(NOW + 20, Move.EXPIRE)
