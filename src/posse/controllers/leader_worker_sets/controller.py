"""The LeaderWorkerSet controller: objects seen go in; for each set that was touched a plan comes out.

It makes the StatefulSet of the leaders and, for each leader, what completes its replica. Everything of a
replica is owned by its leader, so that it goes when the leader goes; what makes and deletes the pods is the
StatefulSet controller.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from posse.controllers.leader_worker_sets.keys import NAME, annotations_of, is_leader, labels_of
from posse.controllers.leader_worker_sets.later_completion import completed, is_complete, prepare_leaders
from posse.controllers.leader_worker_sets.leaders import leader_set, limits_of, state_of, with_changes
from posse.controllers.leader_worker_sets.observed_set import Group, ObservedLeaderWorkerSet
from posse.controllers.leader_worker_sets.prerequisites import Prerequisites, adoptions, prerequisites
from posse.controllers.leader_worker_sets.providers.registry import GROUP_KINDS, provider_of_set
from posse.controllers.leader_worker_sets.replicas import serve_group, shared_service
from posse.controllers.leader_worker_sets.restarts import Loss, has_started
from posse.controllers.leader_worker_sets.revisions import Revision, current_revision, key_of
from posse.controllers.leader_worker_sets.rollout import GroupState, next_rollout
from posse.controllers.leader_worker_sets.statuses import SetProgress, next_status
from posse.controllers.observed import ObservedObjects
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Create, Delete, News, Plan, Write, controller_uid, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import (
    CONTROLLER_REVISION,
    LEADER_WORKER_SET,
    NODE,
    POD,
    SERVICE,
    STATEFUL_SET,
)
from posse.model.decoding import decode
from posse.model.leader_worker_set import EXCLUSIVE_TOPOLOGY, SHARED, LeaderWorkerSet

Json = dict[str, Any]

OWN_KINDS = (LEADER_WORKER_SET, CONTROLLER_REVISION, STATEFUL_SET, POD, SERVICE)


class LeaderWorkerSetController(Reconciler):
    subject_kind = LEADER_WORKER_SET
    reporter = "leaderworkerset-controller"

    def __init__(self, served: Collection[Kind], *, completes_pods: bool = False) -> None:
        """It `completes_pods` where the API server does not do that as they are made."""
        self._served = frozenset(served)
        self._completes_pods = completes_pods
        # Workers follow the node of their leader only where pods are completed at admission.
        nodes = () if completes_pods else (NODE,)
        self.kinds = (*OWN_KINDS, *nodes, *(kind for kind in GROUP_KINDS if kind in self._served))
        self.selectors = {POD: NAME}
        self._observed = ObservedObjects()
        self._uids: dict[tuple[str, str], str] = {}
        # Revisions (by uid) that name a set and are not claimed, by its namespace and name.
        self._unclaimed: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        self._nodes: dict[str, Mapping[str, str]] = {}
        # By the uid of a worker on a node, that of its leader; and what leaders have lost of such workers.
        self._leader_of: dict[str, str] = {}
        self._losses: dict[str, Loss] = {}
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is NODE:
            self._see_node(obj)
            return
        if (kind is POD and NAME not in labels_of(obj)) or not self._observed.see(kind, obj):
            return
        if kind is LEADER_WORKER_SET:
            self._uids[_place(obj)] = obj["metadata"]["uid"]
        elif kind is CONTROLLER_REVISION:
            self._note_revision(obj)
        elif kind is POD and not is_leader(obj):
            self._note_worker(obj)
        self._touch_subject(obj)

    def lose(self, kind: Kind, obj: Json) -> None:
        if kind is NODE:
            self._nodes.pop(obj["metadata"]["name"], None)
            return
        uid = obj["metadata"]["uid"]
        if kind is LEADER_WORKER_SET and self._uids.get(_place(obj)) == uid:
            del self._uids[_place(obj)]
        elif kind is CONTROLLER_REVISION:
            self._unclaimed[_named(obj)].pop(uid, None)
        elif kind is POD:
            self._losses.pop(uid, None)
            self._note_loss(self._leader_of.pop(uid, ""))
        self._observed.lose(obj)
        self._touch_subject(obj)

    def subject(self, key: str) -> Json | None:
        return self._observed.get(key)

    def plan(self, key: str, now: float) -> Plan:
        lws = self._observed.get(key)
        if lws is None or is_deleting(lws):
            return Plan()
        return plan(self._scene(lws), self._served, self._losses, now)

    def _see_node(self, node: Json) -> None:
        """Workers may wait to hear in which domain their leader is."""
        name, labels = node["metadata"]["name"], labels_of(node)
        if self._nodes.get(name) == labels:
            return
        self._nodes[name] = labels
        for uid in self._uids.values():
            lws = self._observed.get(uid)
            if lws is not None and EXCLUSIVE_TOPOLOGY in annotations_of(lws):
                self.touched.add(uid)

    def _note_revision(self, revision: Json) -> None:
        unclaimed = self._unclaimed[_named(revision)]
        if controller_uid(revision):
            unclaimed.pop(revision["metadata"]["uid"], None)
        else:
            unclaimed[revision["metadata"]["uid"]] = None

    def _note_worker(self, worker: Json) -> None:
        workers = self._observed.get(controller_uid(worker, STATEFUL_SET))
        if worker["spec"].get("nodeName") and workers is not None:
            self._leader_of[worker["metadata"]["uid"]] = controller_uid(workers, POD)

    def _note_loss(self, leader_uid: str) -> None:
        """The replica is still known as it was when it had the worker."""
        leader = self._observed.get(leader_uid)
        if leader is not None and self._losses.get(leader_uid) is not Loss.AFTER_START:
            group = self._group(leader)
            self._losses[leader_uid] = Loss.AFTER_START if has_started(group) else Loss.BEFORE_START

    def _touch_subject(self, obj: Json) -> None:
        # The set looks at every object of its name, also at those of other owners.
        name = labels_of(obj).get(NAME) or obj["metadata"]["name"]
        if uid := self._uids.get((obj["metadata"].get("namespace", ""), name)):
            self.touched.add(uid)

    def _scene(self, lws: Json) -> ObservedLeaderWorkerSet:
        uid, (namespace, name) = lws["metadata"]["uid"], _place(lws)
        sets = self._observed.owned_by(uid, STATEFUL_SET)
        leaders = next((item for item in sets if item["metadata"]["name"] == name), None)
        owned = self._observed.owned_by(leaders["metadata"]["uid"], POD) if leaders is not None else []
        # A leader that was not completed has no place in the set.
        groups = [self._group(pod) for pod in owned if is_leader(pod) and is_complete(pod)]
        pods = [*owned, *(worker for group in groups for worker in group.workers)]
        return ObservedLeaderWorkerSet(
            lws=lws,
            spec=decode(LeaderWorkerSet, lws).spec,
            history=self._observed.owned_by(uid, CONTROLLER_REVISION),
            left_behind=self._known(self._unclaimed.get((namespace, name), ())),
            leader_set=leaders,
            groups={group.index: group for group in groups},
            find=lambda kind, other: self._observed.at(kind, namespace, other),
            node_labels=lambda node: self._nodes.get(node, {}),
            completes_pods=self._completes_pods,
            incomplete=[pod for pod in pods if not is_complete(pod) and not is_deleting(pod)],
        )

    def _known(self, uids: Iterable[str]) -> list[Json]:
        found = [self._observed.get(uid) for uid in uids]
        return [obj for obj in found if obj is not None]

    def _group(self, leader: Json) -> Group:
        sets = self._observed.owned_by(leader["metadata"]["uid"], STATEFUL_SET)
        if not sets:
            return Group(leader)
        return Group(leader, sets[0], self._observed.owned_by(sets[0]["metadata"]["uid"], POD))


def plan(
    observed: ObservedLeaderWorkerSet, served: frozenset[Kind], losses: Mapping[str, Loss], now: float
) -> Plan:
    """Return what is to be done about a set that is there to stay."""
    result = Plan()
    provider = provider_of_set(observed.lws, served)
    found = adoptions(observed, provider)
    if found:
        # What follows rests on whose they are.
        return Plan(stages=[found])
    revision = current_revision(observed.lws, observed.history)
    needed = prerequisites(observed, provider, served)
    if revision.is_new and needed.obstacle is None:
        result.then(Create(CONTROLLER_REVISION, revision.obj))
        result.news.append(News("CreatingRevision", f"Creating revision with key {revision.key}"))
    result.then(*needed.steps)
    groups = group_states(observed, revision.key)
    _report(result, observed, groups, revision, needed, now)
    if observed.completes_pods:
        find_pod = partial(observed.find, POD)
        result.then(*(Write(POD, completed(pod, find_pod)) for pod in observed.incomplete))
    if needed.obstacle is None:
        _roll_out(result, observed, revision, groups, served)
        for index in sorted(observed.groups):
            group = observed.groups[index]
            loss = losses.get(group.leader["metadata"]["uid"], Loss.NONE)
            serve_group(result, observed, group, provider, loss)
    if observed.leader_set is not None and _is_at_rest(observed, groups):
        result.then(
            *(Delete(CONTROLLER_REVISION, old) for old in observed.history if key_of(old) != revision.key)
        )
    return result


def group_states(observed: ObservedLeaderWorkerSet, key: str) -> list[GroupState]:
    """Return a state for each replica that the StatefulSet of the leaders is to have."""
    count = state_of(observed.leader_set).replicas if observed.leader_set is not None else 0
    absent = GroupState(is_ready=False, is_updated=False)
    return [
        observed.groups[index].state(key) if index in observed.groups else absent for index in range(count)
    ]


def _roll_out(
    result: Plan,
    observed: ObservedLeaderWorkerSet,
    revision: Revision,
    groups: Sequence[GroupState],
    served: frozenset[Kind],
) -> None:
    existing, provider = observed.leader_set, provider_of_set(observed.lws, served)
    if existing is not None and is_deleting(existing):
        return
    state = state_of(existing) if existing is not None else None
    is_changed = existing is not None and key_of(existing) != revision.key
    rollout = next_rollout(limits_of(observed.spec), state, groups, is_changed=is_changed)
    wanted = leader_set(observed.lws, observed.spec, revision.key, rollout, provider)
    if observed.completes_pods:
        prepare_leaders(wanted["spec"]["template"], observed.namespace)
    changed = wanted if existing is None else with_changes(existing, wanted)
    if _shares_service(observed) and not observed.find(SERVICE, observed.name):
        result.then(Create(SERVICE, shared_service(observed.lws), unless_present=True))
    if existing is None:
        result.then(Create(STATEFUL_SET, wanted))
    elif changed is not None:
        result.then(Write(STATEFUL_SET, changed))


def _shares_service(observed: ObservedLeaderWorkerSet) -> bool:
    network = observed.spec.network_config
    return observed.completes_pods or network is None or network.subdomain_policy in (None, SHARED)


def _report(
    result: Plan,
    observed: ObservedLeaderWorkerSet,
    groups: Sequence[GroupState],
    revision: Revision,
    needed: Prerequisites,
    now: float,
) -> None:
    progress = SetProgress(groups, _is_updating(observed, revision.key), needed.obstacle)
    status, news = next_status(observed, limits_of(observed.spec), progress, now)
    if status != (observed.lws.get("status") or {}):
        result.then(Write(LEADER_WORKER_SET, observed.lws | {"status": status}, "status"))
        result.news += news


def _is_updating(observed: ObservedLeaderWorkerSet, key: str) -> bool:
    limits = limits_of(observed.spec)
    return any(
        limits.partition <= index < limits.replicas and group.revision != key
        for index, group in observed.groups.items()
    )


def _is_at_rest(observed: ObservedLeaderWorkerSet, groups: Sequence[GroupState]) -> bool:
    """Whether no replica is made from anything but the newest revision, nor will be."""
    state = state_of(observed.leader_set) if observed.leader_set is not None else None
    is_whole = len(groups) == len(observed.groups) and all(group.is_done for group in groups)
    return state is not None and state.partition == 0 and is_whole


def _named(obj: Json) -> tuple[str, str]:
    """The set that an object says it is of."""
    return obj["metadata"].get("namespace", ""), labels_of(obj).get(NAME, "")


def _place(obj: Json) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
