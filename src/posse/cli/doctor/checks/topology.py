"""Topology labels of nodes: contradictions, missing ones, and labels that groups require but no node has."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding, error, names, warning
from posse.model.node import Node

LEVELS = (
    ("region",),
    ("zone",),
    ("core", "network-node-layer-1", "superblock"),
    ("spine", "network-node-layer-2", "block"),
    ("leaf", "network-node-layer-3", "subblock", "rack"),
)
"""Names of topology labels from the widest domain to the narrowest, as clouds and vendors call them."""
_PREFIX = re.compile(r"^(gce-|aws-)?(topology-)?")
MOST = 0.5
"""A label that at least this share of nodes has should be on all of them."""


def check_topology(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    nodes = list(facts.survey.nodes.values())
    wanted = _wanted_keys(facts)
    levels = _keys_by_level(nodes)
    ordered = [key for level in sorted(levels) for key in levels[level]]
    for outer_level, inner_level in pairwise(sorted(levels)):
        for outer in levels[outer_level]:
            for inner in levels[inner_level]:
                yield from _contradictions(nodes, outer, inner)
    for key in dict.fromkeys([*ordered, *wanted]):
        yield from _absences(nodes, key, wanted.get(key, []))
        yield from _likenesses(nodes, key)


def _contradictions(nodes: list[Node], outer: str, inner: str) -> Iterator[DoctorFinding]:
    """An inner domain lies in one outer domain."""
    homes: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for node in nodes:
        labels = node.metadata.labels
        if labels.get(outer) and labels.get(inner):
            homes[labels[inner]].setdefault(labels[outer], []).append(node.metadata.name)
    for value, found in sorted(homes.items()):
        if len(found) > 1:
            places = names([f"{home} ({_first(there)})" for home, there in sorted(found.items())])
            yield error(
                f"{inner}={value} is in {len(found)} domains of {outer}: {places}",
                f"mend {outer} of these nodes, or give {inner} values that are unique in the cluster; "
                f"until then a gang in one {_noun(inner)} may be spread over several of them",
            )


def _first(nodes: list[str]) -> str:
    return nodes[0] if len(nodes) == 1 else f"{nodes[0]} and {len(nodes) - 1} more"


def _likenesses(nodes: list[Node], key: str) -> Iterator[DoctorFinding]:
    """Values that differ in case alone are hardly meant to be two domains."""
    written: dict[str, dict[str, None]] = defaultdict(dict)
    for node in nodes:
        value = node.metadata.labels.get(key, "")
        written[value.lower()][value] = None
    for values in written.values():
        if len(values) > 1:
            yield warning(
                f"values of {key} differ in upper and lower case alone: {names(sorted(values))}",
                "write them alike, unless two domains are meant: each is a domain of its own",
            )


def _absences(nodes: list[Node], key: str, groups: list[str]) -> Iterator[DoctorFinding]:
    without = sorted(node.metadata.name for node in nodes if not node.metadata.labels.get(key))
    if groups and nodes and len(without) == len(nodes):
        yield error(
            f"no node has the label {key}, by which these groups are kept together: {names(groups)}",
            "label the nodes, or correct the topology key of the groups",
        )
    elif without and (groups or len(without) <= MOST * len(nodes)):
        lack = "lacks" if len(without) == 1 else "lack"
        yield warning(
            f"{len(without)} of {len(nodes)} nodes {lack} the label {key}: {names(without)}",
            "label them: groups that ask for this key never use nodes without it",
        )


def _wanted_keys(facts: ClusterFacts) -> Mapping[str, list[str]]:
    """Topology keys of groups, with the groups that name them."""
    wanted: dict[str, list[str]] = defaultdict(list)
    for now in facts.survey.situations():
        if now.topology_key:
            wanted[now.topology_key].append(f"{now.key.namespace}/{now.key.name}")
    return wanted


def _keys_by_level(nodes: list[Node]) -> Mapping[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for key in sorted({key for node in nodes for key in node.metadata.labels}):
        for level, nouns in enumerate(LEVELS):
            if _noun(key) in nouns:
                found[level].append(key)
    return found


def _noun(key: str) -> str:
    return _PREFIX.sub("", key.rpartition("/")[2].lower())
