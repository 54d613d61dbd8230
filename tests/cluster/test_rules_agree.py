"""Our validation and the definitions that an API server goes by: of objects damaged at random both take the same ones.

Damage keeps to the types and fields there are; what has another shape is refused before any rule is asked.
"""

import copy
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posse.cli.access import read_access
from posse.cli.client import ApiClient, Refused
from posse.client.paths import path_of
from posse.kinds.registry import (
    POSSE_COMPOSITE_POD_GROUP,
    POSSE_POD_GROUP,
    POSSE_WORKLOAD,
)
from posse.model.decoding import decode
from tests.cluster.cluster_api import wait_until
from tests.cluster.posse_command import posse

pytestmark = pytest.mark.cluster

COMMON = {
    "schedulingConstraints": {"topology": [{"key": "example.com/rack"}]},
    "disruptionMode": {"all": {}},
    "priorityClassName": "high",
    "priority": 1000,
    "preemptionPolicy": "PreemptLowerPriority",
}
CLAIMS = {"resourceClaims": [{"name": "c", "resourceClaimName": "claim"}]}
GANG = {"schedulingPolicy": {"gang": {"minCount": 2}}}
COMPOSITE = {"schedulingPolicy": {"gang": {"minGroupCount": 2}}}
REFERENCE = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
LEAF = {"name": "leaf", **GANG, **CLAIMS, **COMMON}
BRANCH = {"name": "branch", **COMPOSITE, **COMMON, "podGroupTemplates": [LEAF]}
ROOT = {"name": "root", **COMPOSITE, **COMMON, "compositePodGroupTemplates": [BRANCH]}
CONTROLLER = {"controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"}}
BASES = {
    "group": (
        POSSE_POD_GROUP,
        GANG | CLAIMS | COMMON | REFERENCE | {"parentCompositePodGroupName": "parent"},
    ),
    "plain-group": (POSSE_POD_GROUP, {"schedulingPolicy": {"basic": {"desiredCount": 3}}}),
    "composite": (POSSE_COMPOSITE_POD_GROUP, COMPOSITE | COMMON | REFERENCE),
    "tree": (POSSE_WORKLOAD, CONTROLLER | {"compositePodGroupTemplates": [ROOT]}),
    "flat": (POSSE_WORKLOAD, {"podGroupTemplates": [LEAF, LEAF | {"name": "second"}]}),
}
TEXTS = ["", "a", "A", "a.b", "a_b", "x/y", "-a", "a" * 64, "a" * 253, "%", "..", "Never", "é", "a b"]
NUMBERS = [-1, 0, 1, 2, 10**9, 10**9 + 1]
# What an object that has the one field may have as well, if not always to its good.
BESIDE = {
    "gang": {"basic": {}},
    "basic": {"gang": {"minCount": 1}},
    "all": {"single": {}},
    "resourceClaimName": {"resourceClaimTemplateName": "t"},
    "controllerRef": {"podGroupTemplates": [LEAF | {"name": "other"}]},
    "podGroupTemplates": {"compositePodGroupTemplates": [BRANCH | {"name": "other"}]},
}


def places(node, path=()):
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


def damage(draw, spec):
    found = list(places(spec))
    if not found:
        return
    *above, last = draw(st.sampled_from(found))
    parent = spec
    for key in above:
        parent = parent[key]
    value = parent[last]
    if draw(st.integers(0, 3)) == 0:
        del parent[last]
    elif isinstance(value, str):
        parent[last] = draw(st.sampled_from(TEXTS))
    elif isinstance(value, int):
        parent[last] = draw(st.sampled_from(NUMBERS))
    elif isinstance(value, list) and value:
        name = draw(st.sampled_from([{}, {"name": "new"}])) if "name" in value[0] else {}
        parent[last] = draw(st.sampled_from([[], [*value, value[0] | name], value[::-1], 9 * value]))
    elif isinstance(parent, dict) and last in BESIDE:
        parent.update(copy.deepcopy(BESIDE[last]))


@st.composite
def damaged_specs(draw):
    name = draw(st.sampled_from(list(BASES)))
    spec = copy.deepcopy(BASES[name][1])
    for _ in range(draw(st.integers(0, 2))):
        damage(draw, spec)
        spec = copy.deepcopy(spec)
    return name, spec


def written(kind, name, spec):
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def struct_of(kind, name, spec):
    obj = written(kind, name, copy.deepcopy(spec))
    kind.rules.default(obj)
    return decode(kind.struct, obj)


def is_only_said_by_us(error):
    """The server does not look for one name in different branches of a tree."""
    return error.field.endswith(".name") and error.body().startswith("Duplicate value")


@pytest.fixture(scope="module", params=["plane_without_groups", "plane"], ids=["1.33", "1.37"])
def client(request):
    plane = request.getfixturevalue(request.param)
    posse(plane, "install", "--form", "crd", "--apply")
    client = ApiClient(read_access(plane.kubeconfig()), on_warning=print)
    wait_until(partial(serves_all, client), "our kinds to be served")
    for name, (kind, spec) in BASES.items():
        client.create(path_of(kind, kind.storage_version, "default"), written(kind, name, spec))
    yield client
    client.close()


def serves_all(client):
    try:
        for kind, _ in BASES.values():
            client.get(path_of(kind, kind.storage_version, "default"))
    except Refused:
        return False
    return True


def refusal(ask):
    try:
        ask()
    except Refused as error:
        if error.code not in {400, 422}:
            raise
        return str(error)
    return ""


@settings(max_examples=400, deadline=None, derandomize=True)
@given(damaged=damaged_specs())
def test_of_new_objects_both_take_the_same(client, damaged):
    name, spec = damaged
    kind, _ = BASES[name]
    errors = kind.rules.validate(struct_of(kind, "new", spec))
    if errors and all(map(is_only_said_by_us, errors)):
        return
    path = f"{path_of(kind, kind.storage_version, 'default')}?dryRun=All&fieldValidation=Strict"
    headers = {"Content-Type": "application/json"}
    told = refusal(lambda: client._exchange("POST", path, written(kind, "new", spec), headers))
    assert bool(told) == bool(errors), (told, errors)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(damaged=damaged_specs())
def test_of_changes_both_take_the_same(client, damaged):
    name, spec = damaged
    kind, before = BASES[name]
    errors = kind.rules.validate_update(struct_of(kind, name, spec), struct_of(kind, name, before))
    if errors and all(map(is_only_said_by_us, errors)):
        return
    path = path_of(kind, kind.storage_version, "default", name)
    version = client.get(path)["metadata"]["resourceVersion"]
    changed = written(kind, name, spec)
    changed["metadata"]["resourceVersion"] = version
    query = "?dryRun=All&fieldValidation=Strict"
    headers = {"Content-Type": "application/json"}
    told = refusal(lambda: client._exchange("PUT", path + query, changed, headers))
    assert bool(told) == bool(errors), (told, errors)
