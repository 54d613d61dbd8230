"""Each advice is true: when it is followed, the group starts, after the evictions that this entails."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.groups.forms import MIN_RESOURCES_ANNOTATION
from posse.engine.keys import GroupKey
from posse.engine.placement_problem import RemedyProblem
from posse.model.pod import Pod
from posse.model.workload import AllDisruptionMode, DisruptionMode
from posse.solver.remedies import remedies
from tests.support.builders import NAMESPACE, changed, composite, gang, node, one_domain, pod
from tests.support.device_objects import device_class, exact, pod_with_own, resource_slice
from tests.support.effort import PROFILE, up_to
from tests.support.engine_driver import Driver
from tests.support.followed_advice import HOSTNAME, followed, starts

KEYS = [None, None, "rack", HOSTNAME]

node_shapes = st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from(["r0", "r1", ""]), st.booleans())
occupants = st.tuples(
    st.integers(0, 3), st.integers(1, 2), st.sampled_from([0, 1, 2]), st.sampled_from(["", "old"])
)
members = st.lists(st.sampled_from([1, 1, 2, 3]), min_size=1, max_size=5)


def nodes_of(shapes):
    return [
        node(
            f"n{number}",
            cpu=str(cpu),
            labels={HOSTNAME: f"n{number}", **({"rack": rack} if rack else {})},
            unschedulable=is_closed and number > 0,
        )
        for number, (cpu, rack, is_closed) in enumerate(shapes)
    ]


def running(nodes, wanted):
    """Pods on nodes that have room for them, some in a gang that is evicted as a whole."""
    free = [int(one.status.allocatable["cpu"]) for one in nodes]
    mode = DisruptionMode(all=AllDisruptionMode())
    made = [gang("old", 1, priority=1, disruption_mode=mode)]
    for number, (where, cpu, priority, group) in enumerate(wanted):
        row = where % len(nodes)
        if free[row] >= cpu:
            free[row] -= cpu
            own = 1 if group else priority
            made.append(
                pod(f"o{number}", cpu=str(cpu), on=f"n{row}", priority=own, group=group, phase="Running")
            )
    return made


@st.composite
def clusters(draw):
    nodes = nodes_of(draw(st.lists(node_shapes, min_size=1, max_size=4)))
    return nodes + running(nodes, draw(st.lists(occupants, max_size=6)))


@st.composite
def gangs(draw, name="g1", **spec):
    sizes, key = draw(members), draw(st.sampled_from(KEYS))
    minimum, priority = draw(st.integers(1, len(sizes))), spec.pop("priority", draw(st.sampled_from([0, 2])))
    group = gang(name, minimum, priority=priority, **spec, **(one_domain(key) if key else {}))
    total = draw(st.sampled_from([0, 0, 0, 4, 9]))
    if total and not spec:
        group = changed(group, metadata={"annotations": {MIN_RESOURCES_ANNOTATION: f'{{"cpu": "{total}"}}'}})
    pods = [pod(f"{name}-{i}", cpu=str(size), group=name, priority=priority) for i, size in enumerate(sizes)]
    return [group, *pods]


@st.composite
def trees(draw):
    priority, key = draw(st.sampled_from([0, 2])), draw(st.sampled_from([None, "rack"]))
    below = {"priority": priority, "parent_composite_pod_group_name": "root"}
    children = [one for name in ("v", "w") for one in draw(gangs(name, **below))]
    minimum = draw(st.integers(1, 2))
    return [composite("root", minimum, priority=priority, **(one_domain(key) if key else {})), *children]


@st.composite
def device_clusters(draw):
    """Nodes with devices, and a gang whose pods have claims of their own."""
    counts = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    made = [device_class()]
    for number, devices in enumerate(counts):
        made.append(node(f"n{number}", labels={HOSTNAME: f"n{number}"}))
        made += [resource_slice(f"n{number}", devices)] if devices else []
    wanted = draw(st.lists(st.sampled_from([1, 1, 2]), min_size=1, max_size=5))
    made.append(gang("g1", draw(st.integers(1, len(wanted)))))
    for number, asked in enumerate(wanted):
        member, claims = pod_with_own(f"g1-{number}", (exact("req", asked),), cpu="1", group="g1")
        made += [*claims, member]
    return made


def every_advice_holds(objects, key):
    problem = Driver(*objects).engine.explain(key).remedy_problem
    found = remedies(problem) if isinstance(problem, RemedyProblem) else None
    members = {one.metadata.uid for one in objects if isinstance(one, Pod) and not one.spec.node_name}
    for remedy in [one for kind in found.kinds for one in kind] if found is not None else ():
        changed_cluster = followed(remedy, problem.demands, objects)
        assert starts(changed_cluster, members), msgspec.json.encode(
            [str(remedy), [str(one) for one in problem.demands]]
        ).decode()


@settings(max_examples=1000 if PROFILE == "explore" else up_to(100))
@given(clusters(), gangs())
def test_a_gang_starts_when_any_advice_is_followed(cluster, group):
    every_advice_holds([*cluster, *group], GroupKey(NAMESPACE, "g1"))


@settings(max_examples=1000 if PROFILE == "explore" else up_to(100))
@given(clusters(), trees())
def test_a_tree_starts_when_any_advice_is_followed(cluster, tree):
    every_advice_holds([*cluster, *tree], GroupKey(NAMESPACE, "root", is_composite=True))


@settings(max_examples=1000 if PROFILE == "explore" else up_to(100))
@given(device_clusters())
def test_a_gang_with_devices_starts_when_any_advice_is_followed(objects):
    every_advice_holds(objects, GroupKey(NAMESPACE, "g1"))
