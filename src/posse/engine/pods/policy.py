"""How pods are read: by the policy of their scheduler name, and by the Services of their namespace.

A profile may spread pods without constraints over domains that it names. Services decide which pods belong
together; a pod that no Service selects is not spread.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from posse.engine.nodes.resources import ALL_LIMITED, ResourceLimits
from posse.engine.pods.affinity_terms import NO_TERMS, PodTerms, Spread, spread_of, terms_of
from posse.engine.pods.domain_counts import HOSTNAME
from posse.engine.pods.selectors import PodSelector
from posse.model.limits import require_within_limits
from posse.model.placement import TopologySpreadConstraint
from posse.model.pod import Pod
from posse.model.selectors import LabelQuery, LabelRequirement
from posse.model.service import Service

Selector = Mapping[str, str]


class ServiceBook:
    """Services with a selector; one without selects no pods."""

    def __init__(self) -> None:
        self._selectors: dict[tuple[str, str], Selector] = {}
        self._by_pair: dict[tuple[str, str, str], dict[str, Selector]] = {}
        """By namespace and one pair of the selector, then by name: lookups follow the labels of a pod."""

    def __bool__(self) -> bool:
        return bool(self._selectors)

    def put(self, service: Service) -> Sequence[Selector]:
        """Add or replace the Service; returns the selectors of pods that it affects."""
        namespace, name = service.metadata.namespace, service.metadata.name
        selector = service.spec.selector
        if selector == self._selectors.get((namespace, name), {}):
            return ()
        gone = self.drop(namespace, name)
        if not selector:
            return gone
        self._selectors[namespace, name] = selector
        self._by_pair.setdefault(_lead(namespace, selector), {})[name] = selector
        return (*gone, selector)

    def drop(self, namespace: str, name: str) -> Sequence[Selector]:
        selector = self._selectors.pop((namespace, name), None)
        if selector is None:
            return ()
        together = self._by_pair[_lead(namespace, selector)]
        del together[name]
        if not together:
            del self._by_pair[_lead(namespace, selector)]
        return (selector,)

    def shared_labels(self, namespace: str, labels: Mapping[str, str]) -> dict[str, str]:
        """The labels by which Services select a pod; empty if no Service does."""
        if not labels or not self._selectors:
            return {}
        shared: dict[str, str] = {}
        for _, selector in self._selecting(namespace, labels):
            shared.update(selector)
        return shared

    def matters(
        self, namespace: str, name: str, selectors: Sequence[Selector], labels: Mapping[str, str]
    ) -> bool:
        """Whether these selectors of the Service add to the labels by which others select the pod."""
        selecting = [selector for selector in selectors if selects(selector, labels)]
        if not selecting:
            return False
        shared: dict[str, str] = {}
        for other, selector in self._selecting(namespace, labels):
            if other != name:
                shared.update(selector)
        return any(not selector.items() <= shared.items() for selector in selecting)

    def _selecting(self, namespace: str, labels: Mapping[str, str]) -> Iterator[tuple[str, Selector]]:
        """Names and selectors."""
        for key, value in labels.items():
            for name, selector in self._by_pair.get((namespace, key, value), {}).items():
                if selects(selector, labels):
                    yield name, selector


def selects(selector: Selector, labels: Mapping[str, str]) -> bool:
    return selector.items() <= labels.items()


def _lead(namespace: str, selector: Selector) -> tuple[str, str, str]:
    key = min(selector)
    return namespace, key, selector[key]


ZONE = "topology.kubernetes.io/zone"


@dataclass(frozen=True, slots=True)
class DefaultSpreading:
    constraints: tuple[TopologySpreadConstraint, ...] = ()
    needs_keys: bool = True
    """Whether nodes that lack one of the topology keys get no points at all."""

    def spreads(self, pod: Pod, services: ServiceBook) -> list[tuple[str, Spread]]:
        """Pairs of the action when it is unsatisfied, and the constraint."""
        if not self.constraints or pod.spec.topology_spread_constraints:
            return []
        shared = services.shared_labels(pod.metadata.namespace, pod.metadata.labels)
        if not shared:
            return []
        wanted = tuple(LabelRequirement(key, "In", (value,)) for key, value in sorted(shared.items()))
        selector = PodSelector(LabelQuery(wanted), (pod.metadata.namespace,))
        return [
            (
                constraint.when_unsatisfiable,
                replace(spread_of(pod, constraint), selector=selector, needs_key=self.needs_keys),
            )
            for constraint in self.constraints
        ]


NO_SPREADING = DefaultSpreading()
SYSTEM_SPREADING = DefaultSpreading(
    (
        TopologySpreadConstraint(topology_key=HOSTNAME, max_skew=3, when_unsatisfiable="ScheduleAnyway"),
        TopologySpreadConstraint(topology_key=ZONE, max_skew=5, when_unsatisfiable="ScheduleAnyway"),
    ),
    needs_keys=False,
)
"""Nodes without a zone are still distinguished by their names."""


@dataclass(frozen=True, slots=True)
class PodPolicy:
    """Settings of a profile for reading pods, before any rule sees them."""

    limits: ResourceLimits = ALL_LIMITED
    spreading: DefaultSpreading = NO_SPREADING


_MAX_REMEMBERED = 10_000

_encoder = msgspec.msgpack.Encoder(order="deterministic")

PLAIN_POLICY = PodPolicy()
"""Every resource counts, and pods get no defaults."""


class PodReader:
    def __init__(self, policies: Mapping[str, PodPolicy]) -> None:
        self.services = ServiceBook()
        self._policies = policies
        self._terms: dict[bytes, PodTerms] = {}
        """By the encoded form of all fields they are read from."""

    def policy(self, pod: Pod) -> PodPolicy:
        """The policy of the pod's scheduler; pods of other schedulers only count where they are."""
        return self._policies.get(pod.spec.scheduler_name, PLAIN_POLICY)

    def terms(self, pod: Pod) -> PodTerms:
        """Terms of the pod; equal inputs are read once. LimitError: it has too many."""
        spec = pod.spec
        if not (self.services or spec.affinity or spec.topology_spread_constraints):
            return NO_TERMS
        spreads = self.policy(pod).spreading.spreads(pod, self.services)
        if spreads or not (spec.affinity or spec.topology_spread_constraints):
            return terms_of(pod, spreads)
        shares_labels = any(constraint.match_label_keys for constraint in spec.topology_spread_constraints)
        labels = pod.metadata.labels if shares_labels else None
        said = _encoder.encode(
            (pod.metadata.namespace, spec.affinity, spec.topology_spread_constraints, labels)
        )
        terms = self._terms.get(said)
        if terms is None:
            if len(self._terms) >= _MAX_REMEMBERED:
                self._terms.clear()
            require_within_limits(pod)
            terms = self._terms[said] = terms_of(pod)
        return terms
