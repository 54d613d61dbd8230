"""The Deployment controller: a ReplicaSet per template, and the steps from the old ones to the new one."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from posse.controllers.deployments.revisions import (
    REVISION,
    annotations_for,
    current_set,
    new_set,
    next_revision,
    outdated,
    revision_of,
)
from posse.controllers.deployments.rollout import SetSize, limits_of, recreated, rolled
from posse.controllers.deployments.statuses import next_status, stalls_at
from posse.controllers.observed import ObservedObjects
from posse.controllers.reconciler import OwnerReconciler
from posse.controllers.steps import (
    Amend,
    Create,
    Delete,
    News,
    Plan,
    Write,
    adopted,
    controller_uid,
    is_deleting,
)
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import DEPLOYMENT, REPLICA_SET
from posse.model.decoding import decode
from posse.model.deployment import RECREATE, Deployment, DeploymentSpec
from posse.model.selectors import label_query

NO_PODS = SetSize(0)


class OtherSets:
    """The ReplicaSets of all namespaces, by name; those that have no controller are orphans."""

    def __init__(self) -> None:
        self._sets = ObservedObjects()
        # Uids of orphans, by namespace.
        self._orphans: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def see(self, obj: Json) -> bool:
        """Return whether the set is an orphan."""
        metadata = obj["metadata"]
        self._sets.see(REPLICA_SET, obj)
        self._orphans[metadata["namespace"]].pop(metadata["uid"], None)
        is_orphan = not controller_uid(obj) and not is_deleting(obj)
        if is_orphan:
            self._orphans[metadata["namespace"]][metadata["uid"]] = None
        return is_orphan

    def lose(self, obj: Json) -> None:
        self._sets.lose(obj)
        self._orphans[obj["metadata"]["namespace"]].pop(obj["metadata"]["uid"], None)

    def is_taken(self, namespace: str, name: str) -> bool:
        return self._sets.at(REPLICA_SET, namespace, name) is not None

    def adoptable(self, deployment: Json) -> list[Json]:
        """Return the orphans that the selector of the Deployment matches."""
        orphans = self._orphans.get(deployment["metadata"]["namespace"])
        selector = decode(Deployment, deployment).spec.selector if orphans else None
        if not orphans or selector is None:
            return []
        query = label_query(selector)
        found = [each for uid in orphans if (each := self._sets.get(uid)) is not None]
        return [each for each in found if query.matches(each["metadata"].get("labels") or {})]


class DeploymentController(OwnerReconciler):
    subject_kind = DEPLOYMENT
    reporter = "deployment-controller"
    kinds = (DEPLOYMENT, REPLICA_SET)

    def __init__(self) -> None:
        super().__init__()
        self._sets = OtherSets()
        # Uids of Deployments, by namespace.
        self._deployments: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def see(self, kind: Kind, obj: Json) -> None:
        super().see(kind, obj)
        namespace = obj["metadata"]["namespace"]
        if kind is DEPLOYMENT:
            self._deployments[namespace][obj["metadata"]["uid"]] = None
        elif self._sets.see(obj):
            self.touched.add(*self._deployments[namespace])

    def lose(self, kind: Kind, obj: Json) -> None:
        super().lose(kind, obj)
        if kind is DEPLOYMENT:
            self._deployments[obj["metadata"]["namespace"]].pop(obj["metadata"]["uid"], None)
        else:
            self._sets.lose(obj)

    def plan(self, key: str, now: float) -> Plan:
        obj = self._observed.get(key)
        if obj is None or is_deleting(obj):
            return Plan()
        if orphans := self._sets.adoptable(obj):
            # What they are good for is planned when they belong to it.
            return Plan([[Write(REPLICA_SET, adopted(each, DEPLOYMENT, obj)) for each in orphans]])
        sets = sorted(self._observed.owned_by(key, REPLICA_SET), key=_age)
        staying = [each for each in sets if not is_deleting(each)]
        return plan(obj, staying, now, partial(self._sets.is_taken, obj["metadata"]["namespace"]))


def plan(obj: Json, sets: Sequence[Json], now: float, is_taken: Callable[[str], bool]) -> Plan:
    """Return what is to be done about a Deployment that is there to stay; its sets come oldest first.

    `is_taken` is true of names that any ReplicaSet has.
    """
    spec, current = decode(Deployment, obj).spec, current_set(obj, sets)
    old = [each for each in sets if each is not current]
    new_size, old_sizes = _next_sizes(spec, current, old)
    result, revision = Plan(), next_revision(current, sets)
    collisions = int((obj.get("status") or {}).get("collisionCount") or 0)
    if current is None and not spec.paused:
        made = new_set(obj, revision, new_size, collisions)
        while is_taken(made["metadata"]["name"]):
            collisions += 1
            made = new_set(obj, revision, new_size, collisions)
        result.then(Create(REPLICA_SET, made, failure="ReplicaSetCreateError"))
        result.news.append(_scaled(made["metadata"]["name"], 0, new_size))
    changes = [*zip(old, old_sizes, strict=True), *([(current, new_size)] if current is not None else [])]
    result.then(*(_resize(each, size, result) for each, size in changes if _size(each).wanted != size))
    if not spec.paused:
        result.then(*(Delete(REPLICA_SET, each) for each in outdated(obj, old)))
    status = next_status(obj, spec, limits_of(spec), current, old, now)
    if collisions:
        status["collisionCount"] = collisions
    if status != (obj.get("status") or {}):
        result.then(Write(DEPLOYMENT, obj | {"status": status}, "status"))
    # Last: it makes a new version of the Deployment.
    result.then(*_renumbered(obj, current, revision))
    result.wake_at = stalls_at(status, spec)
    return result


def _next_sizes(spec: DeploymentSpec, current: Json | None, old: Sequence[Json]) -> tuple[int, list[int]]:
    new, sizes = (_size(current) if current is not None else NO_PODS), [_size(each) for each in old]
    if spec.paused:
        return _resting(spec, new, sizes, has_current=current is not None)
    step = recreated if spec.strategy.type == RECREATE else rolled
    return step(limits_of(spec), sizes, new)


def _resting(
    spec: DeploymentSpec, new: SetSize, old: Sequence[SetSize], *, has_current: bool
) -> tuple[int, list[int]]:
    """While it is paused the newest set that has pods takes up the difference to what is wanted."""
    sizes = [each.wanted for each in old]
    missing = spec.wanted - new.wanted - sum(sizes)
    if has_current and (new.wanted or not any(sizes)):
        return max(0, new.wanted + missing), sizes
    newest = max((index for index, size in enumerate(sizes) if size), default=None)
    if newest is not None:
        sizes[newest] = max(0, sizes[newest] + missing)
    return new.wanted, sizes


def _size(each: Json) -> SetSize:
    status = each.get("status") or {}
    counts = (status.get(name) or 0 for name in ("replicas", "terminatingReplicas", "availableReplicas"))
    return SetSize(each["spec"].get("replicas") or 0, *counts)


def _resize(each: Json, size: int, result: Plan) -> Write:
    result.news.append(_scaled(each["metadata"]["name"], _size(each).wanted, size))
    return Write(REPLICA_SET, each | {"spec": each["spec"] | {"replicas": size}})


def _scaled(name: str, before: int, after: int) -> News:
    way = "up" if after >= before else "down"
    return News("ScalingReplicaSet", f"Scaled {way} replica set {name} from {before} to {after}")


def _renumbered(obj: Json, current: Json | None, revision: int) -> list[Amend]:
    """Bring the number of the revision, and annotations, to the set and to the Deployment."""
    steps = []
    if current is not None:
        wanted = annotations_for(obj, revision)
        if not wanted.items() <= (current["metadata"].get("annotations") or {}).items():
            steps.append(_annotate(REPLICA_SET, current, wanted))
        if revision_of(obj) != revision:
            steps.append(_annotate(DEPLOYMENT, obj, {REVISION: str(revision)}))
    return steps


def _annotate(kind: Kind, obj: Json, annotations: dict[str, str]) -> Amend:
    metadata = {"uid": obj["metadata"]["uid"], "annotations": annotations}
    return Amend(kind, obj, {"metadata": metadata}, is_strategic=True)


def _age(each: Json) -> tuple[str, int, str]:
    return each["metadata"].get("creationTimestamp") or "", revision_of(each), each["metadata"]["name"]
