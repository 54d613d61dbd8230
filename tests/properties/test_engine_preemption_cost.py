"""What room for a group costs: never more than by the documents' algorithm, anywhere or in the best of several racks."""

from hypothesis import event, given
from hypothesis import strategies as st

from posse.model.node import Node
from tests.differential.documented_preemption import compared
from tests.differential.strategies_preemption import NODES, clusters, objects_of
from tests.support.builders import changed, gang, node, one_domain, pod
from tests.support.engine_driver import Driver

PREEMPTOR = 5
RACKS = 16

sizes_of_members = st.lists(st.integers(1, 3), min_size=1, max_size=5)
racks = st.lists(st.sampled_from(["r1", "r2", "r3"]), min_size=NODES, max_size=NODES)
running_in_racks = st.lists(
    st.lists(st.tuples(st.integers(1, 2), st.sampled_from([-1, 0, 0, 3])), max_size=4),
    min_size=RACKS,
    max_size=RACKS,
)
"""Size and priority of pods, rack by rack."""


def waiting(sizes):
    return [pod(f"w{i}", cpu=str(s), group="urgent", priority=PREEMPTOR) for i, s in enumerate(sizes)]


def costs_of(*objects):
    """Decide, and return what it costs by Posse's search and by the documents'."""
    driver = Driver(*objects)
    with compared() as costs:
        driver.decide()
    return costs


def never_dearer(costs):
    for ours, documented in costs:
        event("cheaper than by the documents" if ours < documented else "as by the documents")
        assert ours <= documented


@given(clusters, sizes_of_members)
def test_room_never_costs_more_than_by_the_documents(cluster, sizes):
    urgent = gang("urgent", minimum=len(sizes), priority=PREEMPTOR)
    never_dearer(costs_of(*objects_of(cluster), urgent, *waiting(sizes)))


@given(clusters, racks, sizes_of_members)
def test_nor_does_it_in_one_rack(cluster, places, sizes):
    urgent = gang("urgent", minimum=len(sizes), priority=PREEMPTOR, **one_domain())
    objects = list(objects_of(cluster))
    made = [one for one in objects if isinstance(one, Node)]
    labelled = [
        changed(one, metadata={"labels": {"rack": rack}}) for one, rack in zip(made, places, strict=True)
    ]
    others = [one for one in objects if not isinstance(one, Node)]
    never_dearer(costs_of(*labelled, *others, urgent, *waiting(sizes)))


@given(running_in_racks, st.integers(1, 2))
def test_nor_does_it_where_racks_are_many(running, size):
    """Each is one node; all of them are full, or so that two members have no room."""
    objects = []
    for number, drawn in enumerate(running):
        name, filler = f"n{number:02}", max(0, 4 - sum(cpu for cpu, _ in drawn))
        there = [*drawn, (filler, 4)]
        objects.append(node(name, cpu="4", labels={"rack": name}))
        objects += [pod(f"{name}-{i}", cpu=str(cpu), on=name, priority=p) for i, (cpu, p) in enumerate(there)]
    urgent = gang("urgent", minimum=2, priority=PREEMPTOR, **one_domain())
    never_dearer(costs_of(*objects, urgent, *waiting([size, size])))
