"""What must exist before any replica is created, so that its pods can join a group."""

from typing import Any, NamedTuple

from posse.controllers.leader_worker_sets.keys import NAME, labels_of
from posse.controllers.leader_worker_sets.observed_set import ObservedLeaderWorkerSet
from posse.controllers.leader_worker_sets.providers.contract import Made, SchedulerProvider
from posse.controllers.leader_worker_sets.providers.registry import asked_provider, is_known
from posse.controllers.leader_worker_sets.statuses import AVAILABLE, SCHEDULING_READY, ConditionReport
from posse.controllers.steps import Create, Step, Write, adopted, controller_uid, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import CONTROLLER_REVISION, LEADER_WORKER_SET, SERVICE, STATEFUL_SET
from posse.model.leader_worker_set import PROVIDER, PROVIDERS

Json = dict[str, Any]


class Prerequisites(NamedTuple):
    """Steps to take first; and why nothing can be made at all, if that is so."""

    steps: list[Step]
    obstacle: ConditionReport | None = None


def adoptions(observed: ObservedLeaderWorkerSet, provider: SchedulerProvider | None) -> list[Step]:
    """Adopt objects that a deleted set of the same name has orphaned."""
    made = provider.blueprint(observed.lws, observed.spec) if provider is not None else None
    kinds = (STATEFUL_SET, SERVICE, *((made.kind,) if made is not None else ()))
    found = [(kind, observed.find(kind, observed.name)) for kind in kinds]
    found += [(CONTROLLER_REVISION, revision) for revision in observed.left_behind]
    return [
        Write(kind, adopted(obj, LEADER_WORKER_SET, observed.lws))
        for kind, obj in found
        if obj is not None and _is_orphan(obj, observed)
    ]


def _is_orphan(obj: Json, observed: ObservedLeaderWorkerSet) -> bool:
    """What people have made has no such label."""
    return labels_of(obj).get(NAME) == observed.name and not controller_uid(obj) and not is_deleting(obj)


def prerequisites(
    observed: ObservedLeaderWorkerSet, provider: SchedulerProvider | None, served: frozenset[Kind]
) -> Prerequisites:
    taken = observed.find(STATEFUL_SET, observed.name)
    if taken is not None and not _belongs(taken, observed):
        text = f"StatefulSet {observed.name} exists, and does not belong to this LeaderWorkerSet"
        return Prerequisites([], ConditionReport(AVAILABLE, "NameTaken", text, "False"))
    asked = asked_provider(observed.lws)
    if not is_known(asked):
        text = f"there is no provider {asked}; the annotation {PROVIDER} names one of {', '.join(PROVIDERS)}"
        return Prerequisites([], ConditionReport(SCHEDULING_READY, "UnknownProvider", text, "False"))
    if provider is None:
        return Prerequisites([])
    missing = [kind.group_resource for kind in provider.kinds if kind not in served]
    if missing:
        text = f"provider {provider.name} needs {', '.join(missing)}, which the cluster does not serve"
        return Prerequisites([], ConditionReport(SCHEDULING_READY, "APINotAvailable", text, "False"))
    made = provider.blueprint(observed.lws, observed.spec)
    return Prerequisites([]) if made is None else _present(observed, made)


def _present(observed: ObservedLeaderWorkerSet, made: Made) -> Prerequisites:
    existing = observed.find(made.kind, observed.name)
    if existing is None:
        return Prerequisites([Create(made.kind, made.obj)])
    if not _belongs(existing, observed):
        text = f"{made.kind.name} {observed.name} exists, and does not belong to this LeaderWorkerSet"
        return Prerequisites([], ConditionReport(SCHEDULING_READY, "WorkloadCreateFailed", text, "False"))
    changed = _with_minimum_of(existing, made.obj)
    return Prerequisites([Write(made.kind, changed)] if changed != existing else [])


def _belongs(obj: Json, observed: ObservedLeaderWorkerSet) -> bool:
    return controller_uid(obj) == str(observed.lws["metadata"]["uid"])


def _with_minimum_of(existing: Json, wanted: Json) -> Json:
    """The minimum alone may change; the rest of it is as it was when the set was made."""
    (policy,) = (template["schedulingPolicy"] for template in wanted["spec"]["podGroupTemplates"])
    templates = [
        template | {"schedulingPolicy": policy} for template in existing["spec"]["podGroupTemplates"]
    ]
    return existing | {"spec": existing["spec"] | {"podGroupTemplates": templates}}
