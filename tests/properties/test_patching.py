"""Patches against their inverse: the difference of two objects, applied to the first, must give the second."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from posse.kinds.machinery.patching import json_patch, merge_patch, strategic_merge_patch
from posse.model.pod import Pod

names = st.sampled_from(["a", "b", "c/d", "e~f", ""])
scalars = st.one_of(st.integers(-3, 3), st.booleans(), st.sampled_from(["", "x", "y"]))
documents = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=8,
)
objects = st.dictionaries(names, documents, max_size=4)


def difference(old, new):
    patch = {name: None for name in old if name not in new}
    for name, value in new.items():
        if isinstance(value, dict):
            patch[name] = difference(old[name] if isinstance(old.get(name), dict) else {}, value)
        else:
            patch[name] = value
    return patch


def operations(old, new, path=""):
    for name in old:
        if name not in new:
            yield {"op": "remove", "path": f"{path}/{escaped(name)}"}
    for name, value in new.items():
        here = f"{path}/{escaped(name)}"
        if isinstance(value, dict) and isinstance(old.get(name), dict):
            yield {"op": "test", "path": here, "value": old[name]}
            yield from operations(old[name], value, here)
        else:
            yield {"op": "replace" if name in old else "add", "path": here, "value": value}


def escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


@given(objects, objects)
def test_a_merge_patch_of_the_difference_leads_to_the_goal(old, new):
    before = copy.deepcopy(old)
    assert merge_patch(old, difference(old, new)) == new
    assert repr(old) == repr(before)


@given(objects, objects)
def test_a_merge_patch_applied_twice_changes_nothing_more(old, patch):
    once = merge_patch(old, patch)
    assert merge_patch(once, patch) == once


@given(objects, objects)
def test_a_json_patch_of_the_difference_leads_to_the_goal(old, new):
    before = copy.deepcopy(old)
    assert json_patch(old, list(operations(old, new))) == new
    assert repr(old) == repr(before)


container_names = st.sampled_from(["a", "b", "c", "d", "e"])
containers = st.lists(
    st.fixed_dictionaries(
        {"name": container_names}, optional={"image": st.sampled_from(["x", "y"]), "tty": st.booleans()}
    ),
    max_size=4,
    unique_by=lambda item: item["name"],
)


def by_name(items):
    return {item["name"]: item for item in items}


@given(containers, containers)
def test_keyed_lists_merge_like_maps_of_their_items(live, change):
    after = strategic_merge_patch(Pod, {"spec": {"containers": live}}, {"spec": {"containers": change}})
    merged = after["spec"]["containers"]
    expected = {
        name: {**by_name(live).get(name, {}), **by_name(change).get(name, {})}
        for name in [*by_name(live), *by_name(change)]
    }
    assert by_name(merged) == expected
    assert [item["name"] for item in merged] == list(expected)


@given(containers, containers)
def test_an_order_and_deletions_make_the_list_the_user_wrote(live, goal):
    deletions = [{"name": name, "$patch": "delete"} for name in by_name(live) if name not in by_name(goal)]
    changes = [{"image": None, "tty": None, **item} for item in goal]
    patch = {
        "containers": changes + deletions,
        "$setElementOrder/containers": [{"name": i["name"]} for i in goal],
    }
    after = strategic_merge_patch(Pod, {"spec": {"containers": live}}, {"spec": patch})
    assert after["spec"]["containers"] == goal


@given(containers, st.lists(container_names, unique=True))
def test_ordering_loses_nothing_and_keeps_the_order_of_both_sides(live, order):
    patch = {"$setElementOrder/containers": [{"name": name} for name in order]}
    after = strategic_merge_patch(Pod, {"spec": {"containers": live}}, {"spec": patch})
    result = [item["name"] for item in after["spec"]["containers"]]
    live_names = [item["name"] for item in live]
    assert sorted(result) == sorted(live_names)
    assert [name for name in result if name in order] == [name for name in order if name in live_names]
    assert [name for name in result if name not in order] == [
        name for name in live_names if name not in order
    ]


@given(objects, objects)
def test_without_a_schema_a_strategic_merge_is_a_merge(old, patch):
    extra_old, extra_patch = {"unknown": old}, {"unknown": patch}
    assert strategic_merge_patch(Pod, extra_old, extra_patch) == merge_patch(extra_old, extra_patch)
