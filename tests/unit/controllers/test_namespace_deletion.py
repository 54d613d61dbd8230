import copy

from posse.controllers.namespace_deletion import DeleteObject, LetGo, is_terminating, next_steps
from posse.kinds.registry import POD, POD_GROUP


def namespace(finalizers=("kubernetes",)):
    return {
        "metadata": {"name": "team", "deletionTimestamp": "2026-01-01T00:00:00Z", "resourceVersion": "4"},
        "spec": {"finalizers": list(finalizers)},
        "status": {"phase": "Terminating"},
    }


def thing(name, deleted=False):
    metadata = {"namespace": "team", "name": name, "uid": f"uid-{name}"}
    return {"metadata": metadata | ({"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleted else {})}


def test_everything_in_the_namespace_is_deleted_first():
    steps = next_steps(namespace(), [(POD, thing("a")), (POD_GROUP, thing("b"))])
    assert steps == [DeleteObject(POD, "a", "uid-a"), DeleteObject(POD_GROUP, "b", "uid-b")]


def test_what_is_on_its_way_out_is_waited_for():
    assert next_steps(namespace(), [(POD, thing("a", deleted=True))]) == []


def test_an_empty_namespace_is_let_go():
    seen = namespace(["mine", "kubernetes"])
    before = copy.deepcopy(seen)
    (step,) = next_steps(seen, [])
    assert isinstance(step, LetGo)
    assert step.body["spec"]["finalizers"] == ["mine"]
    assert step.body["metadata"]["resourceVersion"] == "4"
    assert seen == before


def test_a_namespace_already_let_go_needs_nothing_more():
    assert next_steps(namespace([]), []) == []
    assert next_steps({"metadata": namespace()["metadata"]}, []) == []


def test_only_deleted_namespaces_are_terminating():
    assert is_terminating(namespace())
    assert not is_terminating({"metadata": {"name": "team"}})
