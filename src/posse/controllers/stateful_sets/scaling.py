"""Which pods of a set are created and deleted next: missing, surplus, ended and outdated ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from posse.controllers.stateful_sets.pods import SetPod
from posse.model.shares import part_of
from posse.model.stateful_set import PARALLEL, ROLLING_UPDATE, StatefulSetSpec

CHANGES_MAX = 500
"""Of pods and their claims in one plan."""


@dataclass(slots=True)
class SetPodChanges:
    # Ordinals of pods to make.
    create: list[int] = field(default_factory=list)
    delete: list[SetPod] = field(default_factory=list)


def scale(spec: StatefulSetSpec, pods: Sequence[SetPod], update_revision: str, now: float) -> SetPodChanges:
    by_ordinal = {pod.ordinal: pod for pod in pods}
    wanted = range(spec.start, spec.start + spec.wanted)
    surplus = [by_ordinal[ordinal] for ordinal in sorted(by_ordinal, reverse=True) if ordinal not in wanted]
    slots = [(ordinal, by_ordinal.get(ordinal)) for ordinal in wanted]
    if spec.pod_management_policy != PARALLEL:
        next_step = _one_by_one(spec, slots, surplus, now)
        if next_step is not None:
            return next_step
    create, delete = _all_at_once(slots, surplus)
    delete += _out_of_date(spec, [pod for _, pod in slots], update_revision, now)
    created_max = max(1, CHANGES_MAX // (1 + len(spec.volume_claim_templates)))
    return SetPodChanges(create[:created_max], delete[:CHANGES_MAX])


def is_available(pod: SetPod | None, spec: StatefulSetSpec, now: float) -> bool:
    since = pod.available_at(spec.min_ready_seconds) if pod is not None and not pod.is_deleting else None
    return since is not None and since <= now


def _all_at_once(
    slots: Sequence[tuple[int, SetPod | None]], surplus: Iterable[SetPod]
) -> tuple[list[int], list[SetPod]]:
    ended = [pod for _, pod in slots if pod is not None and pod.has_ended]
    missing = [ordinal for ordinal, pod in slots if pod is None]
    return missing, [pod for pod in (*ended, *surplus) if not pod.is_deleting]


def _one_by_one(
    spec: StatefulSetSpec, slots: Iterable[tuple[int, SetPod | None]], surplus: Sequence[SetPod], now: float
) -> SetPodChanges | None:
    """Return the next step, each pod waiting for those before it; None if all pods exist."""
    for ordinal, pod in slots:
        if pod is None:
            return SetPodChanges(create=[ordinal])
        if pod.has_ended and not pod.is_deleting:
            return SetPodChanges(delete=[pod])
        if not is_available(pod, spec, now):
            return SetPodChanges()
    if not surplus:
        return None
    return SetPodChanges() if any(pod.is_deleting for pod in surplus) else SetPodChanges(delete=[surplus[0]])


def _out_of_date(
    spec: StatefulSetSpec, pods: Sequence[SetPod | None], update_revision: str, now: float
) -> list[SetPod]:
    """Return the pods to be replaced by newer ones, the highest first, as many as may be away at once.

    Pods that are away already are no loss, so all of them are replaced.
    """
    if spec.update_strategy.type != ROLLING_UPDATE:
        return []
    old = [
        pod
        for pod in reversed(pods[spec.partition :])
        if pod is not None and not pod.is_deleting and not pod.has_ended and pod.revision != update_revision
    ]
    idle = [pod for pod in old if not is_available(pod, spec, now)]
    working = [pod for pod in old if is_available(pod, spec, now)]
    away = sum(1 for pod in pods if not is_available(pod, spec, now))
    return [*idle, *working[: max(0, max_unavailable(spec) - away)]]


def max_unavailable(spec: StatefulSetSpec) -> int:
    rolling = spec.update_strategy.rolling_update
    if rolling is None or rolling.max_unavailable is None:
        return 1
    return max(1, part_of(rolling.max_unavailable, spec.wanted, rounded_up=False))
