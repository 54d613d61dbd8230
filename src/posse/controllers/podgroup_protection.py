"""A PodGroup that is being deleted stays until its last pod has ended; then its protection is lifted.

The finalizer itself is put on by admission. Pods that are being deleted still count: they hold their resources.
"""

from typing import Any, NamedTuple

from posse.kinds.admission import POD_GROUP_FINALIZER
from posse.model.pod import ENDED_PHASES

Json = dict[str, Any]


class PodGroupName(NamedTuple):
    namespace: str
    name: str


class Release(NamedTuple):
    """Replace the finalizers of the group as it was seen; the patch names uid and resourceVersion."""

    namespace: str
    name: str
    patch: Json


class PodGroupProtection:
    """Objects seen go in; groups that may go come out, each once per change that allows it."""

    def __init__(self) -> None:
        # Groups that wait for deletion under protection; all others are of no interest.
        self._leaving: dict[PodGroupName, Json] = {}
        # The live pods of each group, and for each such pod its group. Groups without any have no entry.
        self._members: dict[PodGroupName, set[str]] = {}
        self._group_of: dict[PodGroupName, PodGroupName] = {}
        self._reconsider: dict[PodGroupName, None] = {}

    def see_group(self, group: Json) -> None:
        name = _name_of(group)
        if is_leaving(group):
            self._leaving[name] = group
            self._reconsider[name] = None
        else:
            self._leaving.pop(name, None)

    def lose_group(self, namespace: str, name: str) -> None:
        self._leaving.pop(PodGroupName(namespace, name), None)

    def see_pod(self, pod: Json) -> None:
        name, group = _name_of(pod), group_in_use(pod)
        known = self._group_of.get(name)
        if known != group:
            if known is not None:
                self.lose_pod(*name)
            if group is not None:
                self._group_of[name] = group
                self._members.setdefault(group, set()).add(name.name)

    def lose_pod(self, namespace: str, name: str) -> None:
        group = self._group_of.pop(PodGroupName(namespace, name), None)
        if group is None:
            return
        self._members[group].discard(name)
        if not self._members[group]:
            del self._members[group]
            self._reconsider[group] = None

    def releases(self) -> list[Release]:
        """Return the groups that may go by what has been seen since the last call."""
        reconsider, self._reconsider = self._reconsider, {}
        ready = [name for name in reconsider if name in self._leaving and name not in self._members]
        return [Release(*name, without_protection(self._leaving[name])) for name in ready]


def is_leaving(group: Json) -> bool:
    metadata = group["metadata"]
    is_protected = POD_GROUP_FINALIZER in (metadata.get("finalizers") or ())
    return is_protected and bool(metadata.get("deletionTimestamp"))


def group_in_use(pod: Json) -> PodGroupName | None:
    """Return the group that the pod keeps from going, if any."""
    if (pod.get("status") or {}).get("phase") in ENDED_PHASES:
        return None
    group = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")
    return PodGroupName(pod["metadata"]["namespace"], group) if group else None


def _name_of(obj: Json) -> PodGroupName:
    return PodGroupName(obj["metadata"]["namespace"], obj["metadata"]["name"])


def without_protection(group: Json) -> Json:
    metadata = group["metadata"]
    finalizers = [item for item in metadata["finalizers"] if item != POD_GROUP_FINALIZER]
    identity = {key: metadata[key] for key in ("uid", "resourceVersion")}
    return {"metadata": {**identity, "finalizers": finalizers or None}}
