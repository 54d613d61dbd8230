"""Gangs for LeaderWorkerSets of another controller: those that ask for the provider posse get a Workload and,
for each leader, a group. Pods that wait at the gate for it are put into their group; everything else is left
alone.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from posse.controllers.gated_pods import is_waiting, joined
from posse.controllers.leader_worker_sets.keys import (
    GROUP_INDEX,
    NAME,
    annotations_of,
    is_leader,
    labels_of,
)
from posse.controllers.leader_worker_sets.observed_set import ObservedLeaderWorkerSet
from posse.controllers.leader_worker_sets.prerequisites import prerequisites
from posse.controllers.leader_worker_sets.providers.posse import PosseCrdProvider
from posse.controllers.observed import ObservedObjects
from posse.controllers.reconciler import EventDedup, Reconciler, Touched
from posse.controllers.steps import Create, News, Plan, Write, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import LEADER_WORKER_SET, POD, STATEFUL_SET
from posse.model.decoding import decode
from posse.model.leader_worker_set import EXCLUSIVE_TOPOLOGY, PROVIDER, LeaderWorkerSet

Json = dict[str, Any]

ASKED_FOR = "posse"
DEADLOCK = News(
    "InvalidGang",
    f"with {EXCLUSIVE_TOPOLOGY} workers are made when their leader has its node, which a gang would wait for",
    is_warning=True,
)


class LeaderWorkerSetGangSidecar(Reconciler):
    """A Reconciler."""

    subject_kind = LEADER_WORKER_SET
    reporter = "posse-leaderworkerset-companion"

    def __init__(self) -> None:
        self._provider = PosseCrdProvider()
        self.kinds = (LEADER_WORKER_SET, *self._provider.kinds, STATEFUL_SET, POD)
        self.selectors = {STATEFUL_SET: NAME, POD: NAME}
        self.touched = Touched()
        self._observed = ObservedObjects()
        self._uids: dict[tuple[str, str], str] = {}
        self._reported = EventDedup()

    def see(self, kind: Kind, obj: Json) -> None:
        if self._observed.see(kind, obj):
            if kind is LEADER_WORKER_SET:
                self._uids[_place(obj, obj["metadata"]["name"])] = obj["metadata"]["uid"]
            self._touch_subject(obj)

    def lose(self, kind: Kind, obj: Json) -> None:
        self._observed.lose(obj)
        if kind is LEADER_WORKER_SET:
            self._reported.forget(obj["metadata"]["uid"])
            self._uids.pop(_place(obj, obj["metadata"]["name"]), None)
        self._touch_subject(obj)

    def subject(self, key: str) -> Json | None:
        return self._observed.get(key)

    def plan(self, key: str, _now: float) -> Plan:
        lws = self._observed.get(key)
        if lws is None or is_deleting(lws) or annotations_of(lws).get(PROVIDER) != ASKED_FOR:
            return Plan()
        if EXCLUSIVE_TOPOLOGY in annotations_of(lws):
            return self._reported.plan(key, DEADLOCK)
        observed = self._scene(lws)
        needed = prerequisites(observed, self._provider, frozenset(self._provider.kinds))
        if needed.obstacle is not None:
            return self._reported.plan(
                key, News(needed.obstacle.reason, needed.obstacle.message, is_warning=True)
            )
        self._reported.forget(key)
        result = Plan()
        result.then(*needed.steps)
        for leader in self._leaders(lws):
            self._serve(result, observed, leader)
        return result

    def _scene(self, lws: Json) -> ObservedLeaderWorkerSet:
        filled = deepcopy(lws)
        LEADER_WORKER_SET.rules.default(filled)
        namespace = lws["metadata"]["namespace"]
        return ObservedLeaderWorkerSet(
            lws=lws,
            spec=decode(LeaderWorkerSet, filled).spec,
            find=lambda kind, name: self._observed.at(kind, namespace, name),
        )

    def _leaders(self, lws: Json) -> Sequence[Json]:
        sets = self._observed.owned_by(lws["metadata"]["uid"], STATEFUL_SET)
        pods = [pod for item in sets for pod in self._observed.owned_by(item["metadata"]["uid"], POD)]
        return [
            pod for pod in pods if is_leader(pod) and GROUP_INDEX in labels_of(pod) and not is_deleting(pod)
        ]

    def _serve(self, result: Plan, observed: ObservedLeaderWorkerSet, leader: Json) -> None:
        provider = self._provider
        name = provider.group_of(leader)
        if not name and not is_waiting(leader):
            # It was scheduled by itself before a gang was asked for.
            return
        name = name or provider.name_group(leader, leader["metadata"]["uid"])
        made = provider.group(observed.lws, observed.spec, joined(leader, name))
        if observed.find(made.kind, name) is None:
            result.then(Create(made.kind, made.obj))
        sets = self._observed.owned_by(leader["metadata"]["uid"], STATEFUL_SET)
        workers = [pod for item in sets for pod in self._observed.owned_by(item["metadata"]["uid"], POD)]
        waiting = [pod for pod in (leader, *workers) if is_waiting(pod) and not is_deleting(pod)]
        result.then(*(Write(POD, joined(pod, name)) for pod in waiting))

    def _touch_subject(self, obj: Json) -> None:
        name = labels_of(obj).get(NAME) or obj["metadata"]["name"]
        if uid := self._uids.get(_place(obj, name)):
            self.touched.add(uid)


def _place(obj: Json, name: str) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), name
