"""Placing pods one by one: take the best node, and among equals the next one in turn. The obvious way, slowly."""

from dataclasses import dataclass, field


@dataclass
class World:
    """Nodes in the order of their rows, each with the pods on it; rows may be empty (None)."""

    nodes: list
    pods_on: list = field(default_factory=list)
    turn: int = 0

    def __post_init__(self):
        self.pods_on = self.pods_on or [[] for _ in self.nodes]


def place_one(world, pod, rank):
    """Put the pod on a node and return its row; None if no node takes it."""
    ranks = {
        row: points
        for row, node in enumerate(world.nodes)
        if node is not None and (points := rank(pod, node, world.pods_on[row])) is not None
    }
    if not ranks:
        return None
    best = max(ranks.values())
    equals = [row for row, points in ranks.items() if points == best]
    row = min(equals, key=lambda equal: (equal < world.turn, equal))
    world.pods_on[row].append(pod)
    world.turn = row + 1
    return row


def capacity(node, neighbours, pod, rank):
    """Return how many pods like this one the node takes, by trying."""
    taken = list(neighbours)
    while rank(pod, node, taken) is not None:
        taken.append(pod)
    return len(taken) - len(neighbours)
