import copy

import pytest

from posse.kinds.machinery.patching import (
    PatchError,
    PatchMismatchError,
    json_patch,
    merge_patch,
    strategic_merge_patch,
)
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.pod import Pod
from posse.model.workload import PodGroup, Workload


@pytest.mark.parametrize(
    ("before", "patch", "after"),
    [
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": 3}}, {"a": {"c": 2, "d": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": [1]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": {"b": 1}}, {"a": "text"}, {"a": "text"}),
        ({}, {"a": {"b": {"c": None, "d": 1}}}, {"a": {"b": {"d": 1}}}),
        ({}, {"a": {"b": None}}, {"a": {}}),
        ({"a": 1}, {}, {"a": 1}),
    ],
)
def test_merge_patch(before, patch, after):
    assert merge_patch(before, patch) == after


def test_a_merge_patch_is_an_object():
    with pytest.raises(PatchError, match="a merge patch must be an object"):
        merge_patch({}, [])


@pytest.mark.parametrize(
    ("before", "operations", "after"),
    [
        ({}, [{"op": "add", "path": "/a", "value": 1}], {"a": 1}),
        ({"a": 1}, [{"op": "add", "path": "/a", "value": None}], {"a": None}),
        ({"a": [1, 3]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2, 3]}),
        ({"a": [1]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2]}),
        ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": [2]}], {"a": [1, [2]]}),
        ({"a": 1}, [{"op": "add", "path": "", "value": {"b": 2}}], {"b": 2}),
        ({"a": 1, "b": 2}, [{"op": "remove", "path": "/a"}], {"b": 2}),
        ({"a": [1, 2, 3]}, [{"op": "remove", "path": "/a/1"}], {"a": [1, 3]}),
        ({"a": {"b": 1}}, [{"op": "replace", "path": "/a/b", "value": {}}], {"a": {"b": {}}}),
        ({"a": [1, 2]}, [{"op": "replace", "path": "/a/0", "value": 9}], {"a": [9, 2]}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": {}}], {}),
        ({"a": 1}, [{"op": "remove", "path": ""}], None),
        (
            {"a": {"b": 1}, "c": {}},
            [{"op": "move", "from": "/a/b", "path": "/c/d"}],
            {"a": {}, "c": {"d": 1}},
        ),
        ({"a": [1, 2, 3]}, [{"op": "move", "from": "/a/0", "path": "/a/2"}], {"a": [2, 3, 1]}),
        ({"a": 1}, [{"op": "move", "from": "/a", "path": "/a"}], {"a": 1}),
        ({"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": [1], "b": [1]}),
        ({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0}], {"a": 1}),
        (
            {"a": {"x": [1], "y": 2}},
            [{"op": "test", "path": "/a", "value": {"y": 2, "x": [1]}}],
            {"a": {"x": [1], "y": 2}},
        ),
        (
            {"a/b": 1, "m~n": 2},
            [{"op": "remove", "path": "/a~1b"}, {"op": "test", "path": "/m~0n", "value": 2}],
            {"m~n": 2},
        ),
        ({"~1": 1}, [{"op": "replace", "path": "/~01", "value": 2}], {"~1": 2}),
        ({"": 1}, [{"op": "replace", "path": "/", "value": 2}], {"": 2}),
        ({}, [], {}),
    ],
)
def test_json_patch(before, operations, after):
    assert json_patch(before, operations) == after


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        ([{"op": "remove", "path": "/gone"}], "operation 0 of the JSON patch: there is nothing at /gone"),
        ([{"op": "replace", "path": "/gone", "value": 1}], "there is nothing at /gone"),
        ([{"op": "add", "path": "/gone/deep", "value": 1}], "there is nothing at /gone"),
        ([{"op": "add", "path": "/text/deep", "value": 1}], "there is nothing at /text/deep"),
        ([{"op": "add", "path": "/list/3", "value": 1}], "there is nothing at /list/3"),
        ([{"op": "remove", "path": "/list/2"}], "there is nothing at /list/2"),
        ([{"op": "remove", "path": "/text/0"}], "there is nothing at /text/0"),
        ([{"op": "move", "from": "/text/deep", "path": "/b"}], "there is nothing at /text/deep"),
        (
            [{"op": "replace", "path": "/list/99999999999", "value": 1}],
            "there is nothing at /list/99999999999",
        ),
        ([{"op": "copy", "from": "/no~1ne", "path": "/b"}], "there is nothing at /no~1ne"),
        ([{"op": "test", "path": "/gone", "value": None}], "there is nothing at /gone"),
        ([{"op": "test", "path": "/text", "value": "u"}], "the test of /text failed"),
        ([{"op": "test", "path": "/one", "value": True}], "the test of /one failed"),
        ([{"op": "test", "path": "", "value": {}}], "the test of the root failed"),
        (
            [{"op": "test", "path": "/one", "value": 1}, {"op": "remove", "path": "/gone"}],
            "operation 1 of the JSON patch",
        ),
    ],
)
def test_json_patches_that_do_not_fit_the_object(operations, reason):
    with pytest.raises(PatchMismatchError) as caught:
        json_patch({"text": "t", "list": [1, 2], "one": 1}, operations)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        ({}, "must be a list of operations"),
        (["x"], "expected an object with op and path"),
        ([{"path": "/a"}], "op is None: expected one of add, remove, replace, move, copy, test"),
        ([{"op": ["add"], "path": "/a"}], "op is ['add']"),
        ([{"op": "add", "value": 1}], "path is None: expected a pointer"),
        ([{"op": "add", "path": "a", "value": 1}], "path is 'a': expected a pointer"),
        ([{"op": "add", "path": "/a"}], "add needs a value"),
        ([{"op": "move", "path": "/a"}], "from is None: expected a pointer"),
        ([{"op": "move", "from": "/list", "path": "/list/0"}], "/list cannot be moved into itself"),
        (
            [{"op": "replace", "path": "/list/-", "value": 1}],
            "'-' in /list/- is not the position of a list item",
        ),
        (
            [{"op": "replace", "path": "/list/01", "value": 1}],
            "'01' in /list/01 is not the position of a list item",
        ),
        ([{"op": "test", "path": "", "value": 1}] * 10_001, "at most 10000 operations"),
    ],
)
def test_malformed_json_patches(operations, reason):
    with pytest.raises(PatchError) as caught:
        json_patch({"list": [1, 2]}, operations)
    assert not isinstance(caught.value, PatchMismatchError)
    assert reason in str(caught.value)


def pod(*containers, **spec):
    return {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": list(containers), **spec}}


def patched(obj, **spec):
    return strategic_merge_patch(Pod, obj, {"spec": spec})["spec"]


def test_objects_and_maps_are_merged_field_by_field():
    before = {"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"nodeName": "n"}}
    patch = {"metadata": {"labels": {"b": None, "c": "3"}}, "spec": {"priority": 5}}
    assert strategic_merge_patch(Pod, before, patch) == {
        "metadata": {"labels": {"a": "1", "c": "3"}},
        "spec": {"nodeName": "n", "priority": 5},
    }


def test_items_are_paired_by_their_merge_key():
    before = pod({"name": "a", "image": "x"}, {"name": "b", "image": "y", "tty": True})
    after = patched(before, containers=[{"name": "b", "image": "z"}, {"name": "c", "image": "w"}])
    assert after["containers"] == [
        {"name": "a", "image": "x"},
        {"name": "b", "image": "z", "tty": True},
        {"name": "c", "image": "w"},
    ]


def test_merge_keys_work_at_depth():
    before = pod(
        {"name": "a", "env": [{"name": "X", "value": "1"}], "ports": [{"containerPort": 80, "name": "web"}]}
    )
    change = {
        "name": "a",
        "env": [{"name": "Y", "value": "2"}],
        "ports": [{"containerPort": 80, "hostPort": 8080}],
    }
    assert patched(before, containers=[change])["containers"][0] == {
        "name": "a",
        "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}],
        "ports": [{"containerPort": 80, "name": "web", "hostPort": 8080}],
    }


def test_conditions_are_paired_by_type():
    before = {
        "status": {
            "conditions": [{"type": "A", "status": "False", "reason": "x"}, {"type": "B", "status": "True"}]
        }
    }
    after = strategic_merge_patch(
        PodGroup, before, {"status": {"conditions": [{"type": "A", "status": "True"}]}}
    )
    assert after["status"]["conditions"] == [
        {"type": "A", "status": "True", "reason": "x"},
        {"type": "B", "status": "True"},
    ]


def test_lists_without_a_merge_key_are_replaced():
    before = pod(tolerations=[{"key": "a"}])
    assert patched(before, tolerations=[{"key": "b"}])["tolerations"] == [{"key": "b"}]
    workload = {"spec": {"podGroupTemplates": [{"name": "a"}]}}
    patch = {"spec": {"podGroupTemplates": [{"name": "b"}]}}
    assert strategic_merge_patch(Workload, workload, patch) == patch


def test_lists_of_values_are_united():
    before = {"metadata": {"finalizers": ["a", "b"]}}
    after = strategic_merge_patch(Pod, before, {"metadata": {"finalizers": ["b", "c"]}})
    assert after["metadata"]["finalizers"] == ["a", "b", "c"]


def test_values_are_deleted_from_lists_of_values():
    before = {"metadata": {"finalizers": ["a", "b", "c"]}}
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["b", "x"], "finalizers": ["d"]}}
    assert strategic_merge_patch(Pod, before, patch)["metadata"]["finalizers"] == ["a", "c", "d"]
    alone = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}
    assert strategic_merge_patch(Pod, before, alone)["metadata"]["finalizers"] == ["b", "c"]
    assert strategic_merge_patch(Pod, {"metadata": {}}, alone) == {"metadata": {}}


def test_an_item_is_deleted_by_its_merge_key():
    before = pod({"name": "a"}, {"name": "b"})
    after = patched(
        before, containers=[{"name": "a", "$patch": "delete"}, {"name": "gone", "$patch": "delete"}]
    )
    assert after["containers"] == [{"name": "b"}]


def test_a_list_is_replaced_by_directive():
    before = pod({"name": "a"}, {"name": "b"})
    after = patched(before, containers=[{"$patch": "replace"}, {"name": "c", "tty": None}])
    assert after["containers"] == [{"name": "c"}]


def test_an_object_is_replaced_emptied_or_merged_by_directive():
    before = pod(affinity={"nodeAffinity": {}}, nodeSelector={"a": "b"}, os={"name": "linux"})
    after = patched(
        before,
        affinity={"$patch": "replace", "podAffinity": {}},
        nodeSelector={"$patch": "delete"},
        os={"$patch": "merge", "name": "windows"},
    )
    assert after == {
        "containers": [],
        "affinity": {"podAffinity": {}},
        "nodeSelector": {},
        "os": {"name": "windows"},
    }


def test_a_field_marked_for_replacement_is_not_merged():
    before = {"spec": {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": 1}}
    patch = {"spec": {"selector": {"matchExpressions": []}}}
    after = strategic_merge_patch(PodDisruptionBudget, before, patch)
    assert after == {"spec": {"selector": {"matchExpressions": []}, "minAvailable": 1}}


def test_retained_keys_drop_all_others():
    before = pod(volumes=[{"name": "v", "emptyDir": {}, "image": {}}])
    change = {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}, "emptyDir": None}
    assert patched(before, volumes=[change])["volumes"] == [{"name": "v", "hostPath": {"path": "/x"}}]


def test_the_order_of_items_follows_the_directive():
    before = pod({"name": "a"}, {"name": "b"}, {"name": "c"})
    order = [{"name": "c"}, {"name": "d"}, {"name": "a"}, {"name": "b"}]
    after = patched(before, **{"$setElementOrder/containers": order, "containers": [{"name": "d"}]})
    assert [item["name"] for item in after["containers"]] == ["c", "d", "a", "b"]


def test_items_the_order_does_not_name_keep_their_place():
    before = pod({"name": "a"}, {"name": "sidecar"}, {"name": "b"}, {"name": "tail"})
    order = [{"name": "a"}, {"name": "new"}, {"name": "b"}]
    after = patched(before, **{"$setElementOrder/containers": order, "containers": [{"name": "new"}]})
    assert [item["name"] for item in after["containers"]] == ["a", "new", "sidecar", "b", "tail"]


def test_an_order_alone_rearranges_a_list_but_makes_none():
    order = {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}
    assert patched(pod({"name": "a"}, {"name": "b"}), **order)["containers"] == [{"name": "b"}, {"name": "a"}]
    assert strategic_merge_patch(Pod, {}, {"spec": order}) == {"spec": {}}


def test_values_are_ordered_too():
    before = {"metadata": {"finalizers": ["a", "b"]}}
    patch = {"metadata": {"$setElementOrder/finalizers": ["c", "b", "a"], "finalizers": ["c"]}}
    assert strategic_merge_patch(Pod, before, patch)["metadata"]["finalizers"] == ["c", "b", "a"]


def test_opaque_and_unknown_fields_merge_as_objects_and_replace_otherwise():
    before = pod(securityContext={"runAsUser": 1, "sysctls": [1]}, future={"a": 1, "list": [1]})
    after = patched(before, securityContext={"sysctls": [2]}, future={"b": None, "list": [2]})
    assert after["securityContext"] == {"runAsUser": 1, "sysctls": [2]}
    assert after["future"] == {"a": 1, "list": [2]}


def test_null_removes_a_field_and_new_objects_carry_no_nulls_and_no_directives():
    after = patched(
        pod({"name": "a"}, priority=3),
        priority=None,
        affinity={"x": None, "nodeAffinity": {"$patch": "merge"}},
    )
    assert after == {"containers": [{"name": "a"}], "affinity": {"nodeAffinity": {}}}


def test_a_change_of_type_takes_the_new_value():
    assert patched({"spec": {"containers": "broken"}}, containers=[{"name": "a"}])["containers"] == [
        {"name": "a"}
    ]
    assert patched(pod({"name": "a"}), containers={"name": "b"})["containers"] == {"name": "b"}
    assert patched(pod(nodeName={"odd": 1}), nodeName="n")["nodeName"] == "n"


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ([], "must be an object"),
        ({"spec": {"$patch": "destroy"}}, "$patch is 'destroy': expected merge, replace or delete"),
        (
            {"spec": {"containers": [{"$patch": "destroy"}]}},
            "$patch is 'destroy': expected merge, replace or delete",
        ),
        ({"spec": {"containers": [{"image": "x"}]}}, "every item of containers must be an object with name"),
        ({"spec": {"containers": ["x"]}}, "every item of containers must be an object with name"),
        (
            {"spec": {"containers": [{"$patch": "delete"}]}},
            "every item of containers must be an object with name",
        ),
        ({"metadata": {"finalizers": [{}]}}, "finalizers must be a list of plain values"),
        (
            {"metadata": {"$deleteFromPrimitiveList/finalizers": "a"}},
            "$deleteFromPrimitiveList/finalizers must be a list",
        ),
        (
            {"spec": {"$retainKeys": ["os"], "nodeName": "x"}},
            "$retainKeys must list every field the patch sets; nodeName",
        ),
        ({"spec": {"$retainKeys": "os"}}, "$retainKeys must be a list"),
        (
            {"spec": {"$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "b"}]}},
            "$setElementOrder/containers must list the items of containers in the same order; 'b' is amiss",
        ),
        (
            {"spec": {"$setElementOrder/containers": {}, "containers": []}},
            "$setElementOrder/containers must be a list",
        ),
    ],
)
def test_malformed_strategic_merge_patches(patch, reason):
    with pytest.raises(PatchError) as caught:
        strategic_merge_patch(
            Pod, {"metadata": {"finalizers": ["a"]}, "spec": {"containers": [{"name": "a"}]}}, patch
        )
    assert reason in str(caught.value)


def test_the_result_shares_nothing_with_object_or_patch():
    before = pod({"name": "a", "env": [{"name": "X"}]}, nodeSelector={"a": "b"})
    patch = {
        "spec": {
            "containers": [{"name": "a", "args": ["x"]}],
            "tolerations": [{"key": "t"}],
            "os": {"name": "linux"},
        }
    }
    untouched = copy.deepcopy((before, patch))
    operations = [
        {"op": "add", "path": "/spec/os", "value": {"name": "linux"}},
        {"op": "copy", "from": "/spec", "path": "/two"},
    ]
    results = [
        strategic_merge_patch(Pod, before, patch),
        merge_patch(before, patch),
        json_patch(before, operations),
    ]
    for result in results:
        wreck(result)
    assert (before, patch) == untouched
    assert operations[0]["value"] == {"name": "linux"}


def wreck(data):
    for item in list(data.values()) if isinstance(data, dict) else data:
        if isinstance(item, dict | list):
            wreck(item)
    data.clear()


def test_copies_cannot_blow_an_object_up():
    doubling = [{"op": "copy", "from": "", "path": f"/a{number}"} for number in range(40)]
    with pytest.raises(
        PatchMismatchError, match=r"operation 1[0-9] of .*: the copies add more than 3145728 bytes"
    ):
        json_patch({"a": "x" * 1000}, doubling)
    small = [{"op": "copy", "from": "/a", "path": f"/b{number}"} for number in range(1000)]
    assert len(json_patch({"a": "x" * 1000}, small)) == 1001
