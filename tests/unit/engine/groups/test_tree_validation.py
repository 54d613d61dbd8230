"""What is wrong with a tree as a whole: every violation is named, and a sound tree has none."""

import pytest
from msgspec import structs

from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.tree import root_of
from posse.engine.groups.tree_validation import violation
from posse.engine.reporting.invalid_messages import problem_text
from posse.model.meta import ObjectMeta
from posse.model.workload import (
    AllDisruptionMode,
    BasicGroupSchedulingPolicy,
    BasicSchedulingPolicy,
    CompositePodGroupSchedulingPolicy,
    CompositePodGroupTemplate,
    DisruptionMode,
    GangSchedulingPolicy,
    PodGroupSchedulingPolicy,
    PodGroupTemplate,
    SingleDisruptionMode,
    Workload,
    WorkloadReference,
    WorkloadSpec,
)
from tests.support.builders import NAMESPACE, composite, gang, priority_class

ALL = DisruptionMode(all=AllDisruptionMode())
SINGLE = DisruptionMode(single=SingleDisruptionMode())


def made_from(template, workload="w"):
    return {"workload_ref": WorkloadReference(workload_name=workload, template_name=template)}


def below(parent, **spec):
    return {"parent_composite_pod_group_name": parent, **spec}


def problem(*objects, workload=None, classes=()):
    book = GroupBook()
    for one in classes:
        book.put_class(one)
    keys = []
    for obj in objects:
        if obj.__class__.__name__ == "CompositePodGroup":
            book.links.put(obj)
        else:
            keys.append(book.put(obj).key)
    [root] = {book.links.root_key(key) for key in keys}
    found = violation(root_of(book, root), workload, book.classes)
    return "" if found is None else problem_text(found)


def workload(*composites, flat=()):
    return Workload(
        metadata=ObjectMeta(name="w", namespace=NAMESPACE),
        spec=WorkloadSpec(composite_pod_group_templates=composites, pod_group_templates=flat),
    )


def template(name, *children, mode=None):
    leaves = tuple(one for one in children if isinstance(one, PodGroupTemplate))
    composites = tuple(one for one in children if isinstance(one, CompositePodGroupTemplate))
    return CompositePodGroupTemplate(
        name=name,
        disruption_mode=mode,
        pod_group_templates=leaves,
        composite_pod_group_templates=composites,
    )


def leaf(name, mode=None):
    return PodGroupTemplate(name=name, disruption_mode=mode)


FOUR_LEVELS = [
    composite("top"),
    composite("mid", **below("top")),
    composite("low", **below("mid")),
]


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([composite("root"), gang("g", **below("root"))], ""),
        ([*FOUR_LEVELS, gang("g", **below("low"))], ""),
        (
            [*FOUR_LEVELS, composite("lowest", **below("low")), gang("g", **below("lowest"))],
            "the tree is more than 4 levels deep: top > mid > low > lowest > g",
        ),
        (
            [composite("a", **below("b")), composite("b", **below("a")), gang("g", **below("a"))],
            "composite pod groups are each other's ancestors: a > b > a",
        ),
        (
            [composite("a", **below("a")), gang("g", **below("a"))],
            "composite pod groups are each other's ancestors: a > a",
        ),
        (
            [composite("root", **made_from("t", "one")), gang("g", **below("root", **made_from("t", "two")))],
            (
                "all groups of a tree come from one Workload, but these name 2: "
                "one (CompositePodGroup root), two (PodGroup g)"
            ),
        ),
        (
            [composite("root", 1, priority=100), gang("g", **below("root", priority=10))],
            (
                "all groups of a tree should have the same priority, "
                "got 100 (CompositePodGroup root), 10 (PodGroup g)"
            ),
        ),
        (
            [
                composite("root", 1, priority=1),
                composite("mid", 1, **below("root")),
                gang("g", **below("mid", priority=1)),
            ],
            (
                "all groups of a tree should have the same priority, "
                "got 1 (CompositePodGroup root), 0 (CompositePodGroup mid)"
            ),
        ),
        (
            # What the API server fills in is no statement of anybody's.
            [composite("root", disruption_mode=ALL), gang("g", **below("root", disruption_mode=SINGLE))],
            "",
        ),
        ([gang("g", **below("missing"))], ""),
    ],
    ids=[
        "two levels",
        "four levels",
        "too deep",
        "circle",
        "own parent",
        "workloads",
        "priorities",
        "priority in the middle",
        "modes",
        "no root",
    ],
)
def test_a_tree_by_itself(objects, expected):
    assert problem(*objects) == expected
    assert problem(*reversed(objects)) == expected


ROOT = composite("root", **made_from("job"))
MID = composite("mid", **below("root", **made_from("replica")))
WORKERS = gang("g", **below("mid", **made_from("workers")))


@pytest.mark.parametrize(
    ("objects", "templates", "expected"),
    [
        ([ROOT, MID, WORKERS], [template("job", template("replica", leaf("workers")))], ""),
        (
            [ROOT, MID, WORKERS],
            [template("job", template("replica", leaf("driver")))],
            "PodGroup g names template 'workers', and there is no pod group template of that name in Workload w",
        ),
        (
            [ROOT, MID, WORKERS],
            [template("job", template("workers", leaf("replica")))],
            (
                "CompositePodGroup mid names template 'replica', "
                "and there is no composite pod group template of that name in Workload w"
            ),
        ),
        (
            [ROOT, MID, WORKERS],
            [template("job", leaf("workers"), template("replica", leaf("driver")))],
            "PodGroup g hangs below 'replica', and its template 'workers' below 'job' in Workload w",
        ),
        (
            [composite("root", **made_from("replica")), gang("g", **below("root", **made_from("workers")))],
            [template("job", template("replica", leaf("workers")))],
            "CompositePodGroup root hangs at the top, and its template 'replica' below 'job' in Workload w",
        ),
        (
            [ROOT, MID, WORKERS],
            [template("job", template("replica", leaf("workers"), mode=SINGLE), mode=ALL)],
            "template 'replica' has disruption mode single below 'job', which has all, in Workload w",
        ),
        (
            [ROOT, MID, WORKERS],
            [template("job", template("replica", leaf("workers", SINGLE)), mode=ALL)],
            "template 'workers' has disruption mode single below 'job', which has all, in Workload w",
        ),
        (
            [ROOT, MID, WORKERS],
            [template("job", template("replica", leaf("workers", ALL), mode=ALL), mode=SINGLE)],
            "",
        ),
    ],
    ids=[
        "alike",
        "no template",
        "other kind",
        "other parent",
        "not at the top",
        "single below all",
        "leaf below all",
        "all below single",
    ],
)
def test_a_tree_and_its_workload(objects, templates, expected):
    assert problem(*objects, workload=workload(*templates)) == expected
    assert problem(*objects, workload=None) == ""


def test_of_a_workload_without_trees_no_tree_is_made():
    made = workload(flat=(leaf("workers"),))
    assert "no composite pod group template" in problem(ROOT, MID, WORKERS, workload=made)


def of_class(name, value):
    return {"priority_class_name": name, "priority": value}


def test_one_class_for_a_tree_by_name_though_the_values_are_equal():
    tree = [composite("root", 1, **of_class("a", 7)), gang("g", **below("root", **of_class("b", 7)))]
    assert problem(*tree) == (
        "all groups of a tree should have the same priority class, "
        "got a (CompositePodGroup root), b (PodGroup g)"
    )
    same = [composite("root", 1, **of_class("a", 7)), gang("g", **below("root", **of_class("a", 7)))]
    assert problem(*same) == ""


def test_groups_made_before_and_after_a_default_class_came_are_alike():
    default = priority_class("usual", 77, global_default=True)
    tree = [composite("root", 1, priority=0), gang("g", **below("root", **of_class("usual", 77)))]
    assert problem(*tree, classes=[default]) == ""
    assert "same priority class" in problem(*tree)


def test_children_of_a_basic_group_may_differ_in_class_those_of_a_gang_may_not():
    """They start one by one; a gang below starts as a whole, and so has one class with all below it."""
    root, low, high = composite("root", **of_class("a", 7)), of_class("low", 1), of_class("high", 9)
    apart = [root, gang("g", **below("root", **low)), composite("mid", 1, **below("root", **high))]
    assert problem(*apart, gang("h", **below("mid", **high))) == ""
    assert problem(*apart, gang("h", **below("mid", **low))) == (
        "all groups of a tree should have the same priority class, "
        "got high (CompositePodGroup mid), low (PodGroup h)"
    )


def with_settings(one, policy=None, mode=None):
    return structs.replace(one, scheduling_policy=policy or one.scheduling_policy, disruption_mode=mode)


BASIC_TREE = CompositePodGroupSchedulingPolicy(basic=BasicGroupSchedulingPolicy())
GANG_OF_TWO = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=2))
BASIC_PODS = PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())


@pytest.mark.parametrize(
    ("root", "part", "expected"),
    [
        ({}, {"policy": GANG_OF_TWO}, ""),
        (
            {"policy": BASIC_TREE},
            {},
            "CompositePodGroup root has scheduling policy gang, and its template 'r' has basic, in Workload w",
        ),
        (
            {},
            {"policy": BASIC_PODS},
            "PodGroup g has scheduling policy gang, and its template 'l' has basic, in Workload w",
        ),
        (
            {},
            {"mode": SINGLE},
            "PodGroup g has disruption mode all, and its template 'l' has single, in Workload w",
        ),
    ],
)
def test_groups_are_what_their_templates_say(root, part, expected):
    objects = (
        composite("root", 1, **made_from("r")),
        gang("g", 1, **below("root", disruption_mode=ALL, **made_from("l"))),
    )
    described = workload(with_settings(template("r", with_settings(leaf("l"), **part)), **root))
    assert problem(*objects, workload=described) == expected
