"""Groups take over from their template what both have, and nothing else."""

from posse.controllers.group_templates import group_spec
from posse.model.workload import TEMPLATE_FIELDS, CompositePodGroupSpec, PodGroupSpec


def test_every_field_that_a_template_shares_with_a_group_is_copied():
    own = {"workload_ref", "parent_composite_pod_group_name"}
    assert set(TEMPLATE_FIELDS) == set(PodGroupSpec.__struct_fields__) - own
    assert set(CompositePodGroupSpec.__struct_fields__) - own < set(TEMPLATE_FIELDS)


def test_a_group_names_its_template_and_leaves_the_preemption_policy_to_admission():
    template = {name: f"some {name}" for name in TEMPLATE_FIELDS.values()}
    spec = group_spec("w", {**template, "name": "t", "podGroupTemplates": []})
    del template["preemptionPolicy"]
    assert spec == {"workloadRef": {"workloadName": "w", "templateName": "t"}, **template}


def test_what_a_template_leaves_out_stays_out():
    spec = group_spec("w", {"name": "t", "schedulingPolicy": {"basic": {}}})
    assert spec == {
        "workloadRef": {"workloadName": "w", "templateName": "t"},
        "schedulingPolicy": {"basic": {}},
    }
