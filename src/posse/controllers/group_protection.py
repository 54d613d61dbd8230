"""Deleted PodGroups and CompositePodGroups stay while they are in use; then their protection finalizer is
removed.

Admission adds the finalizer; where there is none, the controller adds it to groups with pods. A PodGroup is
in use by its pods until these have ended: pods that are being
deleted still hold their resources. A CompositePodGroup is in use by the groups that name it as their parent,
so trees go from the leaves to the root. Composites that are each other's ancestors do not wait for each other
once all of them are deleted.
"""

from typing import Any

from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Amend, Plan
from posse.engine.groups.forms import POSSE_LABEL
from posse.kinds.admission import POD_GROUP_FINALIZER
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import COMPOSITE_POD_GROUP, POD, POD_GROUP, POSSE_POD_GROUP
from posse.model.pod import ENDED_PHASES

Json = dict[str, Any]


class PodGroupProtection(Reconciler):
    """Keys are namespace and name of groups."""

    reporter = "podgroup-protection"

    def __init__(self, kind: Kind = POD_GROUP, *, adds_finalizer: bool = False) -> None:
        """`kind` is one of PodGroup; `adds_finalizer` is for API servers without our admission."""
        self._kind = kind
        self._adds_finalizer = adds_finalizer
        self.kinds = (POD, kind)
        self.selectors = {POD: POSSE_LABEL} if kind is POSSE_POD_GROUP else {}
        # Groups that have no finalizer and should get one.
        self._unprotected: dict[str, Json] = {}
        # Uids of groups that had the finalizer: who removes it wants the group to go.
        self._protected: set[str] = set()
        # Protected groups that are being deleted.
        self._deleted: dict[str, Json] = {}
        # The live pods of each group, and for each such pod its group. Groups without any have no entry.
        self._members: dict[str, set[str]] = {}
        self._group_of: dict[str, str] = {}
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is POD:
            self._see_pod(obj)
            return
        key = _key(obj)
        self._forget(key)
        if self._adds_finalizer and _is_protected(obj):
            self._protected.add(obj["metadata"]["uid"])
        if is_deleted(obj):
            self._deleted[key] = obj
            self.touched.add(key)
        elif self._adds_finalizer and self._wants_protection(obj):
            self._unprotected[key] = obj
            self.touched.add(key)

    def lose(self, kind: Kind, obj: Json) -> None:
        if kind is POD:
            self._lose_pod(_key(obj))
        else:
            self._forget(_key(obj))
            self._protected.discard(obj["metadata"]["uid"])

    def _forget(self, key: str) -> None:
        self._deleted.pop(key, None)
        self._unprotected.pop(key, None)

    def _wants_protection(self, group: Json) -> bool:
        metadata = group["metadata"]
        is_new = not metadata.get("deletionTimestamp") and metadata["uid"] not in self._protected
        return is_new and not _is_protected(group)

    def plan(self, key: str, _now: float) -> Plan:
        deleted, unprotected = self._deleted.get(key), self._unprotected.get(key)
        if deleted is not None and key not in self._members:
            return _release(self._kind, deleted)
        if unprotected is not None and key in self._members:
            return _protect(self._kind, unprotected)
        return Plan()

    def _see_pod(self, pod: Json) -> None:
        key, group = _key(pod), group_in_use(pod, self._kind)
        known = self._group_of.get(key)
        if known != group:
            self._lose_pod(key)
            if group is not None:
                self._group_of[key] = group
                self._members.setdefault(group, set()).add(key)
                if group in self._unprotected:
                    self.touched.add(group)

    def _lose_pod(self, key: str) -> None:
        group = self._group_of.pop(key, None)
        if group is None:
            return
        self._members[group].discard(key)
        if not self._members[group]:
            del self._members[group]
            self.touched.add(group)


class CompositeProtection(Reconciler):
    """Keys are namespace and name of composites."""

    reporter = "compositepodgroup-protection"

    def __init__(self, kind: Kind = COMPOSITE_POD_GROUP, leaf_kind: Kind = POD_GROUP) -> None:
        self._kind = kind
        self.kinds = (leaf_kind, kind)
        # Protected composites that are being deleted.
        self._deleted: dict[str, Json] = {}
        # The groups that name each parent. Parents without any have no entry.
        self._children: dict[str, set[tuple[Kind, str]]] = {}
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        """The parent of a group never changes."""
        key, parent = _key(obj), _parent_of(obj)
        if parent is not None:
            self._children.setdefault(parent, set()).add((kind, key))
        if kind is self._kind:
            if is_deleted(obj):
                self._deleted[key] = obj
                self.touched.add(key, *self._deleted_ancestors(key))
            else:
                self._deleted.pop(key, None)

    def lose(self, kind: Kind, obj: Json) -> None:
        key, parent = _key(obj), _parent_of(obj)
        if kind is self._kind:
            self._deleted.pop(key, None)
        if parent is None:
            return
        siblings = self._children.get(parent, set())
        siblings.discard((kind, key))
        if not siblings:
            self._children.pop(parent, None)
        self.touched.add(parent)

    def plan(self, key: str, _now: float) -> Plan:
        group = self._deleted.get(key)
        return _release(self._kind, group) if group is not None and self._is_free(key) else Plan()

    def _is_free(self, key: str) -> bool:
        children = self._children.get(key)
        if not children:
            return True
        circle = self._deleted_ancestors(key)
        return all(kind is self._kind and child in circle for kind, child in children)

    def _deleted_ancestors(self, key: str) -> dict[str, None]:
        """From the parent up, as long as they are being deleted; the key itself is among them in a circle."""
        found: dict[str, None] = {}
        parent = _parent_of(self._deleted[key])
        while parent is not None and parent in self._deleted and parent not in found:
            found[parent] = None
            parent = _parent_of(self._deleted[parent])
        return found


def is_deleted(group: Json) -> bool:
    """Whether a protected group is being deleted."""
    return _is_protected(group) and bool(group["metadata"].get("deletionTimestamp"))


def _is_protected(group: Json) -> bool:
    return POD_GROUP_FINALIZER in (group["metadata"].get("finalizers") or ())


def group_in_use(pod: Json, kind: Kind = POD_GROUP) -> str | None:
    """Return the key of the group of that kind that the pod protects, if any."""
    if (pod.get("status") or {}).get("phase") in ENDED_PHASES:
        return None
    if kind is POSSE_POD_GROUP:
        group = (pod["metadata"].get("labels") or {}).get(POSSE_LABEL)
    else:
        group = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")
    return f"{pod['metadata']['namespace']}/{group}" if group else None


def _protect(kind: Kind, group: Json) -> Plan:
    metadata = group["metadata"]
    finalizers = [*(metadata.get("finalizers") or ()), POD_GROUP_FINALIZER]
    identity = {key: metadata[key] for key in ("uid", "resourceVersion")}
    return Plan(stages=[[Amend(kind, group, {"metadata": {**identity, "finalizers": finalizers}})]])


def _release(kind: Kind, group: Json) -> Plan:
    metadata = group["metadata"]
    finalizers = [item for item in metadata["finalizers"] if item != POD_GROUP_FINALIZER]
    identity = {key: metadata[key] for key in ("uid", "resourceVersion")}
    return Plan(stages=[[Amend(kind, group, {"metadata": {**identity, "finalizers": finalizers or None}})]])


def _parent_of(group: Json) -> str | None:
    parent = (group.get("spec") or {}).get("parentCompositePodGroupName")
    return f"{group['metadata']['namespace']}/{parent}" if parent else None


def _key(obj: Json) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"
