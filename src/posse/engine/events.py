"""Events reported to the engine, in the past tense.

Adapters translate watch events and responses into these.
"""

from dataclasses import dataclass

import msgspec

from posse.engine.decisions import MarkDisrupted, NotePriorities, PublishReservation, ReportGroup
from posse.engine.keys import ClaimKey, GroupKey
from posse.engine.placement_problem import Remedies, Solution
from posse.model.device import DeviceTaintRule, ResourceSlice
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.job import JobRunTime
from posse.model.meta import GroupObject
from posse.model.namespace import Namespace
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.priority_class import PriorityClass
from posse.model.resource_claim import DeviceClass, ResourceClaim
from posse.model.service import Service
from posse.model.volume import CSIDriver, CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from posse.model.workload import CompositePodGroup, Workload

StorageObject = PersistentVolume | PersistentVolumeClaim | StorageClass | CSINode | CSIDriver
DeviceObject = ResourceSlice | DeviceClass | ResourceClaim | DeviceTaintRule

ClusterObject = (
    Pod
    | Node
    | GroupObject
    | CompositePodGroup
    | Workload
    | Namespace
    | PodDisruptionBudget
    | PriorityClass
    | JobRunTime
    | Service
    | StorageObject
    | DeviceObject
)


class Observed(msgspec.Struct, frozen=True, gc=False):
    """The object exists and looks like this now; sent for the first sight and every later change."""

    obj: ClusterObject


class Vanished(msgspec.Struct, frozen=True, gc=False):
    """The object is gone; `obj` is its last known form."""

    obj: ClusterObject


@dataclass(frozen=True, slots=True)
class BindRefused:
    """The API server did not accept a binding; the pod is not on that node."""

    pod_uid: str
    node: str
    reason: str


@dataclass(frozen=True, slots=True)
class EvictionFailed:
    """A victim could not be deleted; preemptors that wait for its capacity have to try again."""

    pod_uid: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReportWithheld:
    """A report on the group was withheld because a binding of the same decision was refused."""

    group: GroupKey


@dataclass(frozen=True, slots=True)
class GroupReportFailed:
    """A report on the group was not written, or may have been and only the response is missing."""

    report: ReportGroup


@dataclass(frozen=True, slots=True)
class ReportFailed:
    """A report on the pod was not written."""

    pod_uid: str


@dataclass(frozen=True, slots=True)
class MarkFailed:
    """The group was not marked, or may have been and only the response is missing."""

    mark: MarkDisrupted | NotePriorities


@dataclass(frozen=True, slots=True)
class PublicationFailed:
    """The reservation was not published, or may have been and only the response is missing."""

    publication: PublishReservation


@dataclass(frozen=True, slots=True)
class ReleaseFailed:
    """The claim was not released, or may have been and only the response is missing."""

    claim: ClaimKey


Setback = (
    BindRefused
    | EvictionFailed
    | ReportWithheld
    | GroupReportFailed
    | ReportFailed
    | MarkFailed
    | PublicationFailed
    | ReleaseFailed
)


@dataclass(frozen=True, slots=True)
class ClaimWritten:
    """The write of a claim has ended, well or not."""

    claim: ClaimKey
    found: ResourceClaim | None
    """The claim as it is afterwards, if that is known."""


@dataclass(frozen=True, slots=True)
class Solved:
    """The exact search has finished, with or without an answer."""

    group: GroupKey
    number: int
    solution: Solution


@dataclass(frozen=True, slots=True)
class Advised:
    """The solver has determined what would let the group start."""

    group: GroupKey
    number: int
    remedies: Remedies | None
    """None if there is no answer, or the group could start without changes."""


@dataclass(frozen=True, slots=True)
class KnownRuns:
    """How long the latest runs of one kind took."""

    namespace: str
    """Empty for runs in all namespaces."""
    requests: dict[str, int] | None
    """Of one of its pods, by resource; None for runs of whatever pods."""
    pods: int
    seconds: tuple[float, ...]
    """The oldest run first."""
    limit: int = 0
    """Seconds after which each of them would have been ended; 0 for runs without a limit."""
    owner: str = ""
    """The CronJob of their Jobs, as in CronJob/nightly; empty for runs of all owners."""
    created: str = ""
    """The hour in which all of them were created, such as 2026-01-31T12; empty for runs of any time."""


@dataclass(frozen=True, slots=True)
class RunsRemembered:
    """An earlier scheduler of the same cluster has written down how long runs took."""

    runs: tuple[KnownRuns, ...]


WriteNews = Setback | ClaimWritten
EngineEvent = Observed | Vanished | ClaimWritten | Setback | Solved | Advised | RunsRemembered
