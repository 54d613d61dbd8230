"""A namespace that is being deleted is emptied first; when nothing is left in it, its finalizer is removed.

Pods go before everything else, so that what they use is there until they have ended. Objects that are already
being deleted are waited for.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Amend, Delete, ExpectAbsent, Plan, Write, is_deleting
from posse.kinds.core.namespaces import CONTENT_FINALIZER
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import KINDS, NAMESPACE, POD
from posse.model.timestamps import format_timestamp

Json = dict[str, Any]

CONTENT_REMAINING = "NamespaceContentRemaining"
# What Kubernetes says beside it as long as nothing goes wrong: type, reason and message.
NO_FAILURES = (
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    (
        "NamespaceDeletionGroupVersionParsingFailure",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
)

NAMESPACED_KINDS = tuple(kind for kind in KINDS if kind.namespaced and kind.stored is kind)


class _Content(NamedTuple):
    """An object in a namespace; not all of it is kept, since there may be many thousands."""

    kind: Kind
    name: str
    is_deleting: bool


class NamespaceDeletion(Reconciler):
    """Keys are names of namespaces."""

    reporter = "namespace-controller"
    kinds = (NAMESPACE, *NAMESPACED_KINDS)

    def __init__(self) -> None:
        self._terminating: dict[str, Json] = {}
        # By namespace and uid.
        self._contents: defaultdict[str, dict[str, _Content]] = defaultdict(dict)
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        metadata = obj["metadata"]
        if kind is not NAMESPACE:
            content = _Content(kind, metadata["name"], is_deleting(obj))
            self._contents[metadata["namespace"]][metadata["uid"]] = content
            self._touch(metadata["namespace"])
        elif is_deleting(obj):
            self._terminating[metadata["name"]] = obj
            self.touched.add(metadata["name"])

    def lose(self, kind: Kind, obj: Json) -> None:
        metadata = obj["metadata"]
        if kind is NAMESPACE:
            self._terminating.pop(metadata["name"], None)
            return
        contents = self._contents[metadata["namespace"]]
        contents.pop(metadata["uid"], None)
        if not contents:
            del self._contents[metadata["namespace"]]
        if not contents or kind is POD:
            self._touch(metadata["namespace"])

    def plan(self, key: str, now: float) -> Plan:
        namespace = self._terminating.get(key)
        if namespace is None:
            return Plan()
        result = Plan()
        contents = self._contents.get(key, {})
        if contents:
            result.then(*_remaining(namespace, [each.kind for each in contents.values()], now))
            pods = {uid: each for uid, each in contents.items() if each.kind is POD}
            left = {uid: each for uid, each in (pods or contents).items() if not each.is_deleting}
            result.then(
                *(Delete(each.kind, _identity(key, each.name, uid), "") for uid, each in left.items())
            )
            return result
        finalizers = (namespace.get("spec") or {}).get("finalizers") or []
        if CONTENT_FINALIZER in finalizers:
            others = [item for item in finalizers if item != CONTENT_FINALIZER]
            spec = {**namespace["spec"], "finalizers": others}
            result.then(*(ExpectAbsent(kind, key) for kind in NAMESPACED_KINDS))
            result.then(Write(NAMESPACE, namespace | {"spec": spec}, "finalize"))
        return result

    def _touch(self, namespace: str) -> None:
        if namespace in self._terminating:
            self.touched.add(namespace)


def _identity(namespace: str, name: str, uid: str) -> Json:
    return {"metadata": {"namespace": namespace, "name": name, "uid": uid}}


def _remaining(namespace: Json, kinds: Iterable[Kind], now: float) -> Iterator[Amend]:
    """Say what is left in a namespace; how much of it is counted once, when the deletion begins."""
    conditions = (namespace.get("status") or {}).get("conditions") or ()
    if any(each.get("type") == CONTENT_REMAINING for each in conditions):
        return
    counts = Counter(kind.group_resource for kind in kinds)
    parts = ", ".join(f"{name} has {count} resource instances" for name, count in sorted(counts.items()))
    remaining = (CONTENT_REMAINING, "SomeResourcesRemain", f"Some resources are remaining: {parts}")
    said = [_condition(*failure, "False", now) for failure in NO_FAILURES] + [
        _condition(*remaining, "True", now)
    ]
    patch = {"metadata": {"uid": namespace["metadata"]["uid"]}, "status": {"conditions": said}}
    yield Amend(NAMESPACE, namespace, patch, "status", is_strategic=True)


def _condition(name: str, reason: str, message: str, status: str, now: float) -> Json:
    time = format_timestamp(now)
    return {"type": name, "status": status, "reason": reason, "message": message, "lastTransitionTime": time}
