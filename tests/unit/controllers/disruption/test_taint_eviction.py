import pytest

from posse.controllers.disruption.taint_eviction import TaintEviction
from posse.controllers.steps import Amend, Delete
from posse.kinds.registry import NODE, POD
from posse.model.timestamps import format_timestamp

NOW = 1_800_000_000.0
TAINT = {"key": "down", "value": "yes", "effect": "NoExecute"}


def node(*taints):
    return {"metadata": {"name": "n", "uid": "n"}, "spec": {"taints": list(taints)}}


def pod(*tolerations, phase="Running"):
    metadata = {"namespace": "default", "name": "p", "uid": "p"}
    return {
        "metadata": metadata,
        "spec": {"nodeName": "n", "tolerations": list(tolerations)},
        "status": {"phase": phase},
    }


def toleration(seconds=None, **fields):
    limit = {} if seconds is None else {"tolerationSeconds": seconds}
    return {"key": "down", "operator": "Exists", "effect": "NoExecute"} | limit | fields


def planned(pod, *taints, now=NOW):
    reconciler = TaintEviction()
    reconciler.see(NODE, node(*taints))
    reconciler.see(POD, pod)
    return reconciler.plan("p", now)


def is_eviction(plan):
    return [type(step) for stage in plan.stages for step in stage] == [Amend, Delete]


def test_a_pod_that_does_not_tolerate_the_taint_goes_at_once():
    plan = planned(pod(), TAINT)
    assert is_eviction(plan)
    [condition] = plan.stages[0][0].patch["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("DisruptionTarget", "DeletionByTaintManager")
    assert plan.news[0].message == "Marking for deletion Pod default/p"


@pytest.mark.parametrize(
    "tolerated",
    [
        [toleration()],
        [{"operator": "Exists"}],
        [toleration(operator="Equal", value="yes")],
    ],
)
def test_a_pod_that_tolerates_the_taint_stays(tolerated):
    assert planned(pod(*tolerated), TAINT) == planned(pod())


@pytest.mark.parametrize(
    "other", [toleration(effect="NoSchedule"), toleration(key="up"), toleration(operator="Equal", value="no")]
)
def test_tolerations_of_other_taints_do_not_help(other):
    assert is_eviction(planned(pod(other), TAINT))


def test_a_pod_that_came_after_the_taint_has_its_whole_time():
    taint = TAINT | {"timeAdded": format_timestamp(NOW - 20)}
    assert planned(pod(toleration(30)), taint).wake_at == NOW + 30


def test_a_later_taint_counts_from_when_it_was_added():
    reconciler = TaintEviction()
    reconciler.see(NODE, node(TAINT))
    reconciler.see(POD, pod(toleration(100), toleration(30, key="later")))
    assert reconciler.plan("p", NOW).wake_at == NOW + 100
    later = {"key": "later", "effect": "NoExecute", "timeAdded": format_timestamp(NOW + 50)}
    reconciler.see(NODE, node(TAINT, later))
    assert reconciler.plan("p", NOW + 50).wake_at == NOW + 80
    assert is_eviction(reconciler.plan("p", NOW + 80))


def test_of_several_tolerations_of_a_taint_the_first_counts():
    assert planned(pod(toleration(50), toleration(30)), TAINT).wake_at == NOW + 50
    assert planned(pod(toleration(), toleration(30)), TAINT) == planned(pod())


def test_of_several_taints_the_shortest_time_counts():
    other = TAINT | {"key": "other"}
    tolerated = pod(toleration(50), toleration(30, key="other"))
    assert planned(tolerated, TAINT, other).wake_at == NOW + 30


def test_without_a_time_it_counts_from_when_the_taint_was_noticed():
    reconciler = TaintEviction()
    reconciler.see(NODE, node(TAINT))
    reconciler.see(POD, pod(toleration(30), toleration(50)))
    assert reconciler.plan("p", NOW).wake_at == NOW + 30
    assert reconciler.plan("p", NOW + 29).stages == []
    assert is_eviction(reconciler.plan("p", NOW + 30))


def test_one_taint_of_several_is_enough():
    assert is_eviction(planned(pod(toleration()), TAINT, TAINT | {"key": "broken"}))


def test_a_taint_that_goes_in_time_spares_the_pod():
    reconciler = TaintEviction()
    reconciler.see(NODE, node(TAINT))
    reconciler.see(POD, pod(toleration(30)))
    reconciler.plan("p", NOW)
    reconciler.see(NODE, node())
    plan = reconciler.plan("p", NOW + 40)
    assert plan.stages == []
    assert plan.news[0].message == "Cancelling deletion of Pod default/p"
    assert reconciler.plan("p", NOW + 41).news == []


def test_a_new_taint_touches_the_pods_of_the_node():
    reconciler = TaintEviction()
    reconciler.see(NODE, node())
    reconciler.see(POD, pod())
    reconciler.touched.take(10)
    reconciler.see(NODE, node(TAINT | {"effect": "NoSchedule"}))
    assert reconciler.touched.take(10) == []
    reconciler.see(NODE, node(TAINT))
    assert reconciler.touched.take(10) == ["p"]


def test_pods_that_have_ended_or_leave_are_left_alone():
    assert planned(pod(phase="Succeeded"), TAINT).stages == []
    leaving = pod()
    leaving["metadata"]["deletionTimestamp"] = format_timestamp(NOW)
    assert planned(leaving, TAINT).stages == []
