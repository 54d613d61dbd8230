import copy

from posse.controllers.namespace_deletion import NAMESPACED_KINDS, NamespaceDeletion
from posse.controllers.steps import Delete, ExpectAbsent, Write
from posse.kinds.registry import NAMESPACE, POD, POD_GROUP
from tests.support.plans import planned, steps_of

DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def namespace(finalizers=("kubernetes",), deleted=True, conditions=("NamespaceContentRemaining",)):
    return {
        "metadata": {"name": "team", "uid": "team", "resourceVersion": "4"} | (DELETED if deleted else {}),
        "spec": {"finalizers": list(finalizers)},
        "status": {"phase": "Terminating", "conditions": [{"type": name} for name in conditions]},
    }


def thing(name, deleted=False):
    metadata = {"namespace": "team", "name": name, "uid": f"uid-{name}"}
    return {"metadata": metadata | (DELETED if deleted else {})}


def deletion(*seen):
    made = NamespaceDeletion()
    for kind, obj in seen:
        made.see(kind, obj)
    return made


def test_everything_in_the_namespace_is_deleted_first_and_of_that_the_pods():
    made = deletion((NAMESPACE, namespace()), (POD, thing("a")), (POD_GROUP, thing("b")))
    assert planned(made) == [Delete(POD, thing("a"), "")]
    made.lose(POD, thing("a"))
    assert planned(made) == [Delete(POD_GROUP, thing("b"), "")]


def test_a_condition_says_what_is_left_in_the_namespace():
    made = deletion((NAMESPACE, namespace(conditions=())), (POD, thing("a")), (POD, thing("b")))
    amend, *deletions = planned(made)
    *failures, condition = amend.patch["status"]["conditions"]
    assert "NamespaceDeletionContentFailure" in {each["type"] for each in failures}
    assert {each["status"] for each in failures} == {"False"}
    assert condition["reason"] == "SomeResourcesRemain"
    assert condition["message"] == "Some resources are remaining: pods has 2 resource instances"
    assert len(deletions) == 2


def test_what_is_being_deleted_is_waited_for():
    made = deletion((POD, thing("a", deleted=True)), (NAMESPACE, namespace()))
    assert planned(made) == []
    made.lose(POD, thing("a"))
    assert isinstance(planned(made)[-1], Write)


def test_what_comes_late_is_deleted_too():
    made = deletion((NAMESPACE, namespace()), (POD, thing("a", deleted=True)))
    planned(made)
    made.see(POD, thing("b"))
    assert planned(made) == [Delete(POD, thing("b"), "")]


def test_an_empty_namespace_is_released_after_a_look_for_what_was_not_observed():
    seen = namespace(["mine", "kubernetes"])
    before = copy.deepcopy(seen)
    made = deletion((NAMESPACE, seen))
    checks, (step,) = made.plan("team", 0.0).stages
    assert checks == [ExpectAbsent(kind, "team") for kind in NAMESPACED_KINDS]
    assert (step.kind, step.subresource) == (NAMESPACE, "finalize")
    assert step.obj["spec"]["finalizers"] == ["mine"]
    assert step.obj["metadata"]["resourceVersion"] == "4"
    assert seen == before


def test_a_namespace_already_released_needs_nothing_more():
    assert planned(deletion((NAMESPACE, namespace([])))) == []
    assert planned(deletion((NAMESPACE, {"metadata": namespace()["metadata"]}))) == []


def test_only_deleted_namespaces_are_emptied():
    made = deletion((NAMESPACE, namespace(deleted=False)), (POD, thing("a")))
    assert planned(made) == []
    assert steps_of(made.plan("team", 0.0)) == []


def test_a_namespace_that_is_gone_is_forgotten():
    made = deletion((NAMESPACE, namespace()))
    made.lose(NAMESPACE, namespace())
    made.see(POD, thing("a"))
    assert planned(made) == []
