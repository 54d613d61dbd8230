"""Writes of the simulated nodes to the API; the fleet decides on them, the runtime carries them out."""

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PatchPodStatus:
    """The patch carries uid and resourceVersion: it applies to the pod as it was seen, or is refused."""

    namespace: str
    name: str
    patch: Json


@dataclass(frozen=True, slots=True)
class RemovePod:
    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class WarnAboutPod:
    """Tell the pod's author, by an event, what could not be made sense of."""

    namespace: str
    name: str
    uid: str
    message: str
    reason: str = "InvalidAnnotation"


@dataclass(frozen=True, slots=True)
class PatchNodeStatus:
    name: str
    patch: Json


@dataclass(frozen=True, slots=True)
class RenewLease:
    """A node's sign of life. `lease` is the whole object, for the first time there is none to patch."""

    node: str
    lease: Json


@dataclass(frozen=True, slots=True)
class RemoveLease:
    node: str


@dataclass(frozen=True, slots=True)
class Stuck:
    """Nothing to write: a bug prevented working out what is due for `what`; it is logged."""

    what: str
    error: Exception


Write = PatchPodStatus | RemovePod | WarnAboutPod | PatchNodeStatus | RenewLease | RemoveLease | Stuck
