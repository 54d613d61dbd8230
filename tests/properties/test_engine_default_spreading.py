"""Spreading by Services, vectorised over nodes, against a slow twin that counts pod by pod."""

import math

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.engine.rules.topology_spread import SpreadPreference
from posse.model.meta import ObjectMeta
from posse.model.service import Service, ServiceSpec
from tests.support.builders import NAMESPACE, changed, node, pod
from tests.support.rule_surroundings import Surroundings

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
SKEWS = {HOST: 3, ZONE: 5}
NODES = ["n0", "n1", "n2", "n3"]

zones = st.none() | st.sampled_from(["east", "west"])
descriptions = st.lists(st.tuples(st.booleans(), zones), min_size=1, max_size=len(NODES))
label_sets = st.fixed_dictionaries(
    {}, optional={"app": st.sampled_from(["web", "db"]), "tier": st.sampled_from(["front", "back"])}
)
crowds = st.lists(st.tuples(label_sets, st.sampled_from(NODES), st.booleans()), max_size=12)
selectors = st.lists(label_sets, max_size=3)


def described(descriptions):
    return [
        node(
            name,
            labels=({HOST: name} if has_name else {}) | ({ZONE: zone} if zone else {}),
        )
        for name, (has_name, zone) in zip(NODES, descriptions, strict=False)
    ]


def labelled(name, labels, **spec):
    return changed(pod(name, **spec), metadata={"labels": labels})


def selected(selector, labels):
    return all(labels.get(key) == value for key, value in selector.items())


def shared(labels, selectors):
    """Return the labels by which services select the pod."""
    merged = {}
    for selector in selectors:
        if selected(selector, labels):
            merged |= selector
    return merged


def twin(labels, nodes, crowd, selectors):
    """Return the points of all nodes, None if the pod is not spread."""
    wanted = shared(labels, selectors)
    if not wanted:
        return None
    here = {
        one.metadata.name: sum(
            name == one.metadata.name and not ending and selected(wanted, there)
            for there, name, ending in crowd
        )
        for one in nodes
    }
    raw = []
    for one in nodes:
        total = 0.0
        for key, skew in SKEWS.items():
            if key not in one.metadata.labels:
                continue
            value = one.metadata.labels[key]
            domain = [other for other in nodes if other.metadata.labels.get(key) == value]
            domains = len(nodes) if key == HOST else len({other.metadata.labels.get(key) for other in nodes})
            count = sum(here[other.metadata.name] for other in domain)
            total += count * math.log(domains + 2) + (skew - 1)
        raw.append(math.floor(total + 0.5))
    most, least = max(raw), min(raw)
    return [100 * (most + least - one) // most if most else 100 for one in raw]


@given(labels=label_sets, descriptions=descriptions, crowd=crowds, selectors=selectors)
def test_default_spreading_gives_the_points_of_its_twin(labels, descriptions, crowd, selectors):
    nodes = described(descriptions)
    there = [
        (labelled(f"there-{index}", had, deleted="2026-01-01T00:00:00Z" if ending else ""), name)
        for index, (had, name, ending) in enumerate(crowd)
    ]
    surroundings = Surroundings(nodes, there, profile=DEFAULT_PROFILE)
    for index, selector in enumerate(selectors):
        metadata = ObjectMeta(name=f"s{index}", namespace=NAMESPACE)
        surroundings.see(Service(metadata=metadata, spec=ServiceSpec(selector=selector)))
    made = surroundings.compiled(SpreadPreference(), labelled("new", labels))
    expected = twin(labels, nodes, crowd, selectors)
    if made is None:
        assert expected is None
        return
    points = made.points(surroundings.state.nodes.alive)
    assert points[: len(nodes)].tolist() == expected


@given(
    descriptions=descriptions,
    crowd=crowds,
    history=st.lists(st.tuples(st.booleans(), label_sets), max_size=6),
)
def test_services_may_come_and_go_in_any_order(descriptions, crowd, history):
    """Whatever came before, waiting pods are as those that saw only the services there are in the end."""
    nodes = described(descriptions)
    there = [(labelled(f"there-{index}", had), name) for index, (had, name, _) in enumerate(crowd)]
    waiting = [labelled(f"waits-{index}", had) for index, (had, _, _) in enumerate(crowd)]
    lived = Surroundings([*nodes, *waiting], there, profile=DEFAULT_PROFILE)
    left = {}
    for index, (stays, selector) in enumerate(history):
        name = f"s{index % 2}"
        service = Service(
            metadata=ObjectMeta(name=name, namespace=NAMESPACE),
            spec=ServiceSpec(selector=selector if stays else {}),
        )
        lived.see(service)
        left[name] = service
    fresh = Surroundings(left.values(), profile=DEFAULT_PROFILE)
    for obj in nodes:
        fresh.see(obj)
    for one, name in there:
        fresh.see(changed(one, spec={"node_name": name}))
    for one in waiting:
        fresh.see(one)
    lived.read_outdated()
    assert terms(lived) == terms(fresh)
    assert counts(lived) == counts(fresh)


def waiting_classes(surroundings):
    """Classes of the pods that are not on a node: others are not read again, as nothing is decided about them."""
    pods = surroundings.knowledge.pods
    return {uid: record.pod_class for uid, record in pods.items() if not record.pod.spec.node_name}


def terms(surroundings):
    return {uid: pod_class.terms for uid, pod_class in waiting_classes(surroundings).items()}


def counts(surroundings):
    census = surroundings.state.census
    queries = [query for one in waiting_classes(surroundings).values() for query in one.queries]
    columns = {query: census.column(query) for query in queries}
    return {query: (column.counts[: len(NODES)].tolist(), column.total) for query, column in columns.items()}
