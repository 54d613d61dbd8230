"""The laws that no decision breaks, as named functions for run time, property tests and fault simulation.

A broken one stops the process with the numbers that prove it.
"""

from collections.abc import Collection, Sequence

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.node_table import NodeTable


class InvariantBroken(Exception):  # noqa: N818 - a bug of ours, not an error of the outside
    """Posse contradicts itself; continuing could bind a pod without capacity."""


def ensure(holds: bool, law: str, **numbers: object) -> None:
    if not holds:
        shown = ", ".join(f"{name}={value!r}" for name, value in numbers.items())
        raise InvariantBroken(f"{law} ({shown})" if shown else law)


def no_row_over_capacity(nodes: NodeTable, rows: IntArray, resources: Sequence[int]) -> None:
    """A decision never exceeds a node's capacity in any resource that the placed pods request.

    Pods bound by others may overfill a node; then nothing that needs the overfilled resource is placed there.
    """
    lines = np.array(resources, dtype=np.int64)[:, None]
    over = nodes.requested[lines, rows] > nodes.allocatable[lines, rows]
    if over.any():
        line, position = (int(found[0]) for found in np.nonzero(over))
        _over_capacity(nodes, int(rows[position]), resources[line])


def row_not_over_capacity(nodes: NodeTable, row: int, requests: Sequence[tuple[int, int]]) -> None:
    """The same for one row and the resources of these requests."""
    requested, allocatable = nodes.requested, nodes.allocatable
    for resource, _ in requests:
        if requested[resource, row] > allocatable[resource, row]:
            _over_capacity(nodes, row, resource)


def _over_capacity(nodes: NodeTable, row: int, resource: int) -> None:
    ensure(
        holds=False,
        law="no node over capacity",
        node=nodes.names[row],
        resource=nodes.resource_names[resource],
        requested=int(nodes.requested[resource, row]),
        allocatable=int(nodes.allocatable[resource, row]),
    )


def no_gang_below_minimum(key: object, attached: int, minimum: int) -> None:
    """A group is bound only when its minimum has nodes, or enough of its child groups have started."""
    ensure(
        attached >= minimum, "no gang bound below its minimum", group=key, attached=attached, minimum=minimum
    )


def no_gang_across_domains(key: object, domains: Collection[str | None]) -> None:
    """All members of a group with a topology key are on nodes that share one value of that label."""
    ensure(len(domains) <= 1, "no gang across domains", group=key, domains=sorted(map(str, domains)))
