"""How pods are read: by the policy of their scheduler name, and in view of the Services of their namespace."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from posse.engine.nodes.resources import ALL_LIMITED, ResourceLimits
from posse.engine.pods.affinity_terms import PodTerms, terms_of
from posse.engine.pods.default_spreading import NO_SPREADING, DefaultSpreading
from posse.engine.pods.service_index import ServiceBook
from posse.model.pod import Pod


@dataclass(frozen=True, slots=True)
class PodPolicy:
    """What a profile says about pods before any rule sees them."""

    limits: ResourceLimits = ALL_LIMITED
    spreading: DefaultSpreading = NO_SPREADING


_MOST_REMEMBERED = 10_000

_encoder = msgspec.msgpack.Encoder(order="deterministic")

PLAIN_POLICY = PodPolicy()
"""Every resource counts, and nothing is assumed of a pod."""


class PodReader:
    def __init__(self, policies: Mapping[str, PodPolicy]) -> None:
        self.services = ServiceBook()
        self._policies = policies
        self._terms: dict[bytes, PodTerms] = {}
        """By the encoded form of all they are read from."""

    def policy(self, pod: Pod) -> PodPolicy:
        """Pods of other schedulers count where they are, and that is all."""
        return self._policies.get(pod.spec.scheduler_name, PLAIN_POLICY)

    def terms(self, pod: Pod) -> PodTerms:
        """Pods that say the same mean the same; what was read once is remembered."""
        spreads = self.policy(pod).spreading.spreads(pod, self.services)
        spec = pod.spec
        if spreads or not (spec.affinity or spec.topology_spread_constraints):
            return terms_of(pod, spreads)
        shares_labels = any(constraint.match_label_keys for constraint in spec.topology_spread_constraints)
        labels = pod.metadata.labels if shares_labels else None
        said = _encoder.encode(
            (pod.metadata.namespace, spec.affinity, spec.topology_spread_constraints, labels)
        )
        terms = self._terms.get(said)
        if terms is None:
            if len(self._terms) >= _MOST_REMEMBERED:
                self._terms.clear()
            terms = self._terms[said] = terms_of(pod)
        return terms
