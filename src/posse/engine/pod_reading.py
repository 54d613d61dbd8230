"""How pods are read: by the policy of their scheduler name, and in view of the Services of their namespace."""

from collections.abc import Mapping
from dataclasses import dataclass

from posse.engine.default_spreading import NO_SPREADING, DefaultSpreading
from posse.engine.pod_terms import PodTerms, terms_of
from posse.engine.resource_limits import ALL_LIMITED, ResourceLimits
from posse.engine.services import ServiceBook
from posse.model.pod import Pod


@dataclass(frozen=True, slots=True)
class PodPolicy:
    """What a profile says about pods before any rule sees them."""

    limits: ResourceLimits = ALL_LIMITED
    spreading: DefaultSpreading = NO_SPREADING


PLAIN_POLICY = PodPolicy()
"""Every resource counts, and nothing is assumed of a pod."""


class PodReader:
    def __init__(self, policies: Mapping[str, PodPolicy]) -> None:
        self.services = ServiceBook()
        self._policies = policies

    def policy(self, pod: Pod) -> PodPolicy:
        """Pods of other schedulers count where they are, and that is all."""
        return self._policies.get(pod.spec.scheduler_name, PLAIN_POLICY)

    def terms(self, pod: Pod) -> PodTerms:
        return terms_of(pod, self.policy(pod).spreading.spreads(pod, self.services))
