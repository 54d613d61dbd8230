"""Small gangs with rules between their pods, on small clusters: for the engine and for an exhaustive search.

The search repeats the rules in the simplest way: pods are placed one after the other, in any order, each on
any node that all rules allow at that moment.
"""

import dataclasses
import random
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from bench.inputs import HOSTNAME, RACK, gangs, nodes, pod
from posse.engine.events import ClusterObject
from posse.model.container import ContainerPort
from posse.model.meta import LabelSelector
from posse.model.placement import (
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    TopologySpreadConstraint,
)
from posse.model.workload import SchedulingConstraints, TopologyConstraint

_KEYS = (HOSTNAME, RACK)
_LABELS = ("a", "b")
Whom = tuple[str, str]
"""Pods with a label, in the same domain of a key."""


@dataclass(frozen=True, slots=True)
class Member:
    cpu: int
    label: str
    avoids: Whom | None = None
    seeks: Whom | None = None
    spread: str = ""
    """The key over which pods with its own label are spread, if they are."""
    has_port: bool = False


@dataclass(frozen=True, slots=True)
class RuleInstance:
    offered: tuple[int, ...]
    """CPU cores of each node."""
    racks: tuple[int, ...]
    """Of each node; negative without one."""
    members: tuple[Member, ...]
    running: tuple[tuple[Member, int], ...]
    """Pods that are there before, and where."""
    minimum: int
    in_one_rack: bool

    def is_solvable(self) -> bool:
        """Whether any sequence of pods leads to the minimum."""
        everywhere = list(range(len(self.offered)))
        racks = sorted({rack for rack in self.racks if rack >= 0})
        inside = [[row for row in everywhere if self.racks[row] == rack] for rack in racks]
        return any(self._is_solvable_on(rows) for rows in (inside if self.in_one_rack else [everywhere]))

    def _is_solvable_on(self, rows: list[int]) -> bool:
        left = [tuple(-1 for _ in self.members)]
        seen = set(left)
        while left:
            places = left.pop()
            if sum(1 for place in places if place >= 0) == self.minimum:
                return True
            for after in self._continued(places, rows):
                if after not in seen:
                    seen.add(after)
                    left.append(after)
        return False

    def _continued(self, places: tuple[int, ...], rows: list[int]) -> Iterator[tuple[int, ...]]:
        there = [*self.running, *((m, at) for m, at in zip(self.members, places, strict=True) if at >= 0)]
        for number, member in enumerate(self.members):
            if places[number] < 0:
                for row in rows:
                    if self._may_go(member, row, there):
                        yield (*places[:number], row, *places[number + 1 :])

    def _may_go(self, member: Member, row: int, there: list[tuple[Member, int]]) -> bool:
        here = [other for other, at in there if at == row]
        if member.cpu + sum(other.cpu for other in here) > self.offered[row]:
            return False
        if member.has_port and any(other.has_port for other in here):
            return False
        return (
            not any(self._repel(member, row, other, at) for other, at in there)
            and self._is_near(member, row, there)
            and self._is_even(member, row, there)
        )

    def _repel(self, member: Member, row: int, other: Member, at: int) -> bool:
        pairs = ((member.avoids, other.label), (other.avoids, member.label))
        return any(whom and whom[0] == label and self._share(whom[1], row, at) for whom, label in pairs)

    def _share(self, key: str, row: int, at: int) -> bool:
        return row == at if key == HOSTNAME else self.racks[row] == self.racks[at] >= 0

    def _is_near(self, member: Member, row: int, there: list[tuple[Member, int]]) -> bool:
        if member.seeks is None:
            return True
        label, key = member.seeks
        if key == RACK and self.racks[row] < 0:
            return False
        sought = [at for other, at in there if other.label == label and self._share(key, at, at)]
        return any(self._share(key, row, at) for at in sought) or (not sought and member.label == label)

    def _is_even(self, member: Member, row: int, there: list[tuple[Member, int]]) -> bool:
        if not member.spread:
            return True
        domains = tuple(range(len(self.racks))) if member.spread == HOSTNAME else self.racks
        counts = {domain: 0 for domain in domains if domain >= 0}
        for other, at in there:
            if other.label == member.label and domains[at] >= 0:
                counts[domains[at]] += 1
        return domains[row] >= 0 and counts[domains[row]] + 1 - min(counts.values()) <= 1

    def objects(self) -> Iterator[ClusterObject]:
        for made, cpu, rack in zip(nodes(len(self.offered)), self.offered, self.racks, strict=True):
            labels = {HOSTNAME: made.metadata.name, **({RACK: f"rack-{rack}"} if rack >= 0 else {})}
            offered = {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}
            metadata = replace(made.metadata, labels=labels)
            yield replace(made, metadata=metadata, status=replace(made.status, allocatable=offered))
        groups, _ = gangs(1, self.minimum)
        group = groups[0]
        if self.in_one_rack:
            constraints = SchedulingConstraints(topology=(TopologyConstraint(key=RACK),))
            group = replace(group, spec=replace(group.spec, scheduling_constraints=constraints))
        yield group
        for ordinal, (member, row) in enumerate(self.running):
            yield _pod(member, ordinal, "", f"node-{row:06}")
        for ordinal, member in enumerate(self.members, len(self.running)):
            yield _pod(member, ordinal, group.metadata.name, "")


def rule_instance(chance: random.Random) -> RuleInstance:
    offered = tuple(chance.randint(2, 5) for _ in range(chance.randint(2, 4)))
    racks = (0, *(chance.choice((0, 0, 1, 1, 2, -1)) for _ in offered[1:]))
    rules = {label: _rules(chance, label) for label in _LABELS}
    members = [_sized(rules[chance.choice(_LABELS)], chance) for _ in range(chance.randint(3, 5))]
    running = [
        (Member(1, one.label, one.avoids), chance.randrange(len(offered)))
        for one in members
        if chance.random() < 1 / 10
    ]
    minimum = chance.choice((len(members), len(members), chance.randint(2, len(members))))
    return RuleInstance(
        offered, racks, tuple(members), tuple(running), minimum, in_one_rack=chance.random() < 1 / 4
    )


def _rules(chance: random.Random, label: str) -> Member:
    """Half of all pods have any one rule."""

    def whom() -> Whom | None:
        return (chance.choice(_LABELS), chance.choice(_KEYS)) if chance.random() < 1 / 2 else None

    spread = chance.choice((*_KEYS, "", ""))
    return Member(
        0, label, whom(), whom() if chance.random() < 1 / 2 else None, spread, chance.random() < 1 / 8
    )


def _sized(member: Member, chance: random.Random) -> Member:
    return dataclasses.replace(member, cpu=chance.choice((1, 1, 2, 3)))


def _pod(member: Member, ordinal: int, group: str, node: str) -> ClusterObject:
    made = pod(ordinal, str(member.cpu), group)
    container = made.spec.containers[0]
    if member.has_port:
        container = replace(container, ports=(ContainerPort(container_port=80, host_port=80),))
    spec = replace(
        made.spec,
        containers=(container,),
        affinity=_affinity(member),
        topology_spread_constraints=_spread(member),
        node_name=node,
    )
    metadata = replace(made.metadata, labels={"kind": member.label})
    return replace(made, metadata=metadata, spec=spec)


def _affinity(member: Member) -> Affinity:
    avoided = PodAntiAffinity(required_during_scheduling_ignored_during_execution=_terms(member.avoids))
    sought = PodAffinity(required_during_scheduling_ignored_during_execution=_terms(member.seeks))
    return Affinity(pod_anti_affinity=avoided, pod_affinity=sought)


def _terms(whom: Whom | None) -> tuple[PodAffinityTerm, ...]:
    if whom is None:
        return ()
    selector = LabelSelector(match_labels={"kind": whom[0]})
    return (PodAffinityTerm(label_selector=selector, topology_key=whom[1]),)


def _spread(member: Member) -> tuple[TopologySpreadConstraint, ...]:
    if not member.spread:
        return ()
    selector = LabelSelector(match_labels={"kind": member.label})
    return (
        TopologySpreadConstraint(
            max_skew=1,
            topology_key=member.spread,
            when_unsatisfiable="DoNotSchedule",
            label_selector=selector,
        ),
    )
