"""Objects survive the way through every served version: there and back, and written through one that can say less."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.kinds.machinery.conversion import to_storage, to_version
from posse.kinds.registry import POD_GROUP, WORKLOAD
from posse.model.decoding import decode, unknown_fields

names = st.sampled_from(["a", "b", "workers", "leader-0"])
policies = st.one_of(
    st.just({"basic": {}}),
    st.just({"basic": {"desiredCount": 3}}),
    st.just({"basic": {"notYetKnown": 3}}),
    st.builds(lambda count: {"gang": {"minCount": count}}, st.integers(1, 100)),
)


def made_of(required, **optional):
    """Objects that have the required members and some of the optional ones."""
    return st.fixed_dictionaries(required, optional=optional)


priorities = {"priorityClassName": names, "priority": st.integers(-5, 1_000_000_000)}
claims = st.lists(st.builds(lambda name: {"name": name, "resourceClaimName": "c"}, names), max_size=2)
constraints = st.just({"topology": [{"key": "rack"}]})
shared = {"schedulingConstraints": constraints, "resourceClaims": claims, **priorities}
newer = {
    "disruptionMode": st.sampled_from([{"single": {}}, {"all": {}}]),
    "preemptionPolicy": st.sampled_from(["Never", "PreemptLowerPriority"]),
    **shared,
}
words = {"disruptionMode": st.sampled_from(["Pod", "PodGroup"]), **shared}
controllers = {"controllerRef": st.just({"kind": "Job", "name": "j"})}


def conditions(*types):
    items = [{"type": name, "status": "True", "reason": "R", "notYetKnown": name} for name in types]
    return st.lists(st.sampled_from(items), unique_by=lambda item: item["type"])


def templates(**optional):
    item = made_of({"name": names, "schedulingPolicy": policies}, **optional)
    return st.lists(item, min_size=1, max_size=4, unique_by=lambda template: template["name"])


stored_workloads = made_of({"podGroupTemplates": templates(**newer)}, **controllers)
trees = st.builds(
    lambda leaves: {"compositePodGroupTemplates": [{"name": "t", "podGroupTemplates": leaves}]},
    templates(**newer),
)
workload_refs = st.just({"workloadName": "w", "templateName": "t"})
stored_groups = made_of(
    {"schedulingPolicy": policies},
    workloadRef=workload_refs,
    parentCompositePodGroupName=names,
    notYetKnown=names,
    **newer,
)
stored_statuses = made_of(
    {}, conditions=conditions("PodGroupInitiallyScheduled", "PodGroupScheduled", "DisruptionTarget")
)


def obj(kind, version, spec, status=None):
    body = {
        "apiVersion": kind.api_version_of(version),
        "kind": kind.name,
        "metadata": {"name": "x", "labels": {"a": "b"}},
        "spec": spec,
    }
    return body if status is None else {**body, "status": status}


stored = st.one_of(
    st.builds(lambda spec: (WORKLOAD, obj(WORKLOAD, "v1beta1", spec)), stored_workloads | trees),
    st.builds(
        lambda spec, status: (POD_GROUP, obj(POD_GROUP, "v1beta1", spec, status)),
        stored_groups,
        stored_statuses,
    ),
)


@given(stored)
def test_writing_back_what_was_read_changes_nothing_in_any_version(drawn):
    kind, before = drawn
    for version in kind.versions:
        assert to_storage(kind, to_version(kind, before, version), before) == before


@given(stored)
def test_every_version_shows_only_what_it_has(drawn):
    kind, before = drawn
    for version in kind.dialects:
        seen = to_version(kind, before, version)
        assert unknown_fields(kind.struct_of(version), seen) == []
        decode(kind.struct_of(version), seen)


known_policies = policies.filter(lambda policy: policy != {"basic": {"notYetKnown": 3}})
policy_and_name = {"name": names, "policy": known_policies}
older_groups = st.lists(
    st.fixed_dictionaries(policy_and_name), min_size=1, unique_by=lambda group: group["name"]
)
template_refs = st.just({"workload": {"workloadName": "w", "podGroupTemplateName": "t"}})
OLDER = {
    ("Workload", "v1alpha1"): made_of({"podGroups": older_groups}, **controllers),
    ("Workload", "v1alpha2"): made_of(
        {
            "podGroupTemplates": st.lists(
                made_of({"name": names, "schedulingPolicy": known_policies}, **words), min_size=1
            )
        },
        **controllers,
    ),
    ("PodGroup", "v1alpha2"): made_of(
        {"schedulingPolicy": known_policies}, podGroupTemplateRef=template_refs, **words
    ),
}


@pytest.mark.parametrize("kind_and_version", OLDER, ids="/".join)
@given(data=st.data())
def test_what_was_sent_in_an_older_version_comes_back_as_it_was(kind_and_version, data):
    name, version = kind_and_version
    kind = {"Workload": WORKLOAD, "PodGroup": POD_GROUP}[name]
    sent = obj(kind, version, data.draw(OLDER[kind_and_version]))
    kept = to_storage(kind, sent)
    assert unknown_fields(kind.struct, kept) == []
    assert to_version(kind, kept, version) == sent
