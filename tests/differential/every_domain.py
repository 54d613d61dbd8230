"""The domain for a group, found by trying every one in turn and adding up plain numbers for each that can hold it."""

from dataclasses import dataclass

import numpy as np

from posse.engine.placement.gang.member_pass import pass_if_possible
from posse.engine.placement.search.fill import classes_of
from posse.engine.state.draft import Draft

FULL_MARKS = 100


@dataclass(frozen=True)
class Held:
    """What came of one domain that can hold the group."""

    value: str
    placed: int
    utilization: int


def domains(state, key):
    """Return the rows of each value, in order of the values."""
    found = {}
    for name, row in sorted(state.nodes.row_of.items(), key=lambda item: item[1]):
        value = state.nodes.nodes[row].metadata.labels.get(key)
        if value is not None:
            found.setdefault(value, []).append(state.nodes.row_of[name])
    return dict(sorted(found.items()))


def holding(state, group):
    """Return every domain that takes the group, tried one by one and taken back."""
    classes = classes_of(state, group.unattached())
    found = []
    for value, rows in domains(state, group.topology_key).items():
        draft = Draft(state)
        with state.confined(np.array(rows)):
            made = pass_if_possible(state, draft, group, classes)
            if made.succeeded:
                found.append(Held(value, group.attached_count, utilization(state, rows)))
        draft.roll_back()
    return found


def best(state, group):
    """Return the value with most points, the first by name of several; None if no domain takes the group."""
    found = holding(state, group)
    most = max((one.placed for one in found), default=1)
    points = [one.placed * FULL_MARKS // most + one.utilization for one in found]
    return next((one.value for one, mine in zip(found, points, strict=True) if mine == max(points)), None)


def utilization(state, rows):
    """Return the average of how full CPU and memory are, over all nodes of the domain together."""
    points = []
    for slot, resource in enumerate(("cpu", "memory")):
        line = state.nodes.resource_index[resource]
        capacity = sum(int(state.nodes.allocatable[line, row]) for row in rows)
        pods = [one for row in rows for one in state.pods_on(state.nodes.names[row])]
        used = sum(one.pod_class.load.scoring_requests[slot] for one in pods)
        if capacity:
            points.append(min(used, capacity) * FULL_MARKS // capacity)
    return sum(points) // len(points) if points else 0
