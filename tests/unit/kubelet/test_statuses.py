import copy

import pytest

from posse.kubelet.lifecycle import Due, Move, next_move
from posse.kubelet.statuses import EXIT_CODE_STOPPED, PodAddresses, status_after, with_conditions
from posse.model.decoding import decode, unknown_fields
from posse.model.pod import Pod
from posse.model.timestamps import format_timestamp

NOW = 1_800_000_000.25
LATER = NOW + 60
PLACE = PodAddresses("172.16.0.1", "10.128.0.9")
SCHEDULED = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}


def pod(policy="Always", annotations=None, **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "default", "name": "p", "uid": "u1", "annotations": annotations or {}},
        "spec": {
            "nodeName": "n",
            "restartPolicy": policy,
            "containers": [{"name": "main", "image": "pause"}, {"name": "side", "image": "other"}],
            **spec,
        },
        "status": {"phase": "Pending", "conditions": [SCHEDULED]},
    }


def after(move, made, now=NOW):
    """Return the pod as it is once the move's status has been merged into it."""
    changed = copy.deepcopy(made)
    changed["status"] |= status_after(move, made, PLACE, now)
    return changed


def conditions(made):
    return {item["type"]: item["status"] for item in made["status"]["conditions"]}


def test_a_started_pod_is_running_and_ready_at_its_address():
    status = after(Move.START, pod())["status"]
    assert status["phase"] == "Running"
    assert status["startTime"] == format_timestamp(NOW)
    assert (status["hostIP"], status["podIP"]) == ("172.16.0.1", "10.128.0.9")
    assert (status["hostIPs"], status["podIPs"]) == ([{"ip": "172.16.0.1"}], [{"ip": "10.128.0.9"}])
    assert [item["name"] for item in status["containerStatuses"]] == ["main", "side"]
    main = status["containerStatuses"][0]
    assert main["ready"] is True
    assert main["restartCount"] == 0
    assert main["image"] == "pause"
    assert main["state"] == {"running": {"startedAt": format_timestamp(NOW)}}


def test_starting_keeps_what_the_scheduler_said_and_adds_readiness():
    started = after(Move.START, pod())
    assert started["status"]["conditions"][0] == SCHEDULED
    assert conditions(started) == {
        "PodScheduled": "True",
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": "True",
        "ContainersReady": "True",
    }


def test_pods_on_the_host_network_have_the_address_of_their_node():
    assert after(Move.START, pod(hostNetwork=True))["status"]["podIP"] == "172.16.0.1"


def test_init_containers_are_done_and_sidecars_keep_running():
    inits = [{"name": "prepare"}, {"name": "proxy", "restartPolicy": "Always"}]
    statuses = after(Move.START, pod(initContainers=inits))["status"]["initContainerStatuses"]
    assert statuses[0]["state"]["terminated"]["exitCode"] == 0
    assert "running" in statuses[1]["state"]


@pytest.mark.parametrize(
    ("policy", "exit_code", "phase", "reason"),
    [
        ("Never", "0", "Succeeded", "PodCompleted"),
        ("OnFailure", "0", "Succeeded", "PodCompleted"),
        ("Never", "7", "Failed", "PodFailed"),
    ],
)
def test_an_exit_that_is_the_end(policy, exit_code, phase, reason):
    made = pod(policy, {"posse.dev/exit-code": exit_code})
    ended = after(Move.EXIT, after(Move.START, made), LATER)
    assert ended["status"]["phase"] == phase
    assert conditions(ended)["Ready"] == "False"
    assert conditions(ended)["PodScheduled"] == "True"
    ready = next(item for item in ended["status"]["conditions"] if item["type"] == "Ready")
    assert ready["reason"] == reason
    for container in ended["status"]["containerStatuses"]:
        assert container["ready"] is False
        assert container["state"]["terminated"]["exitCode"] == int(exit_code)
        assert container["state"]["terminated"]["startedAt"] == format_timestamp(NOW)
        assert container["state"]["terminated"]["finishedAt"] == format_timestamp(LATER)


@pytest.mark.parametrize(("policy", "exit_code"), [("Always", "0"), ("Always", "1"), ("OnFailure", "1")])
def test_an_exit_that_is_followed_by_a_restart(policy, exit_code):
    made = after(Move.START, pod(policy, {"posse.dev/exit-code": exit_code}))
    waiting = after(Move.EXIT, made, LATER)
    assert waiting["status"]["phase"] == "Running"
    assert conditions(waiting)["Ready"] == "False"
    container = waiting["status"]["containerStatuses"][0]
    assert container["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert container["lastState"]["terminated"]["exitCode"] == int(exit_code)
    assert container["restartCount"] == 0

    again = after(Move.RESTART, waiting, LATER + 10)
    assert conditions(again)["Ready"] == "True"
    container = again["status"]["containerStatuses"][0]
    assert container["restartCount"] == 1
    assert container["state"]["running"]["startedAt"] == format_timestamp(LATER + 10)
    assert container["lastState"]["terminated"]["exitCode"] == int(exit_code)
    assert again["status"]["startTime"] == format_timestamp(NOW)


def test_a_stopped_pod_has_failed_with_the_exit_code_of_a_terminated_process():
    stopped = after(Move.STOP, after(Move.START, pod()), LATER)
    assert stopped["status"]["phase"] == "Failed"
    assert stopped["status"]["containerStatuses"][1]["state"]["terminated"]["exitCode"] == 143


def test_a_condition_changes_its_time_only_with_its_status():
    status = {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "before"}]}
    same = with_conditions(status, {"Ready": ("True", "")}, "now")
    assert same == status["conditions"]
    other = with_conditions(status, {"Ready": ("False", "Why")}, "now")
    assert other == [{"type": "Ready", "status": "False", "lastTransitionTime": "now", "reason": "Why"}]


def test_nothing_that_was_passed_in_is_changed():
    made = after(Move.START, pod())
    before = copy.deepcopy(made)
    for move in (Move.START, Move.EXIT, Move.RESTART, Move.STOP):
        status_after(move, made, PLACE, LATER)
    assert made == before


@pytest.mark.parametrize("move", [Move.START, Move.EXIT, Move.RESTART, Move.STOP])
def test_every_status_is_one_the_api_knows(move):
    made = after(move, after(Move.START, pod(initContainers=[{"name": "init"}])), LATER)
    decode(Pod, made)
    assert unknown_fields(Pod, made) == []


@pytest.mark.parametrize("move", [Move.START, Move.EXIT, Move.RESTART, Move.STOP])
def test_a_status_said_by_halves_does_not_stop_a_pod(move):
    made = pod()
    made["status"] |= {"phase": "Running", "conditions": [{"status": "True"}, {}], "containerStatuses": [{}]}
    changed = after(move, made)["status"]["conditions"]
    assert {"Ready", "ContainersReady"} <= {item.get("type") for item in changed}


def test_ephemeral_containers_join_those_that_run_and_end_with_them():
    running = after(Move.START, pod("Never"))
    running["spec"]["ephemeralContainers"] = [{"name": "first", "image": "tools"}]
    assert next_move(running, NOW) == Due(0.0, Move.JOIN)
    joined = after(Move.JOIN, running)
    [guest] = joined["status"]["ephemeralContainerStatuses"]
    assert (guest["name"], guest["ready"], "running" in guest["state"]) == ("first", False, True)
    assert next_move(joined, NOW) is None
    joined["spec"]["ephemeralContainers"].append({"name": "second", "image": "tools"})
    both = after(Move.JOIN, joined, LATER)["status"]["ephemeralContainerStatuses"]
    assert [each["name"] for each in both] == ["first", "second"]
    assert both[0] == guest
    [ended] = after(Move.STOP, joined, LATER)["status"]["ephemeralContainerStatuses"]
    assert "terminated" in ended["state"]


def test_a_pod_whose_deadline_is_over_has_failed_whatever_its_restart_policy():
    status = after(Move.EXPIRE, after(Move.START, pod("Always")), LATER)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == EXIT_CODE_STOPPED
