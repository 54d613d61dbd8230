"""Nodes of which more is requested than they have: another scheduler was there at the same moment, or the node shrank.

It is no error of the engine, which places nothing more there, but somebody should know.
"""

from typing import NamedTuple

import numpy as np

from posse.engine.node_table import NodeTable


class Overcommitted(NamedTuple):
    """CPU in thousandths, everything else in whole units."""

    node: str
    resource: str
    requested: int
    allocatable: int


def overcommitted(nodes: NodeTable) -> list[Overcommitted]:
    over = (nodes.requested > nodes.allocatable) & nodes.alive
    names = list(nodes.resource_index)
    return [
        Overcommitted(
            nodes.names[row],
            names[resource],
            int(nodes.requested[resource, row]),
            int(nodes.allocatable[resource, row]),
        )
        for resource, row in np.argwhere(over).tolist()
    ]
