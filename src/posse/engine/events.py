"""What the outside tells the engine, in the past tense. Adapters translate watch events and answers into these."""

from dataclasses import dataclass

from posse.engine.decisions import MarkDisrupted, ReportGroup
from posse.engine.keys import GroupKey
from posse.engine.placement_problem import Remedies, Solution
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.meta import GroupObject
from posse.model.namespace import Namespace
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.service import Service
from posse.model.volume import CSIDriver, CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from posse.model.workload import CompositePodGroup, Workload

StorageObject = PersistentVolume | PersistentVolumeClaim | StorageClass | CSINode | CSIDriver

ClusterObject = (
    Pod
    | Node
    | GroupObject
    | CompositePodGroup
    | Workload
    | Namespace
    | PodDisruptionBudget
    | Service
    | StorageObject
)


@dataclass(frozen=True, slots=True)
class Observed:
    """The object exists and looks like this now; the first sight and every later change alike."""

    obj: ClusterObject


@dataclass(frozen=True, slots=True)
class Vanished:
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
    """A victim could not be deleted; whoever waits for its room has to look again."""

    pod_uid: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReportWithheld:
    """What was to be reported of the group was not: a binding of the same decision was refused."""

    group: GroupKey


@dataclass(frozen=True, slots=True)
class GroupReportFailed:
    """The group was not told, or may have been and only the answer is missing."""

    report: ReportGroup


@dataclass(frozen=True, slots=True)
class ReportFailed:
    """The pod was not told what it was to be told."""

    pod_uid: str


@dataclass(frozen=True, slots=True)
class MarkFailed:
    """The group was not marked, or may have been and only the answer is missing."""

    mark: MarkDisrupted


Setback = BindRefused | EvictionFailed | ReportWithheld | GroupReportFailed | ReportFailed | MarkFailed


@dataclass(frozen=True, slots=True)
class Solved:
    """The exact search has ended, one way or the other."""

    group: GroupKey
    number: int
    solution: Solution


@dataclass(frozen=True, slots=True)
class Advised:
    """It is known what would let the group start."""

    group: GroupKey
    number: int
    remedies: Remedies | None
    """None if there is no answer, or the group could start as things are."""


EngineEvent = Observed | Vanished | Setback | Solved | Advised
