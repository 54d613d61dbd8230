"""What would let a group start: nothing is named that cannot be done, or would not last."""

from posse.cli.explanations import group_lines
from posse.cli.fates import Fates
from posse.engine.decisions import GroupKey
from posse.model.meta import OwnerReference
from posse.solver.advice import in_short
from tests.builders import (
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
from tests.driving import Driver

HEADING = "Each of these would let it start"
HOSTNAME = "kubernetes.io/hostname"


def explained(*objects, name="g1", is_composite=False):
    return Driver(*objects).engine.explain(GroupKey(NAMESPACE, name, is_composite=is_composite))


def ways(*objects, **asked_for):
    told = list(group_lines(explained(*objects, **asked_for), Fates(), "5m"))
    return [line.strip() for line in told[told.index(HEADING) + 1 :]]


def hosts(*names, key=HOSTNAME):
    return [node(name, cpu="4", labels={key: f"{name}.local" if key == HOSTNAME else name}) for name in names]


def on_one_host(minimum, key=HOSTNAME):
    return [gang(minimum=minimum, **one_domain(key)), *pods(minimum, cpu="1", group="g1")]


def test_no_further_node_helps_a_group_that_is_larger_than_a_host():
    assert ways(*hosts("n1", "n2"), *on_one_host(5)) == [
        "a minCount of 4 instead of 5",
        "making it anew without its topology key",
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
    impasse = explained(
        node("n1", cpu="3"), composite("root", 2), *groups, *members, name="root", is_composite=True
    ).impasse
    assert "a minCount of 1 instead of 2 of v" in in_short(impasse)
    assert "anew" not in in_short(impasse)
