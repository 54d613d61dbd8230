"""Small clusters whose pods have to do with each other: labels, namespaces, ports, spreading, affinity, images."""

from hypothesis import strategies as st

from posse.model.container import ContainerPort
from posse.model.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from posse.model.namespace import Namespace
from posse.model.node import ContainerImage
from posse.model.placement import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from tests.differential.strategies import NODE_NAMES, TAINTS, terms, tolerations
from tests.support.builders import CREATED, changed, container, node, pod

HOSTNAME = "kubernetes.io/hostname"
NAMESPACES = {"test": {"team": "red"}, "other": {"team": "blue"}, "bare": {}}
IMAGES = {"web:1": 300 * 2**20, "db:latest": 900 * 2**20, "tools:2": 30 * 2**20}

seldom = st.integers(0, 4).map(lambda drawn: drawn == 0)
topology_keys = st.sampled_from(["zone", HOSTNAME, "zone", "rack"])
pod_labels = st.fixed_dictionaries(
    {}, optional={"app": st.sampled_from(["web", "db"]), "tier": st.sampled_from(["front", "back"])}
)
label_requirements = st.one_of(
    st.builds(
        LabelSelectorRequirement,
        key=st.sampled_from(["app", "tier"]),
        operator=st.sampled_from(["In", "NotIn"]),
        values=st.sampled_from([("web",), ("db", "front"), ("back",)]),
    ),
    st.builds(
        LabelSelectorRequirement,
        key=st.sampled_from(["app", "tier"]),
        operator=st.sampled_from(["Exists", "DoesNotExist"]),
    ),
)
selectors = st.sampled_from([None, LabelSelector()]) | st.builds(
    LabelSelector,
    match_labels=pod_labels,
    match_expressions=st.lists(label_requirements, max_size=1).map(tuple),
)
namespace_selectors = st.sampled_from([None, LabelSelector()]) | st.builds(
    LabelSelector, match_labels=st.fixed_dictionaries({}, optional={"team": st.sampled_from(["red", "blue"])})
)
affinity_terms = st.builds(
    PodAffinityTerm,
    label_selector=selectors,
    topology_key=topology_keys,
    namespaces=st.lists(st.sampled_from(list(NAMESPACES)), max_size=1).map(tuple),
    namespace_selector=namespace_selectors,
)
weighted_terms = st.builds(
    WeightedPodAffinityTerm, weight=st.integers(1, 100), pod_affinity_term=affinity_terms
)


def _some(strategy, most=2):
    return st.lists(strategy, max_size=most).map(tuple)


def pod_affinities(kind):
    return st.none() | st.builds(
        kind,
        required_during_scheduling_ignored_during_execution=_some(affinity_terms),
        preferred_during_scheduling_ignored_during_execution=_some(weighted_terms),
    )


required_of_nodes = st.lists(terms, min_size=1, max_size=2).map(
    lambda drawn: NodeSelector(node_selector_terms=tuple(drawn))
)
node_wishes = st.builds(
    NodeAffinity,
    required_during_scheduling_ignored_during_execution=st.none() | st.none() | required_of_nodes,
    preferred_during_scheduling_ignored_during_execution=_some(
        st.builds(PreferredSchedulingTerm, weight=st.integers(1, 100), preference=terms)
    ),
)
affinities = st.builds(
    Affinity,
    node_affinity=st.none() | node_wishes,
    pod_affinity=pod_affinities(PodAffinity),
    pod_anti_affinity=pod_affinities(PodAntiAffinity),
)


def spread_constraints(otherwise):
    hard = otherwise == "DoNotSchedule"
    return st.builds(
        TopologySpreadConstraint,
        max_skew=st.integers(1, 3),
        topology_key=topology_keys,
        when_unsatisfiable=st.just(otherwise),
        label_selector=selectors,
        min_domains=st.sampled_from([None, 1, 2, 3]) if hard else st.none(),
        node_affinity_policy=st.sampled_from([None, "Honor", "Ignore"]),
        node_taints_policy=st.sampled_from([None, "Honor", "Ignore"]),
        match_label_keys=st.sampled_from([(), (), ("tier",)]),
    )


spreads = _some(st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]).flatmap(spread_constraints))
ports = st.builds(
    ContainerPort,
    host_port=st.sampled_from([0, 80, 80, 443]),
    host_ip=st.sampled_from(["", "", "0.0.0.0", "10.0.0.1", "10.0.0.2"]),
    protocol=st.sampled_from(["", "TCP", "UDP"]),
)


def _container(cpu, memory, made_ports, image, sidecar):
    return changed(container(cpu, memory, sidecar=sidecar), ports=made_ports, image=image)


containers = st.builds(
    _container,
    st.sampled_from([None, "100m", "1"]),
    st.sampled_from([None, "100Mi", "1Gi"]),
    _some(ports),
    st.sampled_from(["web:1", "db", "registry:5000/db", "unknown:3"]),
    st.booleans(),
)


@st.composite
def sociable_pods(draw, name="newcomer"):
    """Any pod that has something to say about other pods, or others about it."""
    made = draw(
        st.builds(
            pod,
            st.just(name),
            containers=st.lists(containers, min_size=1, max_size=2).map(tuple),
            init_containers=_some(containers, most=1),
            affinity=st.none() | affinities,
            topology_spread_constraints=spreads,
            tolerations=_some(tolerations, most=1),
        )
    )
    metadata = {"labels": draw(pod_labels), "namespace": draw(st.sampled_from(list(NAMESPACES)))}
    return changed(made, metadata=metadata)


@st.composite
def placed_nodes(draw, name):
    labels = {HOSTNAME: name} if not draw(seldom) else {}
    labels |= draw(st.fixed_dictionaries({}, optional={"zone": st.sampled_from(["east", "west"])}))
    labels |= {"rack": "r1"} if draw(seldom) else {}
    made = node(
        name,
        cpu=draw(st.sampled_from(["1", "2", "4"])),
        memory=draw(st.sampled_from(["1Gi", "4Gi"])),
        labels=labels,
        taints=draw(st.lists(st.sampled_from([TAINTS[0], TAINTS[2]]), max_size=1)),
        unschedulable=draw(seldom) and draw(st.booleans()),
    )
    images = draw(st.lists(st.sampled_from(list(IMAGES)), unique=True, max_size=3))
    held = tuple(ContainerImage(names=(image,), size_bytes=IMAGES[image]) for image in images)
    return changed(made, status={"images": held})


@st.composite
def worlds(draw, least=1):
    """Nodes in order, each with the pods on it, some of which are ending."""
    count = draw(st.integers(least, 4))
    world = []
    for index in range(count):
        there = draw(st.lists(sociable_pods(), max_size=3))
        world.append((draw(placed_nodes(NODE_NAMES[index])), []))
        for ordinal, one in enumerate(there):
            ending = draw(seldom)
            name = f"there-{index}-{ordinal}"
            metadata = {"name": name, "uid": name, "deletion_timestamp": CREATED if ending else ""}
            world[-1][1].append(changed(one, metadata=metadata, spec={"node_name": NODE_NAMES[index]}))
    return world


def namespace_objects():
    return [Namespace(metadata=ObjectMeta(name=name, labels=labels)) for name, labels in NAMESPACES.items()]


def objects_of(world):
    """Return everything there is, in an order in which a watch could tell it."""
    return [*namespace_objects(), *(made for made, _ in world), *(one for _, there in world for one in there)]
