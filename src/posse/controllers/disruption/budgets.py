"""Keeps the status of PodDisruptionBudgets: how many pods are healthy, and how many may be disrupted.

Where a limit is a part of a whole, the whole is the size that the controllers of the pods want, not the
number of pods there are.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from posse.controllers.observed import ObservedObjects
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import News, Plan, Write, controller_of, is_deleting
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import KINDS, POD, POD_DISRUPTION_BUDGET
from posse.kinds.scheduling.budget_status import with_condition
from posse.model.decoding import decode
from posse.model.disruption_budget import PodDisruptionBudgetSpec
from posse.model.pod_readiness import ready_since
from posse.model.selectors import LabelQuery, SelectorError, label_query
from posse.model.shares import part_of
from posse.model.timestamps import TimestampError, parse_timestamp

# Kinds that say how many pods they want.
SCALABLE = tuple(kind for kind in KINDS if "scale" in kind.subresources)
# An eviction that did not delete its pod within this time is forgotten.
DISRUPTION_SECONDS = 120.0


class _Budget(NamedTuple):
    obj: Json
    pods: LabelQuery
    members: dict[str, None]
    """The uids of pods that it covers."""


class _Counts(NamedTuple):
    expected: int
    desired: int
    failure: str = ""


class DisruptionBudgets(Reconciler):
    """Keys are uids of budgets."""

    reporter = "controllermanager"
    kinds = (*SCALABLE, POD_DISRUPTION_BUDGET, POD)
    subject_kind = POD_DISRUPTION_BUDGET

    def __init__(self) -> None:
        self._owners = ObservedObjects()
        self._pods: defaultdict[str, dict[str, Json]] = defaultdict(dict)
        """Pods by namespace and uid."""
        self._budgets: defaultdict[str, dict[str, _Budget]] = defaultdict(dict)
        """Budgets by namespace and uid."""
        self._places: dict[str, str] = {}
        self.touched = Touched()

    def subject(self, key: str) -> Json | None:
        budget = self._budget(key)
        return budget.obj if budget is not None else None

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is POD:
            self._see_pod(obj)
        elif kind is POD_DISRUPTION_BUDGET:
            self._see_budget(obj)
        elif self._owners.see(kind, obj):
            self.touched.add(*self._budgets[obj["metadata"]["namespace"]])

    def lose(self, kind: Kind, obj: Json) -> None:
        namespace, uid = obj["metadata"]["namespace"], obj["metadata"]["uid"]
        if kind is POD:
            self._pods[namespace].pop(uid, None)
            for key, budget in self._budgets[namespace].items():
                if budget.members.pop(uid, 0) is None:
                    self.touched.add(key)
        elif kind is POD_DISRUPTION_BUDGET:
            self._budgets[namespace].pop(uid, None)
            self._places.pop(uid, None)
        else:
            self._owners.lose(obj)
            self.touched.add(*self._budgets[namespace])

    def plan(self, key: str, now: float) -> Plan:
        budget = self._budget(key)
        if budget is None or is_deleting(budget.obj):
            return Plan()
        pods = [self._pods[self._places[key]][uid] for uid in budget.members]
        counts = self._counts(decode(PodDisruptionBudgetSpec, budget.obj.get("spec") or {}), pods)
        disrupted = _disrupted(budget.obj, pods, now)
        before = budget.obj.get("status") or {}
        status = with_condition(
            _status(budget.obj, counts, pods, disrupted), *_stamp(budget.obj, now, counts)
        )
        result = Plan(wake_at=min((at + DISRUPTION_SECONDS for at in disrupted.values()), default=None))
        if status != before:
            result.then(Write(POD_DISRUPTION_BUDGET, budget.obj | {"status": status}, "status"))
            if counts.failure and _failure_of(before) != counts.failure:
                result.news.append(News("CalculateExpectedPodCountFailed", counts.failure, is_warning=True))
            elif not pods and not before:
                result.news.append(News("NoPods", "No matching pods found"))
        return result

    def _budget(self, key: str) -> _Budget | None:
        return self._budgets[self._places[key]].get(key) if key in self._places else None

    def _see_pod(self, pod: Json) -> None:
        namespace, uid = pod["metadata"]["namespace"], pod["metadata"]["uid"]
        self._pods[namespace][uid] = pod
        labels = pod["metadata"].get("labels") or {}
        for key, budget in self._budgets[namespace].items():
            was_member, is_member = uid in budget.members, budget.pods.matches(labels)
            if is_member:
                budget.members[uid] = None
            elif was_member:
                del budget.members[uid]
            if was_member or is_member:
                self.touched.add(key)

    def _see_budget(self, obj: Json) -> None:
        namespace, uid = obj["metadata"]["namespace"], obj["metadata"]["uid"]
        try:
            query = label_query(decode(PodDisruptionBudgetSpec, obj.get("spec") or {}).selector)
        except SelectorError:
            query = LabelQuery(nothing=True)
        pods = self._pods[namespace].items()
        members = {
            pod_uid: None for pod_uid, pod in pods if query.matches(pod["metadata"].get("labels") or {})
        }
        self._budgets[namespace][uid] = _Budget(obj, query, members)
        self._places[uid] = namespace
        self.touched.add(uid)

    def _counts(self, spec: PodDisruptionBudgetSpec, pods: Sequence[Json]) -> _Counts:
        if spec.max_unavailable is not None:
            expected, failure = self._wanted(pods)
            gone = part_of(spec.max_unavailable, expected, rounded_up=True)
            return _Counts(expected, max(0, expected - gone), failure)
        if isinstance(spec.min_available, str):
            expected, failure = self._wanted(pods)
            return _Counts(expected, part_of(spec.min_available, expected, rounded_up=True), failure)
        return _Counts(len(pods), spec.min_available or 0)

    def _wanted(self, pods: Iterable[Json]) -> tuple[int, str]:
        """Return the size that the controllers of the pods want, or why that is not known."""
        sizes: dict[str, int] = {}
        for pod in pods:
            reference = controller_of(pod)
            if not reference:
                continue
            owner = self._owners.get(reference["uid"])
            if owner is None:
                text = f"{reference['kind']} {reference['name']} does not implement the scale subresource"
                return 0, text
            above = controller_of(owner)
            if above and above["kind"] == "Deployment" and (top := self._owners.get(above["uid"])):
                owner = top
            sizes[owner["metadata"]["uid"]] = _replicas(owner)
        return sum(sizes.values()), ""


def _replicas(owner: Json) -> int:
    size = (owner.get("spec") or {}).get("replicas")
    return 1 if size is None else int(size)


def _disrupted(budget: Json, pods: Iterable[Json], now: float) -> dict[str, float]:
    """Return the evictions that have not been seen to delete their pods, and when each was granted."""
    granted = (budget.get("status") or {}).get("disruptedPods") or {}
    staying = {pod["metadata"]["name"] for pod in pods if not is_deleting(pod)}
    times = {name: _time(text) for name, text in granted.items() if name in staying}
    return {name: at for name, at in times.items() if at + DISRUPTION_SECONDS > now}


def _time(text: str) -> float:
    try:
        return parse_timestamp(text)
    except TimestampError:
        return 0.0


def _status(budget: Json, counts: _Counts, pods: Iterable[Json], disrupted: dict[str, float]) -> Json:
    healthy = sum(
        ready_since(pod) is not None and not is_deleting(pod) and pod["metadata"]["name"] not in disrupted
        for pod in pods
    )
    before = budget.get("status") or {}
    granted = {name: text for name, text in (before.get("disruptedPods") or {}).items() if name in disrupted}
    allowed = 0 if counts.failure or counts.expected <= 0 else max(0, healthy - counts.desired)
    status = {
        "observedGeneration": budget["metadata"].get("generation") or 0,
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": counts.desired,
        "expectedPods": counts.expected,
    }
    if granted:
        status["disruptedPods"] = granted
    return status | ({"conditions": before["conditions"]} if before.get("conditions") else {})


def _stamp(budget: Json, now: float, counts: _Counts) -> tuple[int, float, str]:
    return budget["metadata"].get("generation") or 0, now, counts.failure


def _failure_of(status: Json) -> str:
    return next((each.get("message", "") for each in status.get("conditions") or ()), "")
