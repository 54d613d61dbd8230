"""All providers, listed one by one, and which of them is meant."""

from collections.abc import Collection
from typing import Any

from posse.controllers.leader_worker_sets.keys import annotations_of
from posse.controllers.leader_worker_sets.providers.contract import SchedulerProvider
from posse.controllers.leader_worker_sets.providers.coscheduling import CoschedulingProvider
from posse.controllers.leader_worker_sets.providers.posse import PosseCrdProvider, PosseProvider
from posse.controllers.leader_worker_sets.providers.volcano import VolcanoProvider
from posse.controllers.leader_worker_sets.providers.yunikorn import YunikornProvider
from posse.kinds.machinery.kind import Kind
from posse.model.leader_worker_set import NO_PROVIDER, PROVIDER, PROVIDERS, provider_name

Json = dict[str, Any]

_POSSE, _POSSE_CRD = PosseProvider(), PosseCrdProvider()
_ALL: tuple[SchedulerProvider, ...] = (
    _POSSE,
    _POSSE_CRD,
    VolcanoProvider(),
    CoschedulingProvider(),
    YunikornProvider(),
)
_BY_NAME = {provider.name: provider for provider in _ALL}

GROUP_KINDS = tuple(dict.fromkeys(kind for provider in _ALL for kind in provider.kinds))


def provider_of_set(lws: Json, served: Collection[Kind]) -> SchedulerProvider | None:
    """Return the provider of a set, by default Posse's own; None if it is unknown or pods have no groups."""
    name = asked_provider(lws)
    if name == _POSSE.name and not all(kind in served for kind in _POSSE.kinds):
        return _POSSE_CRD
    return _BY_NAME.get(name)


def asked_provider(lws: Json) -> str:
    worker = lws["spec"]["leaderWorkerTemplate"].get("workerTemplate") or {}
    scheduler = (worker.get("spec") or {}).get("schedulerName") or ""
    return str(provider_name(annotations_of(lws), scheduler))


def is_known(provider: str) -> bool:
    return provider in (*PROVIDERS, NO_PROVIDER)


def provider_of_pod(pod: Json) -> SchedulerProvider | None:
    return _BY_NAME.get(annotations_of(pod).get(PROVIDER, ""))
