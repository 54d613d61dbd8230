from posse.controllers.garbage_collection import GarbageCollector
from posse.controllers.steps import Amend, Delete, ExpectAbsent
from posse.kinds.registry import CONFIG_MAP, JOB, NODE, POD
from tests.support.plans import planned

DELETING = "2026-01-01T00:00:00Z"


def obj(name, *owners, namespace="ns", finalizers=(), deleting=False, version="1"):
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": version}
    if namespace:
        metadata["namespace"] = namespace
    if owners:
        metadata["ownerReferences"] = list(owners)
    if finalizers:
        metadata["finalizers"] = list(finalizers)
    if deleting:
        metadata["deletionTimestamp"] = DELETING
    return {"metadata": metadata}


def ref(name, kind="Job", api_version="batch/v1", *, blocks=True):
    reference = {"apiVersion": api_version, "kind": kind, "name": name, "uid": f"uid-{name}"}
    return reference | ({"blockOwnerDeletion": True} if blocks else {})


def collector(*seen):
    made = GarbageCollector()
    for kind, item in seen:
        made.see(kind, item)
    planned(made)
    return made


def deletions(steps):
    return {step.obj["metadata"]["name"]: step.propagation for step in steps if isinstance(step, Delete)}


def amendments(steps):
    return {step.obj["metadata"]["name"]: step.patch["metadata"] for step in steps if isinstance(step, Amend)}


def test_what_has_its_owner_stays():
    made = GarbageCollector()
    made.see(JOB, obj("j"))
    made.see(POD, obj("p", ref("j")))
    assert planned(made) == []


def test_dependents_follow_an_owner_that_is_gone():
    made = collector((JOB, obj("j")), (POD, obj("p", ref("j"))), (POD, obj("q")))
    made.lose(JOB, obj("j"))
    check, step = planned(made)
    assert deletions([step]) == {"p": "Background"}
    assert check == ExpectAbsent(JOB, "ns", "j", "uid-j")
    assert planned(made) == []


def test_an_owner_never_seen_is_to_be_made_sure_of():
    made = GarbageCollector()
    made.see(POD, obj("p", ref("j")))
    check, _ = planned(made)
    assert check == ExpectAbsent(JOB, "ns", "j", "uid-j")


def test_a_namesake_of_the_owner_is_not_the_owner():
    made = GarbageCollector()
    made.see(JOB, obj("j"))
    made.see(POD, obj("p", ref("j") | {"uid": "older"}))
    assert deletions(planned(made)) == {"p": "Background"}


def test_an_owner_in_another_namespace_is_none():
    made = GarbageCollector()
    made.see(JOB, obj("j", namespace="other"))
    made.see(POD, obj("p", ref("j")))
    assert deletions(planned(made)) == {"p": "Background"}


def test_owners_of_unknown_kinds_keep_what_they_own():
    made = GarbageCollector()
    made.see(POD, obj("p", ref("ds", "DaemonSet", "apps/v1")))
    assert planned(made) == []


def test_what_is_in_a_namespace_may_belong_to_what_is_in_none():
    made = collector((NODE, obj("n", namespace="")), (POD, obj("p", ref("n", "Node", "v1"))))
    made.lose(NODE, obj("n", namespace=""))
    assert deletions(planned(made)) == {"p": "Background"}


def test_what_is_in_no_namespace_cannot_lose_an_owner_that_is_in_one():
    made = GarbageCollector()
    made.see(NODE, obj("n", ref("j"), namespace=""))
    assert planned(made) == []


def test_one_owner_left_is_enough_and_the_other_is_forgotten():
    made = collector((JOB, obj("j")), (CONFIG_MAP, obj("c")))
    made.see(POD, obj("p", ref("j"), ref("c", "ConfigMap", "v1")))
    made.lose(CONFIG_MAP, obj("c"))
    assert amendments(planned(made)) == {
        "p": {"uid": "uid-p", "resourceVersion": "1", "ownerReferences": [ref("j")]}
    }


def test_in_the_foreground_dependents_go_first():
    made = collector((JOB, obj("j")), (POD, obj("p", ref("j"))))
    made.see(JOB, obj("j", finalizers=["foregroundDeletion"], deleting=True))
    assert deletions(planned(made)) == {"p": "Background"}
    made.see(POD, obj("p", ref("j"), deleting=True))
    assert planned(made) == []
    made.lose(POD, obj("p"))
    assert amendments(planned(made)) == {"j": {"uid": "uid-j", "resourceVersion": "1", "finalizers": None}}


def test_dependents_that_do_not_block_are_not_waited_for():
    made = collector((JOB, obj("j")), (POD, obj("p", ref("j", blocks=False))))
    made.see(JOB, obj("j", finalizers=["foregroundDeletion", "a/b"], deleting=True))
    steps = planned(made)
    assert amendments(steps)["j"]["finalizers"] == ["a/b"]
    assert deletions(steps) == {"p": "Background"}


def test_the_foreground_reaches_dependents_of_dependents():
    made = collector(
        (CONFIG_MAP, obj("c")), (JOB, obj("j", ref("c", "ConfigMap", "v1"))), (POD, obj("p", ref("j")))
    )
    made.see(CONFIG_MAP, obj("c", finalizers=["foregroundDeletion"], deleting=True))
    assert deletions(planned(made)) == {"j": "Foreground"}


def test_owners_of_each_other_do_not_wait_for_each_other():
    made = collector((JOB, obj("a", ref("b"))), (JOB, obj("b", ref("a"))))
    made.see(JOB, obj("a", ref("b"), finalizers=["foregroundDeletion"], deleting=True))
    assert deletions(planned(made)) == {"b": "Background"}


def test_orphans_are_set_free_before_their_owner_goes():
    made = collector((JOB, obj("j")), (POD, obj("p", ref("j"))))
    leaving = obj("j", finalizers=["orphan"], deleting=True)
    made.see(JOB, leaving)
    assert amendments(planned(made)) == {
        "p": {"uid": "uid-p", "resourceVersion": "1", "ownerReferences": None}
    }
    made.see(POD, obj("p", version="2"))
    assert amendments(planned(made)) == {"j": {"uid": "uid-j", "resourceVersion": "1", "finalizers": None}}


def test_an_orphan_that_changed_meanwhile_is_tried_again():
    made = collector((JOB, obj("j")), (POD, obj("p", ref("j"))))
    made.see(JOB, obj("j", finalizers=["orphan"], deleting=True))
    planned(made)
    made.see(POD, obj("p", ref("j"), version="2"))
    assert amendments(planned(made))["p"]["resourceVersion"] == "2"


def test_nothing_that_is_already_going_is_deleted_again():
    made = GarbageCollector()
    made.see(POD, obj("p", ref("j"), deleting=True))
    assert planned(made) == []
