"""Requests and free capacity as plain numbers, only of the resources that decide whether pods fit.

Where only resources keep pods off a node, victims follow from sums: no pod need be detached to find them.
"""

import operator
from collections.abc import Iterable, Sequence

import numpy as np

from posse.engine.nodes.node_table import NodeTable
from posse.engine.pods.pod_class import PodClass

Amounts = tuple[int, ...]
"""One number for each of the resources."""


class Requests(dict[PodClass, Amounts]):
    """Requests per pod of each class; read on demand."""

    def __init__(self, resources: Sequence[int]) -> None:
        super().__init__()
        self._resources = resources

    def __missing__(self, pod_class: PodClass) -> Amounts:
        requests = dict(pod_class.requests)
        amounts = self[pod_class] = tuple(requests.get(line, 0) for line in self._resources)
        return amounts


class Sums:
    def __init__(self, nodes: NodeTable, resources: Sequence[int]) -> None:
        self._nodes = nodes
        self._resources = resources
        self.requests = Requests(resources)

    def free(self, rows: Iterable[int]) -> list[Amounts]:
        """Free capacity of each row; negative where the node is overcommitted."""
        chosen = np.ix_(np.array(self._resources, dtype=np.int64), np.fromiter(rows, dtype=np.int64))
        free = self._nodes.allocatable[chosen] - self._nodes.requested[chosen]
        return [tuple(amounts) for amounts in free.T.tolist()]


def plus(one: Amounts, other: Amounts) -> Amounts:
    return tuple(map(operator.add, one, other))


def minus(one: Amounts, other: Amounts) -> Amounts:
    return tuple(map(operator.sub, one, other))


def is_short(spare: Amounts) -> bool:
    """Whether any resource is short."""
    return bool(spare) and min(spare) < 0
