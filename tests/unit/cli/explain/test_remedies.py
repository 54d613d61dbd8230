"""What would let a group start: nothing is named that cannot be done, or would not last."""

from posse.cli.explain.text import group_lines
from posse.cli.reading.ended_members import Fates
from posse.engine.groups.forms import MIN_RESOURCES_ANNOTATION
from posse.engine.keys import GroupKey
from posse.engine.placement_problem import Advice
from posse.engine.reporting.remedy_messages import advice_text
from posse.model.container import Container, ContainerPort
from posse.model.meta import OwnerReference
from posse.solver.remedies import remedies
from tests.support.builders import (
    NAMESPACE,
    changed,
    composite,
    gang,
    in_rack,
    node,
    one_domain,
    pod,
    pods,
)
from tests.support.engine_driver import Driver

HEADING = "Each of these would let it start"
HOSTNAME = "kubernetes.io/hostname"


def explained(*objects, name="g1", is_composite=False):
    return Driver(*objects).engine.explain(GroupKey(NAMESPACE, name, is_composite=is_composite))


def ways(*objects, heading=HEADING, **asked_for):
    told = list(group_lines(explained(*objects, **asked_for), Fates(), "5m"))
    return [line.strip() for line in told[told.index(heading) + 1 :]]


def hosts(*names, key=HOSTNAME):
    return [node(name, cpu="4", labels={key: f"{name}.local" if key == HOSTNAME else name}) for name in names]


def on_one_host(minimum, key=HOSTNAME):
    return [gang(minimum=minimum, **one_domain(key)), *pods(minimum, cpu="1", group="g1")]


def test_no_further_node_helps_a_group_that_is_larger_than_a_host():
    assert ways(*hosts("n1", "n2"), *on_one_host(5)) == [
        "a minCount of 4 instead of 5",
        "recreating it without the topology constraint",
    ]


def test_a_further_node_is_a_host_of_its_own():
    fillers = [pod(f"old-{name}", cpu="1", on=name) for name in ("n1", "n2")]
    assert ways(*hosts("n1", "n2"), *fillers, *on_one_host(4))[0] == "1 more node like n1"


def test_any_label_that_names_nodes_is_as_good_as_their_host_names():
    fillers = [pod(f"old-{name}", cpu="1", on=name) for name in ("n1", "n2")]
    cluster = hosts("n1", "n2", key="example.com/node")
    assert ways(*cluster, *fillers, *on_one_host(4, "example.com/node"))[0] == "1 more node like n1"
    assert not any("more node" in way for way in ways(*cluster, *on_one_host(5, "example.com/node")))


def test_a_rack_of_one_node_can_get_another():
    racks = [*in_rack("r1", "n1", cpu="4"), *in_rack("r2", "n2", cpu="4")]
    assert ways(*racks, *on_one_host(5, "rack"))[0] == "1 more node like n1 in rack r1"


def owned(kind, name):
    owner = OwnerReference(kind=kind, name="agent", uid="owner", controller=True)
    return changed(pod(name, cpu="2", on="n1"), metadata={"owner_references": (owner,)})


def test_nobody_is_told_to_evict_what_comes_back_at_once():
    running = [owned("DaemonSet", "agent"), owned("Node", "mirror")]
    assert ways(node("n1", cpu="4"), *running, gang(minimum=1), pod("a", cpu="2", group="g1")) == [
        "1 more node like n1"
    ]
    replaced = owned("ReplicaSet", "web")
    assert "evicting pod test/web" in ways(
        node("n1", cpu="4"), running[0], replaced, gang(minimum=1), pod("a", cpu="2", group="g1")
    )


def test_what_can_be_changed_in_place_comes_before_what_must_be_made_anew():
    """Two groups of two, of which three pods fit."""
    groups = [gang(name, 2, parent_composite_pod_group_name="root") for name in ("v", "w")]
    members = [pod(f"{name}{i}", cpu="1", group=name) for name in ("v", "w") for i in range(2)]
    remedy_problem = explained(
        node("n1", cpu="3"), composite("root", 2), *groups, *members, name="root", is_composite=True
    ).remedy_problem
    text = advice_text(Advice(remedies(remedy_problem), remedy_problem.demands, has_topology=False))
    assert "a minCount of 1 instead of 2 of v" in text
    assert "recreating" not in text


UNKNOWN = "What would let it start"


def test_that_nothing_was_found_is_said_with_what_was_looked_at():
    """One member holds the group to its host, where there is too little; the other host is not to be emptied."""
    running = pod("a", cpu="1", group="g1", on="n1")
    system = pod("system", cpu="4", on="n2", priority=2_000_000_000)
    group = gang(minimum=2, **one_domain(HOSTNAME))
    assert ways(
        *hosts("n1", "n2"), running, system, group, pod("b", cpu="4", group="g1"), heading=UNKNOWN
    ) == [
        (
            "No change was found that would let it start, among more nodes like those there are, "
            "evicting pods or groups, a smaller minimum and no topology key."
        )
    ]


def test_a_resource_that_no_node_has_cannot_be_had_by_more_of_them():
    pods_with_cards = pods(2, group="g1", requests={"example.com/card": "1"})
    assert ways(*hosts("n1"), gang(minimum=2), *pods_with_cards, heading=UNKNOWN) == [
        "No node has example.com/card, of which one of its pods needs 1. Add nodes that have it."
    ]


def test_a_pod_larger_than_any_node_needs_a_lower_request_or_larger_nodes():
    """What runs on nodes that are too small even when empty is not in its way."""
    objects = (
        *hosts("n1", "n2"),
        pod("other", cpu="2", on="n1"),
        gang(minimum=2),
        *pods(2, cpu="9", group="g1"),
    )
    size = "No node is large enough for one of its pods: it needs 9 of cpu, and the largest node has 4."
    assert ways(*objects, heading=UNKNOWN) == [f"{size} Lower the request, or add larger nodes."]
    told = list(group_lines(explained(*objects), Fates(), "5m"))
    assert f"  {size}" in told
    assert not any("larger than the cluster" in line or line.startswith("Users of") for line in told)


def test_a_group_with_a_spare_pod_that_is_too_large_is_not_told_of_it():
    objects = *hosts("n1"), gang(minimum=2), pod("huge", cpu="9", group="g1"), *pods(2, cpu="3", group="g1")
    assert any("larger than the cluster" in line for line in group_lines(explained(*objects), Fates(), "5m"))


def test_a_rule_that_is_not_taken_into_account_is_named():
    listening = [
        changed(one, spec={"containers": (Container(ports=(ContainerPort(host_port=80),)),)})
        for one in pods(3, group="g1")
    ]
    assert ways(*hosts("n1", "n2"), gang(minimum=3), *listening, heading=UNKNOWN) == [
        "No advice on what would let it start: it cannot be calculated for NodePorts of its pods."
    ]


def test_a_group_that_comes_to_a_tree_that_runs_has_its_own_ways_out_beside_the_others():
    """The tree is in block a, which is full; that block b is empty is no help."""
    racks = [
        node(f"{block}{number}", cpu="4", labels={"block": block, "rack": f"{block}-{number}"})
        for block in "ab"
        for number in range(2)
    ]
    groups = [
        gang(name, 4, parent_composite_pod_group_name="root", **one_domain()) for name in ("v", "w", "x")
    ]
    running = [
        pod(f"{name}{i}", cpu="1", group=name, on=on)
        for name, on in (("v", "a0"), ("w", "a1"))
        for i in range(4)
    ]
    coming = [pod(f"x{i}", cpu="1", group="x") for i in range(4)]
    objects = *racks, composite("root", 1, **one_domain("block")), *groups, *running, *coming
    told = ways(*objects, name="x")
    assert told[:2] == [
        "1 more node like a0 in block a and rack a-0",
        "1 more node like a1 in block a and rack a-1",
    ]
    assert not any("block b" in way for way in told)


def test_of_a_tree_of_which_one_group_runs_the_minimums_of_the_others_are_looked_at():
    """Two of its three groups must start beside the one that runs, and there is room for three of their pods."""
    below = {"parent_composite_pod_group_name": "root"}
    running = [gang("a", 2, **below), *(pod(f"a{index}", cpu="1", group="a", on="n1") for index in range(2))]
    waiting = [gang(name, 2, **below) for name in "bc"]
    members = [pod(f"{name}{index}", cpu="1", group=name) for name in "bc" for index in range(2)]
    tree = [composite("root", 3), *running, *waiting, *members]
    assert ways(node("n1", cpu="5"), *tree, name="root", is_composite=True) == [
        "1 more node like n1",
        "a minCount of 1 instead of 2 of b",
        "a minCount of 1 instead of 2 of c",
        "recreating root with a minGroupCount of 2 instead of 3",
    ]


def test_of_a_group_that_runs_it_is_more_of_its_pods_that_would_start():
    running = pod("a", cpu="4", group="g1", on="n1")
    objects = *hosts("n1"), running, gang(minimum=1), pod("b", cpu="4", group="g1")
    assert ways(*objects, heading="Each of these would let more of its pods start") == ["1 more node like n1"]


def test_nodes_that_bring_the_minimum_resources_let_a_leader_start():
    """A leader whose workers come later: its pod fits, and what they will need is not free."""
    asking = {"metadata": {"annotations": {MIN_RESOURCES_ANNOTATION: '{"cpu": "9"}'}}}
    leader = pod("leader", cpu="2", group="g1")
    assert ways(*hosts("n1"), changed(gang(minimum=1), **asking), leader) == ["2 more nodes like n1"]
    other = pod("other", cpu="4", on="n1")
    objects = *hosts("n1", "n2", "n3"), other, changed(gang(minimum=1), **asking), leader
    assert ways(*objects) == ["1 more node like n1", "evicting pod test/other"]
