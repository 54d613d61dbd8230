"""A group of groups goes after the last group below it."""

from posse.controllers.group_protection import CompositeProtection
from posse.kinds.admission import POD_GROUP_FINALIZER
from posse.kinds.registry import COMPOSITE_POD_GROUP, POD_GROUP
from tests.support.plans import planned


def group(name, parent=None, *, deleted=False):
    metadata = {"namespace": "default", "name": name, "uid": f"uid-{name}", "resourceVersion": "9"}
    metadata["finalizers"] = [POD_GROUP_FINALIZER]
    if deleted:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"metadata": metadata, "spec": {"parentCompositePodGroupName": parent} if parent else {}}


def released(protection):
    return [step.obj["metadata"]["name"] for step in planned(protection)]


def test_without_children_it_goes_at_once_and_once():
    protection = CompositeProtection()
    protection.see(COMPOSITE_POD_GROUP, group("root", deleted=True))
    (release,) = planned(protection)
    assert release.patch == {"metadata": {"uid": "uid-root", "resourceVersion": "9", "finalizers": None}}
    assert released(protection) == []


def test_a_tree_goes_from_the_leaves_to_the_root():
    protection = CompositeProtection()
    root, middle = group("root", deleted=True), group("middle", "root", deleted=True)
    leaf = group("leaf", "middle", deleted=True)
    protection.see(COMPOSITE_POD_GROUP, root)
    protection.see(COMPOSITE_POD_GROUP, middle)
    protection.see(POD_GROUP, leaf)
    assert released(protection) == []
    protection.lose(POD_GROUP, leaf)
    assert released(protection) == ["middle"]
    protection.lose(COMPOSITE_POD_GROUP, middle)
    assert released(protection) == ["root"]


def test_a_child_that_is_not_deleted_holds_its_parent():
    protection = CompositeProtection()
    leaf = group("leaf", "root")
    protection.see(POD_GROUP, leaf)
    protection.see(COMPOSITE_POD_GROUP, group("root", deleted=True))
    protection.see(POD_GROUP, leaf)
    assert released(protection) == []


def test_a_group_and_a_group_of_groups_of_one_name_are_two_children():
    protection = CompositeProtection()
    protection.see(COMPOSITE_POD_GROUP, group("root", deleted=True))
    released(protection)
    protection.see(POD_GROUP, group("same", "root"))
    protection.see(COMPOSITE_POD_GROUP, group("same", "root"))
    protection.lose(POD_GROUP, group("same", "root"))
    assert released(protection) == []
    protection.lose(COMPOSITE_POD_GROUP, group("same", "root"))
    assert released(protection) == ["root"]


def test_who_is_not_to_go_is_left_alone():
    protection = CompositeProtection()
    protection.see(COMPOSITE_POD_GROUP, group("root"))
    leaf = group("leaf", "root")
    protection.see(POD_GROUP, leaf)
    protection.lose(POD_GROUP, leaf)
    assert released(protection) == []
    protection.see(COMPOSITE_POD_GROUP, group("gone", deleted=True))
    protection.lose(COMPOSITE_POD_GROUP, group("gone", deleted=True))
    assert released(protection) == []


def test_groups_that_are_each_others_ancestors_go_when_all_of_them_are_to_go():
    protection = CompositeProtection()
    protection.see(COMPOSITE_POD_GROUP, group("a", "b", deleted=True))
    protection.see(COMPOSITE_POD_GROUP, group("b", "a"))
    assert released(protection) == []
    protection.see(COMPOSITE_POD_GROUP, group("b", "a", deleted=True))
    assert sorted(released(protection)) == ["a", "b"]


def test_what_hangs_below_a_circle_is_waited_for():
    protection = CompositeProtection()
    leaf = group("leaf", "a", deleted=True)
    protection.see(POD_GROUP, leaf)
    protection.see(COMPOSITE_POD_GROUP, group("a", "b", deleted=True))
    protection.see(COMPOSITE_POD_GROUP, group("b", "a", deleted=True))
    assert released(protection) == ["b"]
    protection.lose(POD_GROUP, leaf)
    assert released(protection) == ["a"]


def test_a_group_that_is_its_own_parent_goes():
    protection = CompositeProtection()
    protection.see(COMPOSITE_POD_GROUP, group("self", "self", deleted=True))
    assert released(protection) == ["self"]
