import msgspec

from posse.model.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from posse.model.meta import ObjectMeta, OwnerReference, Shape
from posse.model.pod import PodSchedulingGroup, PodSpec
from posse.model.structure import fields_of
from posse.model.volume import Volume
from posse.model.workload import CompositePodGroupTemplate, WorkloadSpec


class Ledger(Shape):
    pages: dict[str, OwnerReference] = msgspec.field(default_factory=dict)


def test_fields_are_listed_by_json_name():
    assert "hostPID" in fields_of(PodSpec)
    assert "host_pid" not in fields_of(PodSpec)


def held(struct, name):
    """What the field holds, of which struct, with which merge key and patch strategy."""
    return fields_of(struct)[name][:4]


def test_lists_of_objects_carry_their_merge_key():
    assert held(PodSpec, "volumes") == ("list", Volume, "name", "merge,retainKeys")
    assert held(ObjectMeta, "ownerReferences") == ("list", OwnerReference, "uid", "merge")


def test_lists_of_values_may_be_merged_without_a_key():
    assert held(ObjectMeta, "finalizers") == ("list", None, "", "merge")


def test_unmarked_lists_are_replaced_whole():
    assert fields_of(PodSpec)["tolerations"].patch_strategy == ""
    assert fields_of(WorkloadSpec)["podGroupTemplates"].merge_key == ""


def test_objects_may_be_marked_for_replacement():
    assert fields_of(PodDisruptionBudgetSpec)["selector"].patch_strategy == "replace"


def test_optional_structs_are_seen_through():
    assert fields_of(PodSpec)["schedulingGroup"].struct is PodSchedulingGroup


def test_maps_of_plain_values_and_of_structs():
    assert held(PodDisruptionBudgetStatus, "disruptedPods") == ("map", None, "", "")
    assert held(Ledger, "pages") == ("map", OwnerReference, "", "")


def test_unions_of_values_and_opaque_fields_have_no_struct():
    assert held(PodDisruptionBudgetSpec, "minAvailable") == ("one", None, "", "")
    assert held(PodSpec, "securityContext") == ("one", None, "", "")


def test_a_struct_may_contain_itself():
    shape = fields_of(CompositePodGroupTemplate)["compositePodGroupTemplates"]
    assert shape.struct is CompositePodGroupTemplate
