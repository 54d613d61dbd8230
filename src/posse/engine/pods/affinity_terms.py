"""A pod's constraints on other pods: affinity terms, spread constraints and host ports, read once per class.

Host ports clash on equal protocol and port unless their addresses differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from posse.engine.pods.selectors import PodQuery, PodSelector, affinity_selector, spread_selector
from posse.model.placement import (
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from posse.model.pod import Pod

_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - Kubernetes' way to say "every address of the node"


@dataclass(frozen=True, slots=True)
class Term:
    """Pods that `selector` matches, in the same domain of `topology_key`."""

    selector: PodSelector
    topology_key: str

    @property
    def query(self) -> PodQuery:
        return PodQuery((self.selector,))


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """Positive weights attract, negative ones repel."""

    term: Term
    weight: int


@dataclass(frozen=True, slots=True)
class RepellingTerm:
    """The trait of a pod that shares a domain with no pod matching the term."""

    term: Term


@dataclass(frozen=True, slots=True)
class AttractingTerm:
    """The trait of a pod that must share a domain with a matching pod; it also attracts such pods."""

    term: Term


@dataclass(frozen=True, slots=True)
class Spread:
    selector: PodSelector
    topology_key: str
    max_skew: int
    min_domains: int
    honors_affinity: bool
    honors_taints: bool
    needs_key: bool = True
    """Whether nodes without the topology key are left out when nodes are compared."""

    @property
    def query(self) -> PodQuery:
        return PodQuery((self.selector,), counts_terminating=False)


class PodTerms(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """Hashable: pods whose terms differ are of different classes, even if their specs are equal."""

    required: tuple[Term, ...] = ()
    forbidden: tuple[Term, ...] = ()
    preferred: tuple[WeightedTerm, ...] = ()
    hard_spread: tuple[Spread, ...] = ()
    soft_spread: tuple[Spread, ...] = ()

    @property
    def traits(self) -> tuple[RepellingTerm | AttractingTerm | WeightedTerm, ...]:
        """Traits that affect other pods once a pod with these terms is on a node."""
        return (
            *(RepellingTerm(term) for term in self.forbidden),
            *(AttractingTerm(term) for term in self.required),
            *self.preferred,
        )

    @property
    def queries(self) -> tuple[PodQuery, ...]:
        """Every count of pods that these terms need."""
        needed = [term.query for term in self.forbidden]
        needed += [weighted.term.query for weighted in self.preferred]
        needed += [spread.query for spread in (*self.hard_spread, *self.soft_spread)]
        if self.required:
            needed.append(self.companions)
        return tuple(dict.fromkeys(needed))

    @property
    def companions(self) -> PodQuery:
        """A single pod must satisfy all required terms."""
        return PodQuery(tuple(term.selector for term in self.required))


def terms_of(pod: Pod, default_spreads: Sequence[tuple[str, Spread]] = ()) -> PodTerms:
    """Read the terms, with defaults for pods without constraints of their own.

    Invalid selectors raise SelectorError.
    """
    own_spreads = [
        (constraint.when_unsatisfiable, spread_of(pod, constraint))
        for constraint in pod.spec.topology_spread_constraints
    ]
    spreads = own_spreads or default_spreads
    if not spreads and pod.spec.affinity is None:
        return NO_TERMS
    near = (pod.spec.affinity and pod.spec.affinity.pod_affinity) or _NOWHERE_NEAR
    apart = (pod.spec.affinity and pod.spec.affinity.pod_anti_affinity) or _NOWHERE_APART
    namespace = pod.metadata.namespace
    return PodTerms(
        required=_terms(near.required_during_scheduling_ignored_during_execution, namespace),
        forbidden=_terms(apart.required_during_scheduling_ignored_during_execution, namespace),
        preferred=(
            *_weighted(near.preferred_during_scheduling_ignored_during_execution, namespace, 1),
            *_weighted(apart.preferred_during_scheduling_ignored_during_execution, namespace, -1),
        ),
        hard_spread=tuple(spread for otherwise, spread in spreads if otherwise == "DoNotSchedule"),
        soft_spread=tuple(spread for otherwise, spread in spreads if otherwise == "ScheduleAnyway"),
    )


NO_TERMS = PodTerms()
_NOWHERE_NEAR, _NOWHERE_APART = PodAffinity(), PodAntiAffinity()


def _terms(terms: tuple[PodAffinityTerm, ...], namespace: str) -> tuple[Term, ...]:
    return tuple(Term(affinity_selector(term, namespace), term.topology_key) for term in terms)


def _weighted(
    terms: tuple[WeightedPodAffinityTerm, ...], namespace: str, sign: int
) -> tuple[WeightedTerm, ...]:
    return tuple(
        WeightedTerm(
            Term(affinity_selector(term.pod_affinity_term, namespace), term.pod_affinity_term.topology_key),
            sign * term.weight,
        )
        for term in terms
    )


def spread_of(pod: Pod, constraint: TopologySpreadConstraint) -> Spread:
    return Spread(
        selector=spread_selector(
            constraint.label_selector,
            constraint.match_label_keys,
            pod.metadata.namespace,
            pod.metadata.labels,
        ),
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains if constraint.min_domains is not None else 1,
        honors_affinity=constraint.node_affinity_policy in {None, "Honor"},
        honors_taints=constraint.node_taints_policy == "Honor",
    )


@dataclass(frozen=True, slots=True)
class HostPort:
    """The trait of a pod that uses this port of its node."""

    address: str
    protocol: str
    port: int

    def clashes(self, other: "HostPort") -> bool:
        if (self.protocol, self.port) != (other.protocol, other.port):
            return False
        return self.address == other.address or _ANY_ADDRESS in {self.address, other.address}


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """Ports of containers and of sidecars; ordinary init containers have finished before others start."""
    running = [c for c in pod.spec.init_containers if c.restart_policy == "Always"] + list(
        pod.spec.containers
    )
    claimed = {
        HostPort(port.host_ip or _ANY_ADDRESS, port.protocol or "TCP", port.host_port): None
        for container in running
        for port in container.ports
        if port.host_port > 0
    }
    return tuple(claimed)
