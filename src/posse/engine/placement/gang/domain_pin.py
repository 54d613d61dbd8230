"""The domain a group must stay in: members on nodes pin the group to their domain."""

from collections.abc import Iterable
from dataclasses import dataclass

from posse.engine.causes import OutsideDomains, SeveralDomains
from posse.engine.groups.part import Part
from posse.engine.nodes.label_columns import ABSENT
from posse.engine.state.cluster_state import ClusterState


@dataclass(frozen=True, slots=True)
class Pin:
    value: str | None = None
    """The domain; None if nothing pins it."""
    error: OutsideDomains | SeveralDomains | None = None
    """Why no domain can take further members."""


def pin_of(state: ClusterState, group: Part) -> Pin:
    values = domains_of_members(state, group)
    outside = values.pop(None, "")
    if outside:
        return Pin(error=OutsideDomains(outside, group.topology_key))
    names = sorted(value for value in values if value is not None)
    if len(names) > 1:
        return Pin(error=SeveralDomains(tuple(names)))
    return Pin(names[0] if names else None)


def domains_of_members(state: ClusterState, group: Part) -> dict[str | None, str]:
    """Every domain that has members, with one of their nodes; None for nodes without the label.

    Members on unknown nodes are ignored.
    """
    row_of, column = state.nodes.row_of, state.nodes.labels.column(group.topology_key)
    nodes = dict.fromkeys(record.node for record in group.members.values() if record.node in row_of)
    ids = {int(column.ids[row_of[node]]): node for node in nodes}
    return {None if one == ABSENT else column.values[one]: node for one, node in ids.items()}


def common_domain(state: ClusterState, key: str, nodes: Iterable[str]) -> str | None:
    """The one domain that contains all of these nodes; None if there are several, or no nodes."""
    row_of, column = state.nodes.row_of, state.nodes.labels.column(key)
    values = dict.fromkeys(int(column.ids[row_of[one]]) if one in row_of else ABSENT for one in nodes)
    value = next(iter(values)) if len(values) == 1 else ABSENT
    return column.values[value] if value != ABSENT else None


def domain_noun(group: Part) -> str:
    """The noun for a domain in messages: the last part of the label's name."""
    return group.topology_key.rpartition("/")[2]
