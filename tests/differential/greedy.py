"""Placing pods one by one: take the best node, and among equals the next one in turn. The obvious way, slowly.

How good nodes are is asked of a judge: given the pod and the world, it names the total of every node that may take it.
"""

from dataclasses import dataclass, field


@dataclass
class World:
    """Nodes in the order of their rows, each with the pods on it."""

    nodes: list
    pods_on: list = field(default_factory=list)
    turn: int = 0

    def __post_init__(self):
        self.pods_on = self.pods_on or [[] for _ in self.nodes]

    def places(self):
        return list(zip(self.nodes, self.pods_on, strict=True))


def by_row(rank):
    """Return a judge that looks at each node and the pods on it alone."""

    def judge(pod, places):
        ranks = {node.metadata.name: rank(pod, node, there) for node, there in places}
        return {name: points for name, points in ranks.items() if points is not None}

    return judge


def place_one(world, pod, judge):
    """Put the pod on a node and return its row; None if no node takes it."""
    totals = judge(pod, world.places())
    if not totals:
        return None
    best = max(totals.values())
    equals = [row for row, node in enumerate(world.nodes) if totals.get(node.metadata.name) == best]
    row = min(equals, key=lambda equal: (equal < world.turn, equal))
    world.pods_on[row].append(pod)
    world.turn = row + 1
    return row


def capacity(node, neighbours, pod, refusals):
    """Return how many pods like this one the node takes, by trying."""
    taken = list(neighbours)
    while not refusals(pod, node, taken):
        taken.append(pod)
    return len(taken) - len(neighbours)
