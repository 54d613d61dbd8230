"""What is said of trees that are not all there, contradict themselves, were evicted or have finished."""

import pytest

from posse.cli.explain.group_words import cause, shown_state
from posse.cli.explain.run import said_already
from posse.cli.explain.text import group_lines
from posse.cli.reading.ended_members import Fates
from posse.engine.groups.forms import DISRUPTION_TARGET
from posse.engine.keys import GroupKey
from posse.model.meta import Condition
from tests.support.builders import (
    NAMESPACE,
    basic_group,
    changed,
    composite,
    gang,
    initially_scheduled,
    node,
    one_domain,
    pod,
)
from tests.support.engine_driver import Driver

NOBODY = Fates()
STARTED = [initially_scheduled("True", "Scheduled")]
TREE_STARTED = [changed(initially_scheduled("True", "Scheduled"), type="CompositePodGroupInitiallyScheduled")]


def child(name="g1", minimum=1, parent="root", **spec):
    return gang(name, minimum, parent_composite_pod_group_name=parent, **spec)


def inner(name, parent, **spec):
    return composite(name, parent_composite_pod_group_name=parent, **spec)


def states(*objects):
    situations = Driver(*objects).engine.situations()
    return {now.key.name: (shown_state(now, NOBODY), cause(now, NOBODY)) for now in situations}


def explained(name, *objects):
    key = GroupKey(NAMESPACE, name, is_composite=True)
    return list(group_lines(Driver(*objects).engine.explain(key), NOBODY, "5m"))


def test_a_group_of_groups_whose_parent_is_missing_can_be_explained():
    told = explained("mid", inner("mid", "top"), child(parent="mid"), pod("a", group="g1"))
    assert told[0] == (
        "CompositePodGroup test/mid cannot be tried: CompositePodGroup top does not exist yet. "
        "It is named by 1 pod."
    )
    assert [line.split()[0] for line in told[told.index("Its tree") + 1 :]] == ["mid", "g1"]


@pytest.mark.parametrize("name", ["a", "b"])
def test_groups_that_are_each_others_ancestors_can_be_explained(name):
    told = explained(name, inner("a", "b"), inner("b", "a"), child(parent="a"))
    assert told[0] == (
        f"CompositePodGroup test/{name} cannot start as it is: "
        "composite pod groups are each other's ancestors: a > b > a."
    )


def test_a_group_of_groups_without_groups_is_in_the_list():
    assert states(inner("a", "a")) == {
        "a": ("Invalid", "composite pod groups are each other's ancestors: a > a")
    }
    assert states(composite("root"))["root"][0] == "WaitingForPods"


def test_every_group_of_a_tree_that_is_too_deep_is_in_the_list():
    chain = [inner(f"l{number}", f"l{number - 1}") for number in range(1, 8)]
    found = states(composite("l0"), *chain, child(parent="l7"))
    assert set(found) == {*(f"l{number}" for number in range(8)), "g1"}
    assert {state for state, _ in found.values()} == {"Invalid"}


def test_a_tree_whose_pods_are_all_gone_has_nothing_that_waits():
    tree = [composite("root", 1, conditions=TREE_STARTED), child(conditions=STARTED)]
    assert set(states(*tree).values()) == {("Finished", "none of its pods is left")}


def test_a_tree_whose_pods_were_evicted_waits():
    evicted = Condition(type=DISRUPTION_TARGET, status="True", reason="PreemptionByScheduler")
    tree = [
        composite("root", 1, conditions=[*TREE_STARTED, evicted]),
        child(conditions=[*STARTED, evicted]),
    ]
    assert {state for state, _ in states(*tree).values()} == {"WaitingForPods"}


def test_a_tree_that_is_invalid_and_does_not_run_is_so_though_it_ran_before():
    tree = [
        composite("root", 1, conditions=TREE_STARTED, priority=3),
        child(conditions=STARTED),
        pod("a", group="g1"),
    ]
    assert {state for state, _ in states(*tree).values()} == {"Invalid"}


def test_a_tree_that_is_invalid_and_runs_is_not_said_not_to():
    running = pod("a", group="g1", on="n1")
    tree = [composite("root", 1, conditions=TREE_STARTED, priority=3), child(conditions=STARTED), running]
    assert {state for state, _ in states(node(), *tree).values()} == {"Scheduled"}


def test_a_basic_group_without_pods_is_not_below_a_minimum():
    found = states(basic_group(conditions=STARTED))
    assert found == {"g1": ("Finished", "none of its pods is left")}


def test_pods_that_come_to_a_tree_that_runs_and_find_no_place_have_proof_of_it():
    tree = [composite("root", 1), child(), pod("a", cpu="1", group="g1", on="n1")]
    told = explained("root", node(cpu="1"), *tree, pod("b", cpu="1", group="g1"))
    assert "  Proven: it cannot fit in the currently free capacity." in told


def leaf_told(name, *objects):
    return list(group_lines(Driver(*objects).engine.explain(GroupKey(NAMESPACE, name)), NOBODY, "5m"))


REFUSED = (
    node(cpu="3"),
    composite("root", 2),
    child("a", 2),
    child("b", 2),
    *(pod(f"{group}{i}", cpu="1", group=group) for group in "ab" for i in range(2)),
)


def test_a_group_that_waits_for_its_tree_names_the_tree_and_points_to_what_would_help_that():
    told = leaf_told("a", *REFUSED)
    assert "composite pod group root: only 1 of the 2 groups" in told[0]
    heading = told.index("What would let its tree start")
    assert told[heading + 1] == "  posse explain compositepodgroup.scheduling.k8s.io/root -n test"


def test_a_group_with_all_its_pods_says_that_others_are_missing():
    told = leaf_told("a", composite("root", 2), child("a", 1), child("b", 2), pod("a0", group="a"))
    assert told[0] == (
        "PodGroup test/a waits for pods: its own are all there, but of composite pod group root "
        "1 of the 2 groups it needs have the pods they need; not b."
    )
    other = leaf_told("b", composite("root", 2), child("a", 1), child("b", 2), pod("b0", group="b"))
    assert other[0] == "PodGroup test/b waits for pods: 1 of the 2 pods it needs exist."


def test_a_tree_that_fits_but_not_in_one_domain_says_what_is_in_its_way():
    racks = [node(f"n{i}", cpu="2", labels={"rack": f"r{i}"}) for i in range(2)]
    groups = [child("a", 2), child("b", 2)]
    members = [pod(f"{group}{i}", cpu="1", group=group) for group in "ab" for i in range(2)]
    told = explained("root", *racks, composite("root", 2, **one_domain()), *groups, *members)
    heading = told.index("What is in its way")
    assert told[heading + 1 : heading + 3] == [
        "  all of its pods would fit in the whole cluster, but not in one domain of its topology key",
        "  Proven: it cannot fit in the currently free capacity.",
    ]


def test_the_picture_tells_what_is_missing():
    told = explained("root", composite("root", 2), child("a", 4))
    words = [" ".join(line.split()) for line in told]
    assert "root 2 groups together, 1 there 0 started WaitingForPods" in words
    assert "a 4 pods together, none there 0 on nodes WaitingForPods" in words


def test_what_has_been_said_above_is_as_much_of_the_message_as_really_was():
    message = ["none fits: no cpu", "1 more of its groups do not fit either", "Proven: it cannot fit"]
    assert said_already(message, "g waits: none fits: no cpu.\n  Proven: it cannot fit.") == message[0]
    assert said_already([message[0], message[2]], "none fits: no cpu.\nProven: it cannot fit; proven.") == (
        "none fits: no cpu. Proven: it cannot fit"
    )
