"""What one replica needs once its leader exists: Service, group and workers, or to be recreated."""

from typing import Any

from posse.controllers.leader_worker_sets.keys import (
    GROUP_INDEX,
    LEADER_NAME,
    NAME,
    annotations_of,
    labels_of,
)
from posse.controllers.leader_worker_sets.later_completion import prepare_workers
from posse.controllers.leader_worker_sets.observed_set import Group, ObservedLeaderWorkerSet, is_ready
from posse.controllers.leader_worker_sets.providers.contract import SchedulerProvider
from posse.controllers.leader_worker_sets.restarts import Loss, reason_to_restart
from posse.controllers.leader_worker_sets.revisions import find_revision, restored
from posse.controllers.leader_worker_sets.workers import (
    bind_to_domain,
    draw_together,
    follows_leader,
    worker_set,
)
from posse.controllers.steps import Create, Delete, News, Plan, controller_uid, is_deleting, owner_reference
from posse.kinds.machinery.metadata import FOREGROUND_FINALIZER
from posse.kinds.registry import LEADER_WORKER_SET, POD, SERVICE, STATEFUL_SET
from posse.model.leader_worker_set import (
    EXCLUSIVE_TOPOLOGY,
    LEADER_READY,
    UNIQUE_PER_REPLICA,
    LeaderWorkerSetSpec,
)

Json = dict[str, Any]


def serve_group(
    plan: Plan,
    observed: ObservedLeaderWorkerSet,
    group: Group,
    provider: SchedulerProvider | None,
    loss: Loss,
) -> None:
    """Add to the plan what the replica needs."""
    if is_deleting(group.leader):
        _await_workers(plan, group)
        return
    is_gang = provider is not None and provider.waits_for_all and observed.spec.startup_policy != LEADER_READY
    reason = reason_to_restart(observed, group, loss=loss, is_gang=is_gang)
    if reason:
        name = group.leader["metadata"]["name"]
        plan.then(Delete(POD, group.leader, "Foreground"))
        plan.news.append(News("RecreateGroup", f"{reason}, recreating replica {name}"))
        return
    revision = find_revision(observed.history, group.revision)
    # The history may come later than the leader; what was made from nothing known cannot be completed.
    if revision is not None and LEADER_NAME not in annotations_of(group.leader):
        _complete(plan, observed, group, revision, provider)


def _await_workers(plan: Plan, group: Group) -> None:
    """Let a leader that goes wait for its workers: no new one shall be made while any of them is left."""
    is_waiting = FOREGROUND_FINALIZER in (group.leader["metadata"].get("finalizers") or ())
    if group.worker_set is not None and not is_waiting:
        plan.then(Delete(POD, group.leader, "Foreground"))


def _complete(
    plan: Plan,
    observed: ObservedLeaderWorkerSet,
    group: Group,
    revision: Json,
    provider: SchedulerProvider | None,
) -> None:
    leader, spec = group.leader, restored(observed.lws, revision)
    if _has_own_subdomain(spec):
        _make_once(plan, observed, Create(SERVICE, replica_service(observed.lws, leader)))
    if provider is not None and provider.group_of(leader):
        made = provider.group(observed.lws, spec, leader)
        if made is not None and not _make_once(plan, observed, Create(made.kind, made.obj)):
            return
    if spec.leader_worker_template.group_size > 1 and group.worker_set is None:
        workers = _workers(observed, leader, revision, provider)
        if workers is not None:
            _make_once(plan, observed, Create(STATEFUL_SET, workers))


def _workers(
    observed: ObservedLeaderWorkerSet, leader: Json, revision: Json, provider: SchedulerProvider | None
) -> Json | None:
    """Return the StatefulSet of the workers, None as long as they have to wait for the leader."""
    if observed.spec.startup_policy == LEADER_READY and not is_ready(leader):
        return None
    workers = worker_set(observed.lws, leader, revision, provider)
    if observed.completes_pods:
        prepare_workers(workers["spec"]["template"], leader)
    if EXCLUSIVE_TOPOLOGY not in annotations_of(observed.lws):
        return workers
    if not follows_leader(observed.spec, provider):
        draw_together(workers)
        return workers
    # A node may be seen later than the leader that is on it.
    domain = observed.node_labels(leader["spec"].get("nodeName") or "").get(_topology(observed))
    if domain is None:
        return None
    bind_to_domain(workers, domain)
    return workers


def _topology(observed: ObservedLeaderWorkerSet) -> str:
    return str(annotations_of(observed.lws)[EXCLUSIVE_TOPOLOGY])


def _make_once(plan: Plan, observed: ObservedLeaderWorkerSet, step: Create) -> bool:
    """Create a missing object; return whether it exists or will. One of an earlier leader must go first."""
    existing = observed.find(step.kind, step.obj["metadata"]["name"])
    if existing is None:
        plan.then(step)
        return True
    return controller_uid(existing) == controller_uid(step.obj) and not is_deleting(existing)


def _has_own_subdomain(spec: LeaderWorkerSetSpec) -> bool:
    network = spec.network_config
    return network is not None and network.subdomain_policy == UNIQUE_PER_REPLICA


def shared_service(lws: Json) -> Json:
    name = lws["metadata"]["name"]
    return _service(name, lws, {NAME: name}, owner_reference(LEADER_WORKER_SET, lws))


def replica_service(lws: Json, leader: Json) -> Json:
    selector = {NAME: lws["metadata"]["name"], GROUP_INDEX: labels_of(leader)[GROUP_INDEX]}
    return _service(leader["metadata"]["name"], lws, selector, owner_reference(POD, leader))


def _service(name: str, lws: Json, selector: Json, owner: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": name,
            "namespace": lws["metadata"]["namespace"],
            "labels": {NAME: lws["metadata"]["name"]},
            "ownerReferences": [owner],
        },
        # Pods must find each other before they are ready: some become ready only by that.
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector},
    }
