from posse.controllers.garbage_collection import Amend, Collect, GarbageCollector
from posse.kinds.registry import CONFIG_MAP, JOB, NODE, POD

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
    made.steps()
    return made


def deletions(steps):
    return {step.place.name: step.propagation for step in steps if isinstance(step, Collect)}


def amendments(steps):
    return {step.place.name: step.patch["metadata"] for step in steps if isinstance(step, Amend)}


def test_what_has_its_owner_stays():
    made = GarbageCollector()
    made.see(JOB, obj("j"))
    made.see(POD, obj("p", ref("j")))
    assert made.steps() == []


def test_dependents_follow_an_owner_that_is_gone():
    made = collector((JOB, obj("j")), (POD, obj("p", ref("j"))), (POD, obj("q")))
    made.lose(obj("j"))
    (step,) = made.steps()
    assert deletions([step]) == {"p": "Background"}
    assert [place.name for place in step.absent] == ["j"]
    assert made.steps() == []


def test_an_owner_never_seen_is_to_be_made_sure_of():
    made = GarbageCollector()
    made.see(POD, obj("p", ref("j")))
    (step,) = made.steps()
    assert [(place.kind, place.namespace, place.uid) for place in step.absent] == [(JOB, "ns", "uid-j")]


def test_a_namesake_of_the_owner_is_not_the_owner():
    made = GarbageCollector()
    made.see(JOB, obj("j"))
    made.see(POD, obj("p", ref("j") | {"uid": "older"}))
    assert deletions(made.steps()) == {"p": "Background"}


def test_an_owner_in_another_namespace_is_none():
    made = GarbageCollector()
    made.see(JOB, obj("j", namespace="other"))
    made.see(POD, obj("p", ref("j")))
    assert deletions(made.steps()) == {"p": "Background"}


def test_owners_of_unknown_kinds_keep_what_they_own():
    made = GarbageCollector()
    made.see(POD, obj("p", ref("rs", "ReplicaSet", "apps/v1")))
    assert made.steps() == []


def test_what_is_in_a_namespace_may_belong_to_what_is_in_none():
    made = collector((NODE, obj("n", namespace="")), (POD, obj("p", ref("n", "Node", "v1"))))
    made.lose(obj("n", namespace=""))
    assert deletions(made.steps()) == {"p": "Background"}


def test_what_is_in_no_namespace_cannot_lose_an_owner_that_is_in_one():
    made = GarbageCollector()
    made.see(NODE, obj("n", ref("j"), namespace=""))
    assert made.steps() == []


def test_one_owner_left_is_enough_and_the_other_is_forgotten():
    made = collector((JOB, obj("j")), (CONFIG_MAP, obj("c")))
    made.see(POD, obj("p", ref("j"), ref("c", "ConfigMap", "v1")))
    made.lose(obj("c"))
    (step,) = made.steps()
    assert amendments([step]) == {
        "p": {"uid": "uid-p", "resourceVersion": "1", "ownerReferences": [ref("j")]}
    }


def test_in_the_foreground_dependents_go_first():
    made = collector((JOB, obj("j")), (POD, obj("p", ref("j"))))
    made.see(JOB, obj("j", finalizers=["foregroundDeletion"], deleting=True))
    assert deletions(made.steps()) == {"p": "Background"}
    made.see(POD, obj("p", ref("j"), deleting=True))
    assert made.steps() == []
    made.lose(obj("p"))
    assert amendments(made.steps()) == {"j": {"uid": "uid-j", "resourceVersion": "1", "finalizers": None}}


def test_dependents_that_do_not_block_are_not_waited_for():
    made = collector((JOB, obj("j")), (POD, obj("p", ref("j", blocks=False))))
    made.see(JOB, obj("j", finalizers=["foregroundDeletion", "a/b"], deleting=True))
    steps = made.steps()
    assert amendments(steps)["j"]["finalizers"] == ["a/b"]
    assert deletions(steps) == {"p": "Background"}


def test_the_foreground_reaches_dependents_of_dependents():
    made = collector(
        (CONFIG_MAP, obj("c")), (JOB, obj("j", ref("c", "ConfigMap", "v1"))), (POD, obj("p", ref("j")))
    )
    made.see(CONFIG_MAP, obj("c", finalizers=["foregroundDeletion"], deleting=True))
    assert deletions(made.steps()) == {"j": "Foreground"}


def test_owners_of_each_other_do_not_wait_for_each_other():
    made = collector((JOB, obj("a", ref("b"))), (JOB, obj("b", ref("a"))))
    made.see(JOB, obj("a", ref("b"), finalizers=["foregroundDeletion"], deleting=True))
    assert deletions(made.steps()) == {"b": "Background"}


def test_orphans_are_set_free_before_their_owner_goes():
    made = collector((JOB, obj("j")), (POD, obj("p", ref("j"))))
    leaving = obj("j", finalizers=["orphan"], deleting=True)
    made.see(JOB, leaving)
    assert amendments(made.steps()) == {
        "p": {"uid": "uid-p", "resourceVersion": "1", "ownerReferences": None}
    }
    made.see(POD, obj("p", version="2"))
    assert amendments(made.steps()) == {"j": {"uid": "uid-j", "resourceVersion": "1", "finalizers": None}}


def test_an_orphan_that_changed_meanwhile_is_tried_again():
    made = collector((JOB, obj("j")), (POD, obj("p", ref("j"))))
    made.see(JOB, obj("j", finalizers=["orphan"], deleting=True))
    made.steps()
    made.see(POD, obj("p", ref("j"), version="2"))
    assert amendments(made.steps())["p"]["resourceVersion"] == "2"


def test_nothing_that_is_already_going_is_deleted_again():
    made = GarbageCollector()
    made.see(POD, obj("p", ref("j"), deleting=True))
    assert made.steps() == []
