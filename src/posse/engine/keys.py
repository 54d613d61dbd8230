"""Names of pods, groups and claims, as events and decisions use them.

They are Structs, because every event makes some and looks some up: these are quick to make, keep their hash,
and the garbage collector does not look at them. In recordings, keys are arrays.
"""

from dataclasses import dataclass, field

import msgspec


class PodRef(msgspec.Struct, frozen=True, gc=False):
    namespace: str
    name: str
    uid: str
    scheduler_name: str = ""
    """The scheduler that reports on the pod. It does not count in comparisons."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PodRef):
            return NotImplemented
        return (self.uid, self.name, self.namespace) == (other.uid, other.name, other.namespace)

    def __hash__(self) -> int:
        return hash((self.namespace, self.name, self.uid))


NATIVE_FORM = "scheduling.k8s.io"
WORKLOAD_FORM = "workloadRef"
"""The two forms of Kubernetes itself. Messages name a form only if it is another."""


class GroupKey(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False, cache_hash=True):
    """Name of a group."""

    namespace: str
    name: str
    """Identifies the object that describes the group."""
    form: str = NATIVE_FORM
    """Name of the GroupForm that describes it (`engine/groups/forms.py`)."""
    pod_group: str = ""
    """The group within the object, where one object describes several."""
    replica_key: str = ""
    """The replica of that group; each replica is a group by itself."""
    is_composite: bool = False
    """Whether it is a composite group."""

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}"
        if self.is_composite:
            origin = "" if self.form == NATIVE_FORM else f" of {self.form}"
            return f"{place} (CompositePodGroup{origin})"
        if self.form in (NATIVE_FORM, WORKLOAD_FORM):
            return "/".join(filter(None, (place, self.pod_group, self.replica_key)))
        return f"{place} ({self.form})"


class ClaimKey(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False, cache_hash=True):
    """Name of a claim, for volumes or devices."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class GroupRef:
    key: GroupKey
    uid: str
    """Identifies the object that describes the group."""
    scheduler_name: str = field(default="", compare=False)
