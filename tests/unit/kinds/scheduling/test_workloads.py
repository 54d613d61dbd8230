"""Workload: each template by itself, the tree as a whole, and what may change later."""

import copy

import pytest

from posse.kinds.registry import WORKLOAD

IMMUTABLE = "Invalid value: null: field is immutable"
GANG = {"schedulingPolicy": {"gang": {"minCount": 2}}}
COMPOSITE_GANG = {"schedulingPolicy": {"gang": {"minGroupCount": 1}}}


def leaf(name, **fields):
    return {"name": name, **copy.deepcopy(GANG), **fields}


def branch(name, *, leaves=(), branches=(), **fields):
    children = {"podGroupTemplates": list(leaves), "compositePodGroupTemplates": list(branches)}
    return {"name": name, **copy.deepcopy(COMPOSITE_GANG), **children, **fields}


def flat(*leaves, **spec):
    return {
        "metadata": {"name": "wl", "namespace": "ns"},
        "spec": {"podGroupTemplates": list(leaves), **spec},
    }


def tree(*branches, **spec):
    metadata = {"name": "wl", "namespace": "ns"}
    return {"metadata": metadata, "spec": {"compositePodGroupTemplates": list(branches), **spec}}


CONTROLLER = {"apiGroup": "batch", "kind": "Job", "name": "train"}
RACK = {"topology": [{"key": "rack"}]}
DEEPEST = branch("a", branches=[branch("b", branches=[branch("c", leaves=[leaf("d")])])])
TOO_DEEP = branch(
    "a", branches=[branch("b", branches=[branch("c", branches=[branch("d", leaves=[leaf("e")])])])]
)

GOOD = {
    "flat": flat(leaf("a"), leaf("b")),
    "with controller": flat(leaf("a"), controllerRef=CONTROLLER),
    "core controller": flat(leaf("a"), controllerRef={"kind": "ReplicationController", "name": "x"}),
    "tree": tree(branch("r", leaves=[leaf("a")], branches=[branch("s", leaves=[leaf("b")])])),
    "four levels": tree(DEEPEST),
    "all in basic": flat({"name": "a", "schedulingPolicy": {"basic": {}}, "disruptionMode": {"all": {}}}),
    "same priorities": tree(branch("r", leaves=[leaf("a", priority=3)], priority=3)),
}


@pytest.mark.parametrize("workload", GOOD.values(), ids=GOOD.keys())
def test_good(problems, workload):
    assert problems(WORKLOAD, workload) == []


def test_nothing_is_filled_in():
    workload = flat(leaf("a"))
    WORKLOAD.rules.default(workload)
    assert workload == flat(leaf("a"))


REFUSED = {
    "no templates": (
        flat(),
        ['spec: Invalid value: "": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`'],
    ),
    "both lists": (
        flat(leaf("a"), compositePodGroupTemplates=[branch("b", leaves=[leaf("c")])]),
        [
            (
                'spec: Invalid value: "{podGroupTemplates, compositePodGroupTemplates}": must specify exactly one of: '
                "`podGroupTemplates`, `compositePodGroupTemplates`"
            )
        ],
    ),
    "9 templates": (
        flat(*(leaf(f"t{n}") for n in range(9))),
        ["spec.podGroupTemplates: Too many: 9: must have at most 8 items"],
    ),
    "9 children": (
        tree(branch("r", leaves=[leaf(f"t{n}") for n in range(9)])),
        ["spec.compositePodGroupTemplates[0].podGroupTemplates: Too many: 9: must have at most 8 items"],
    ),
    "same name in one list": (
        flat(leaf("a"), leaf("a")),
        [
            (
                "spec.podGroupTemplates[1]: Duplicate value: "
                '{"name":"a","schedulingPolicy":{"gang":{"minCount":2}}}'
            )
        ],
    ),
    "same name at two levels": (
        tree(branch("r", leaves=[leaf("r")])),
        ['spec.compositePodGroupTemplates[0].podGroupTemplates[0].name: Duplicate value: "r"'],
    ),
    "same name in two branches": (
        tree(branch("r", leaves=[leaf("a")]), branch("s", leaves=[leaf("b"), leaf("a")])),
        ['spec.compositePodGroupTemplates[1].podGroupTemplates[1].name: Duplicate value: "a"'],
    ),
    "same name for both kinds of child": (
        tree(branch("r", leaves=[leaf("a")], branches=[branch("a", leaves=[leaf("b")])])),
        ['spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0].name: Duplicate value: "a"'],
    ),
    "no name": (
        flat({"schedulingPolicy": {"basic": {}}}),
        ["spec.podGroupTemplates[0].name: Required value"],
    ),
    "dotted name": (
        flat(leaf("a.b")),
        ['spec.podGroupTemplates[0].name: Invalid value: "a.b": must not contain dots'],
    ),
    "no policy": (
        flat({"name": "a"}),
        [
            'spec.podGroupTemplates[0].schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'
        ],
    ),
    "minCount absent": (
        flat({"name": "a", "schedulingPolicy": {"gang": {}}}),
        ["spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Required value"],
    ),
    "minGroupCount negative": (
        tree(branch("r", leaves=[leaf("a")], schedulingPolicy={"gang": {"minGroupCount": -1}})),
        [
            (
                "spec.compositePodGroupTemplates[0].schedulingPolicy.gang.minGroupCount: Invalid value: -1: "
                "must be greater than or equal to 1"
            )
        ],
    ),
    "childless": (
        tree(branch("r", branches=[branch("s")])),
        [
            (
                'spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0]: Invalid value: "s": '
                "must have at least one child PodGroupTemplate or CompositePodGroupTemplate"
            )
        ],
    ),
    "different classes, flat": (
        flat(leaf("a", priorityClassName="x"), leaf("b")),
        [
            (
                "spec: Invalid value: null: detected multiple priority configurations; "
                'all templates must have the same: "a" has x, "b" has none'
            )
        ],
    ),
    "no priority differs from 0": (
        tree(branch("r", leaves=[leaf("a", priority=0)])),
        [
            (
                "spec: Invalid value: null: all priority and priorityClassName values must be identical, "
                'detected multiple values: "r" has none, "a" has 0'
            )
        ],
    ),
    "priority too high": (
        flat(leaf("a", priority=2_000_001_001)),
        [
            (
                "spec.podGroupTemplates[0].priority: Invalid value: 2000001001: must be less than or equal to "
                "2000001000"
            )
        ],
    ),
    "preemption policy": (
        tree(branch("r", leaves=[leaf("a")], preemptionPolicy="Often")),
        [
            (
                'spec.compositePodGroupTemplates[0].preemptionPolicy: Unsupported value: "Often": '
                'supported values: "Never", "PreemptLowerPriority"'
            )
        ],
    ),
    "two topology entries": (
        flat(leaf("a", schedulingConstraints={"topology": [{"key": "a"}, {"key": "b"}]})),
        ["spec.podGroupTemplates[0].schedulingConstraints.topology: Too many: 2: must have at most 1 item"],
    ),
    "empty disruption mode": (
        flat(leaf("a", disruptionMode={})),
        ['spec.podGroupTemplates[0].disruptionMode: Invalid value: "": must specify one of: `single`, `all`'],
    ),
    "claim without source": (
        flat(leaf("a", resourceClaims=[{"name": "c"}])),
        [
            (
                'spec.podGroupTemplates[0].resourceClaims[0]: Invalid value: "": must specify one of: '
                "`resourceClaimName`, `resourceClaimTemplateName`"
            )
        ],
    ),
    "empty controller": (
        flat(leaf("a"), controllerRef={}),
        ["spec.controllerRef.kind: Required value", "spec.controllerRef.name: Required value"],
    ),
    "controller named like a path": (
        flat(leaf("a"), controllerRef=CONTROLLER | {"kind": "..", "name": "a/b"}),
        [
            "spec.controllerRef.kind: Invalid value: \"..\": may not be '..'",
            "spec.controllerRef.name: Invalid value: \"a/b\": may not contain '/'",
        ],
    ),
}


@pytest.mark.parametrize(("workload", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_on_create(problems, workload, expected):
    assert problems(WORKLOAD, workload) == expected


def test_too_deep(problems):
    found = problems(WORKLOAD, tree(TOO_DEEP))
    assert len(found) == 1
    assert found[0].startswith('spec.compositePodGroupTemplates[0]: Invalid value: [{"name":"b"')
    assert found[0].endswith("]: maximum template hierarchy depth is 4")


def test_a_tree_without_bottom_is_refused_quickly(problems):
    template = branch("leaf", leaves=[leaf("x")])
    for level in range(100):
        template = branch(f"t{level}", branches=[template])
    assert any("maximum template hierarchy depth is 4" in text for text in problems(WORKLOAD, tree(template)))


ORIGINAL = flat(leaf("a", resourceClaims=[]), leaf("b"), controllerRef=CONTROLLER)


UPDATES = {
    "minCount": (
        ORIGINAL,
        {"podGroupTemplates": [leaf("b"), leaf("a", schedulingPolicy={"gang": {"minCount": 9}})]},
        [],
    ),
    "order": (ORIGINAL, {"podGroupTemplates": [leaf("b"), leaf("a")]}, []),
    "minGroupCount in a tree": (
        tree(branch("r", leaves=[leaf("a")])),
        {
            "compositePodGroupTemplates": [
                branch("r", leaves=[leaf("a")], schedulingPolicy={"gang": {"minGroupCount": 4}})
            ]
        },
        [],
    ),
    "minCount to 0": (
        ORIGINAL,
        {"podGroupTemplates": [leaf("a"), leaf("b", schedulingPolicy={"gang": {"minCount": 0}})]},
        ["spec.podGroupTemplates[1].schedulingPolicy.gang.minCount: Required value"],
    ),
    "gang to basic": (
        ORIGINAL,
        {"podGroupTemplates": [leaf("a"), leaf("b", schedulingPolicy={"basic": {}})]},
        [
            f"spec.podGroupTemplates[1].schedulingPolicy.basic: {IMMUTABLE}",
            "spec.podGroupTemplates[1].schedulingPolicy.gang: Invalid value: null: field cannot be cleared once set",
        ],
    ),
    "template added": (
        ORIGINAL,
        {"podGroupTemplates": [leaf("new"), leaf("a"), leaf("b")]},
        ["spec.podGroupTemplates[0]: Forbidden: item may not be added"],
    ),
    "template removed": (
        ORIGINAL,
        {"podGroupTemplates": [leaf("a")]},
        ["spec.podGroupTemplates: Forbidden: item may not be removed"],
    ),
    "template renamed": (
        ORIGINAL,
        {"podGroupTemplates": [leaf("a"), leaf("c")]},
        [
            "spec.podGroupTemplates[1]: Forbidden: item may not be added",
            "spec.podGroupTemplates: Forbidden: item may not be removed",
        ],
    ),
    "child added": (
        tree(branch("r", leaves=[leaf("a")])),
        {"compositePodGroupTemplates": [branch("r", leaves=[leaf("a"), leaf("b")])]},
        [
            "spec.compositePodGroupTemplates[0].podGroupTemplates[1]: Forbidden: item may not be added",
        ],
    ),
    "flat to tree": (
        flat(leaf("a")),
        {"podGroupTemplates": None, "compositePodGroupTemplates": [branch("r", leaves=[leaf("a")])]},
        [
            "spec.podGroupTemplates: Forbidden: item may not be removed",
            "spec.compositePodGroupTemplates[0]: Forbidden: item may not be added",
        ],
    ),
    "controller unset": (ORIGINAL, {"controllerRef": None}, [f"spec.controllerRef: {IMMUTABLE}"]),
    "controller changed": (ORIGINAL, {"controllerRef": {"name": "x"}}, [f"spec.controllerRef: {IMMUTABLE}"]),
    "controller set": (flat(leaf("a")), {"controllerRef": CONTROLLER}, [f"spec.controllerRef: {IMMUTABLE}"]),
    "tree rules hold on update": (
        ORIGINAL,
        {"podGroupTemplates": [leaf("a", priority=1), leaf("b", priority=2)]},
        [
            (
                "spec: Invalid value: null: detected multiple priority configurations; "
                'all templates must have the same: "a" has 1, "b" has 2'
            ),
            f"spec.podGroupTemplates[0].priority: {IMMUTABLE}",
            f"spec.podGroupTemplates[1].priority: {IMMUTABLE}",
        ],
    ),
}


@pytest.mark.parametrize(("workload", "spec", "expected"), UPDATES.values(), ids=UPDATES.keys())
def test_updates(update_problems, workload, spec, expected):
    assert update_problems(WORKLOAD, workload, {"spec": spec}) == expected


FIXED = {
    "schedulingConstraints": RACK,
    "resourceClaims": [{"name": "c", "resourceClaimName": "c"}],
    "disruptionMode": {"all": {}},
    "priorityClassName": "x",
    "priority": 1,
    "preemptionPolicy": "Never",
}


@pytest.mark.parametrize("field", FIXED)
def test_fields_of_a_template_are_fixed(update_problems, field):
    patch = {"spec": {"podGroupTemplates": [leaf("a", **{field: FIXED[field]})]}}
    assert update_problems(WORKLOAD, flat(leaf("a")), patch) == [
        f"spec.podGroupTemplates[0].{field}: {IMMUTABLE}"
    ]


@pytest.mark.parametrize("field", [field for field in FIXED if field != "resourceClaims"])
def test_fields_of_a_composite_template_are_fixed(update_problems, field):
    old = tree(branch("r", branches=[branch("s", leaves=[leaf("a")])]))
    new = branch("r", branches=[branch("s", leaves=[leaf("a")], **{field: FIXED[field]})])
    path = f"spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0].{field}"
    found = update_problems(WORKLOAD, old, {"spec": {"compositePodGroupTemplates": [new]}})
    assert found[-1] == f"{path}: {IMMUTABLE}"


def test_what_was_accepted_once_is_not_judged_again(update_problems):
    odd = flat({"name": "A_b", "schedulingPolicy": {}}, leaf("b"))
    templates = [
        {"name": "A_b", "schedulingPolicy": {}},
        leaf("b", schedulingPolicy={"gang": {"minCount": 5}}),
    ]
    assert update_problems(WORKLOAD, odd, {"spec": {"podGroupTemplates": templates}}) == []


def test_how_many_members_a_template_expects_is_positive_and_may_change(problems, update_problems):
    def expecting(count):
        template = {"name": "a", "schedulingPolicy": {"basic": {"desiredCount": count}}}
        return {"metadata": {"name": "w", "namespace": "ns"}, "spec": {"podGroupTemplates": [template]}}

    assert problems(WORKLOAD, expecting(3)) == []
    assert update_problems(WORKLOAD, expecting(3), expecting(4)) == []
    assert problems(WORKLOAD, expecting(0)) == [
        (
            "spec.podGroupTemplates[0].schedulingPolicy.basic.desiredCount: Invalid value: 0: "
            "must be greater than or equal to 1"
        )
    ]
