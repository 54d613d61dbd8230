"""Small clusters for property tests. Values come from short lists, so that pods and nodes meet often."""

from hypothesis import strategies as st

from posse.model.container import ResourceRequirements
from posse.model.placement import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
)
from tests.support.builders import container, node, pod, requirement, taint, toleration

GPU = "example.com/gpu"
NODE_NAMES = ["n0", "n1", "n2", "n3", "n4"]
LABELS = {
    "zone": ["east", "west", ""],
    "size": ["1", "9", "10", "-3", "x", "1_0", "99999999999999999999"],
}
TAINTS = [
    taint("gpu", "NoSchedule", "a100"),
    taint("gpu", "NoExecute"),
    taint("disk", "PreferNoSchedule"),
    taint("node.kubernetes.io/unschedulable", "NoSchedule"),
]

keys = st.sampled_from([*LABELS, "rack"])
values = st.sampled_from([*LABELS["zone"], *LABELS["size"]])
label_sets = st.fixed_dictionaries({}, optional={key: st.sampled_from(LABELS[key]) for key in LABELS})
taint_sets = st.lists(st.sampled_from(TAINTS), max_size=2, unique=True)


def nodes(name, *, plain=False):
    """Any node of that name; plain ones differ in size only."""
    return st.builds(
        node,
        st.just(name),
        cpu=st.sampled_from(["0", "500m", "1", "2", "4", None]),
        memory=st.sampled_from(["0", "300Mi", "1Gi", "4Gi", None]),
        pods=st.sampled_from(["0", "1", "3", "110"]),
        labels=st.just({}) if plain else label_sets,
        taints=st.just(()) if plain else taint_sets,
        unschedulable=st.just(False) if plain else st.booleans(),
        **{GPU: st.sampled_from([None, "1", "2"])},
    )


def clusters(*, plain=False, least=0, most=4):
    return st.integers(least, most).flatmap(
        lambda count: st.tuples(*(nodes(name, plain=plain) for name in NODE_NAMES[:count])).map(list)
    )


cpus = st.sampled_from([None, "0", "1m", "100m", "500m", "1", "3"])
memories = st.sampled_from([None, "0", "1", "100Mi", "1Gi", "1500M"])
gpus = st.sampled_from([None, None, None, "1"])


def containers(**fixed):
    return st.builds(container, cpus, memories, **{GPU: gpus}, **fixed)


init_containers = st.lists(st.booleans().flatmap(lambda s: containers(sidecar=st.just(s))), max_size=3)
quantities = st.fixed_dictionaries({}, optional={"cpu": cpus.filter(bool), "memory": memories.filter(bool)})
whole_pod_requests = st.none() | st.builds(ResourceRequirements, requests=quantities)

tolerations = st.one_of(
    st.builds(toleration, st.sampled_from(["", "gpu", "disk", "node.kubernetes.io/unschedulable"])),
    st.builds(
        toleration,
        st.sampled_from(["gpu", "disk"]),
        st.sampled_from(["Equal", "", "Exists"]),
        st.sampled_from(["", "a100"]),
        st.sampled_from(["", "NoSchedule", "NoExecute"]),
    ),
)
requirements = st.one_of(
    st.builds(requirement, keys, st.sampled_from(["In", "NotIn"]), values),
    st.builds(requirement, keys, st.sampled_from(["In", "NotIn"]), values, values),
    st.builds(requirement, keys, st.sampled_from(["Exists", "DoesNotExist"])),
    st.builds(requirement, keys, st.sampled_from(["Gt", "Lt"]), values),
)
field_requirements = st.builds(
    requirement,
    st.just("metadata.name"),
    st.sampled_from(["In", "NotIn"]),
    st.sampled_from([*NODE_NAMES, "gone"]),
)
terms = st.builds(
    NodeSelectorTerm,
    match_expressions=st.lists(requirements, max_size=2).map(tuple),
    match_fields=st.lists(field_requirements, max_size=2).map(tuple),
)
affinities = st.none() | st.lists(terms, max_size=2).map(
    lambda drawn: Affinity(
        node_affinity=NodeAffinity(
            required_during_scheduling_ignored_during_execution=NodeSelector(node_selector_terms=tuple(drawn))
        )
    )
)


def pods(name="p"):
    """Any pod a rule could have something to say about."""
    return st.builds(
        pod,
        st.just(name),
        containers=st.lists(containers(), min_size=1, max_size=2).map(tuple),
        init_containers=init_containers.map(tuple),
        overhead=quantities,
        resources=whole_pod_requests,
        tolerations=st.lists(tolerations, max_size=2).map(tuple),
        node_selector=st.dictionaries(keys, values, max_size=1),
        affinity=affinities,
    )


def sized_pods(name="p"):
    """Pods that differ in size only."""
    return st.builds(
        pod,
        st.just(name),
        cpu=st.sampled_from(["100m", "300m", "500m", "1"]),
        memory=st.sampled_from(["0", "100Mi", "1Gi"]),
        requests=st.fixed_dictionaries({GPU: st.sampled_from([None, None, "1"])}),
    )


def neighbours():
    """Pods that are on nodes already, as (pod, name of the node); they may overfill it."""
    return st.lists(st.tuples(st.one_of(sized_pods(), pods()), st.sampled_from(NODE_NAMES)), max_size=6).map(
        lambda drawn: [
            (pod_named(one, f"neighbour-{index}"), name) for index, (one, name) in enumerate(drawn)
        ]
    )


def pod_named(one, name):
    """Return the same pod under another name and uid."""
    metadata = pod(name).metadata
    return type(one)(metadata=metadata, spec=one.spec, status=one.status)
