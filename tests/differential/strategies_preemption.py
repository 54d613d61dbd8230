"""Small clusters for tests of preemption, drawn at random: pods alone and in groups, priorities, budgets."""

from hypothesis import strategies as st

from posse.model.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from posse.model.meta import LabelSelector, ObjectMeta
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import NAMESPACE, changed, gang, node, pod

NODES = 4
COLOURS = ("blue", "green")

places = st.tuples(st.integers(0, NODES - 1), st.sampled_from([1, 1, 2, 3]))
"""Node and size."""
priorities = st.sampled_from([-3, 0, 0, 2, 4, 5, 7])
looks = st.tuples(
    st.sampled_from(["", *COLOURS]), st.sampled_from(["", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"])
)
"""Colour, and when it started."""
members = st.tuples(places, st.sampled_from([None, None, 0]), looks)
"""Those with a priority of their own count with that of the group all the same."""
clusters = st.fixed_dictionaries(
    {
        "nodes": st.lists(st.tuples(st.integers(2, 8), st.integers(2, 8)), min_size=NODES, max_size=NODES),
        "alone": st.lists(st.tuples(places, priorities, looks), max_size=10),
        "groups": st.lists(
            st.tuples(priorities, st.booleans(), st.lists(members, min_size=1, max_size=5)), max_size=4
        ),
        "budgets": st.dictionaries(st.sampled_from(COLOURS), st.integers(0, 2)),
    }
)


def running(name, place, priority, look, group=""):
    made = pod(name, cpu=str(place[1]), on=f"n{place[0]}", priority=priority, group=group)
    return changed(made, metadata={"labels": {"colour": look[0]}}, status={"start_time": look[1]})


def budget(colour, allowed):
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=colour, namespace=NAMESPACE),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"colour": colour})),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


def objects_of(cluster):
    for number, (cpu, most) in enumerate(cluster["nodes"]):
        yield node(f"n{number}", cpu=str(cpu), pods=str(most))
    for number, (place, priority, look) in enumerate(cluster["alone"]):
        yield running(f"p{number}", place, priority, look)
    for number, (priority, is_whole, inside) in enumerate(cluster["groups"]):
        mode = DisruptionMode(all=AllDisruptionMode()) if is_whole else None
        yield gang(f"g{number}", minimum=1, priority=priority, disruption_mode=mode)
        for member, (place, own, look) in enumerate(inside):
            counted = priority if own is None else own
            yield running(f"g{number}-{member}", place, counted, look, f"g{number}")
    for colour, allowed in cluster["budgets"].items():
        yield budget(colour, allowed)
