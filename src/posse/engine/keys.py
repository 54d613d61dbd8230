"""Names of pods, groups and claims, as events and decisions use them."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class PodRef:
    namespace: str
    name: str
    uid: str
    scheduler_name: str = field(default="", compare=False)
    """Under whose name we speak about the pod."""


class Form(StrEnum):
    """In which API a group is described, and thereby how its pods name it."""

    NATIVE = "scheduling.k8s.io"
    WORKLOAD = "workloadRef"
    """Implied by pods that name a Workload and a group in it; there is no object for it."""
    POSSE = "scheduling.posse.dev"
    COSCHEDULING = "scheduling.x-k8s.io"
    VOLCANO = "scheduling.volcano.sh"


class GroupKey(NamedTuple):
    """A tuple, because it is looked up all the time: those are hashed several times faster than anything else of ours."""

    namespace: str
    name: str
    """Of the object that describes the group."""
    form: Form = Form.NATIVE
    pod_group: str = ""
    """Which group of a Workload."""
    replica_key: str = ""
    """Which replica of it; each is a group by itself."""
    is_composite: bool = False
    """Whether it is a group of groups."""

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}"
        if self.is_composite:
            origin = "" if self.form is Form.NATIVE else f" of {self.form}"
            return f"{place} (CompositePodGroup{origin})"
        match self.form:
            case Form.NATIVE:
                return place
            case Form.WORKLOAD:
                return "/".join(filter(None, (place, self.pod_group, self.replica_key)))
            case _:
                return f"{place} ({self.form})"


@dataclass(frozen=True, slots=True)
class ClaimKey:
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class GroupRef:
    key: GroupKey
    uid: str
    """Of the object that describes the group."""
    scheduler_name: str = field(default="", compare=False)
