"""All kinds that are served, listed one by one; nothing is discovered by magic."""

from dataclasses import replace
from typing import Any

from posse.kinds import columns
from posse.kinds.batch import jobs, stateful_sets
from posse.kinds.core import events, leases, namespaces, nodes, pods, services
from posse.kinds.machinery.kind import Kind
from posse.kinds.machinery.scaling import selector_in_status, selector_of
from posse.kinds.scheduling import (
    composite_pod_groups,
    disruption_budgets,
    foreign_groups,
    older_versions,
    pod_groups,
    priority_classes,
    workloads,
)
from posse.kinds.sets import jobsets, leader_worker_sets
from posse.kinds.storage import volumes
from posse.model import coscheduling, volcano
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.event import Event, EventsEvent
from posse.model.job import Job
from posse.model.jobset import JobSet
from posse.model.leader_worker_set import LeaderWorkerSet
from posse.model.lease import Lease
from posse.model.namespace import Namespace
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.priority_class import PriorityClass
from posse.model.service import ConfigMap, Secret, Service, ServiceAccount
from posse.model.stateful_set import ControllerRevision, StatefulSet
from posse.model.volume import CSIDriver, CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from posse.model.workload import CompositePodGroup, PodGroup, Workload

POD = Kind(
    name="Pod",
    plural="pods",
    group="",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=Pod,
    rules=pods.RULES,
    columns=columns.POD_COLUMNS,
    short_names=("po",),
    categories=("all",),
    has_status=True,
    subresources=("binding",),
    selectable_fields=(
        "spec.hostNetwork",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.nominatedNodeName",
        "status.phase",
        "status.podIP",
    ),
)
NODE = Kind(
    name="Node",
    plural="nodes",
    group="",
    versions=("v1",),
    storage_version="v1",
    namespaced=False,
    struct=Node,
    rules=nodes.RULES,
    columns=columns.NODE_COLUMNS,
    short_names=("no",),
    has_status=True,
    selectable_fields=("spec.unschedulable",),
)
NAMESPACE = Kind(
    name="Namespace",
    plural="namespaces",
    group="",
    versions=("v1",),
    storage_version="v1",
    namespaced=False,
    struct=Namespace,
    rules=namespaces.RULES,
    columns=columns.NAMESPACE_COLUMNS,
    short_names=("ns",),
    has_status=True,
    subresources=("finalize",),
    selectable_fields=("status.phase",),
)
EVENT = Kind(
    name="Event",
    plural="events",
    group="",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=Event,
    rules=events.RULES,
    columns=columns.EVENT_COLUMNS,
    short_names=("ev",),
    selectable_fields=(
        "involvedObject.apiVersion",
        "involvedObject.fieldPath",
        "involvedObject.kind",
        "involvedObject.name",
        "involvedObject.namespace",
        "involvedObject.resourceVersion",
        "involvedObject.uid",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
)
EVENT_VIEW = Kind(
    name="Event",
    plural="events",
    group="events.k8s.io",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=EventsEvent,
    rules=EVENT.rules,
    columns=EVENT.columns,
    short_names=("ev",),
    selectable_fields=EVENT.selectable_fields,
    view_of=EVENT,
)
SERVICE_ACCOUNT = Kind(
    name="ServiceAccount",
    plural="serviceaccounts",
    group="",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=ServiceAccount,
    rules=services.SERVICE_ACCOUNT_RULES,
    columns=columns.NAME_AND_AGE,
    short_names=("sa",),
)
SERVICE = Kind(
    name="Service",
    plural="services",
    group="",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=Service,
    rules=services.SERVICE_RULES,
    columns=columns.NAME_AND_AGE,
    short_names=("svc",),
    categories=("all",),
    has_status=True,
    selectable_fields=("spec.clusterIP", "spec.type"),
)
CONFIG_MAP = Kind(
    name="ConfigMap",
    plural="configmaps",
    group="",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=ConfigMap,
    rules=services.CONFIG_MAP_RULES,
    columns=columns.NAME_AND_AGE,
    short_names=("cm",),
)
SECRET = Kind(
    name="Secret",
    plural="secrets",
    group="",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=Secret,
    rules=services.SECRET_RULES,
    columns=columns.NAME_AND_AGE,
    selectable_fields=("type",),
)
PERSISTENT_VOLUME = Kind(
    name="PersistentVolume",
    plural="persistentvolumes",
    group="",
    versions=("v1",),
    storage_version="v1",
    namespaced=False,
    struct=PersistentVolume,
    rules=volumes.VOLUME_RULES,
    columns=columns.PERSISTENT_VOLUME_COLUMNS,
    short_names=("pv",),
    has_status=True,
)
PERSISTENT_VOLUME_CLAIM = Kind(
    name="PersistentVolumeClaim",
    plural="persistentvolumeclaims",
    group="",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=PersistentVolumeClaim,
    rules=volumes.CLAIM_RULES,
    columns=columns.PERSISTENT_VOLUME_CLAIM_COLUMNS,
    short_names=("pvc",),
    has_status=True,
)
STORAGE_CLASS = Kind(
    name="StorageClass",
    plural="storageclasses",
    group="storage.k8s.io",
    versions=("v1",),
    storage_version="v1",
    namespaced=False,
    struct=StorageClass,
    rules=volumes.STORAGE_CLASS_RULES,
    columns=columns.STORAGE_CLASS_COLUMNS,
    short_names=("sc",),
)
CSI_NODE = Kind(
    name="CSINode",
    plural="csinodes",
    group="storage.k8s.io",
    versions=("v1",),
    storage_version="v1",
    namespaced=False,
    struct=CSINode,
    rules=volumes.CSI_NODE_RULES,
    columns=columns.CSI_NODE_COLUMNS,
    has_status=True,
)
CSI_DRIVER = Kind(
    name="CSIDriver",
    plural="csidrivers",
    group="storage.k8s.io",
    versions=("v1",),
    storage_version="v1",
    namespaced=False,
    struct=CSIDriver,
    rules=volumes.CSI_DRIVER_RULES,
    columns=columns.NAME_AND_AGE,
)
PRIORITY_CLASS = Kind(
    name="PriorityClass",
    plural="priorityclasses",
    group="scheduling.k8s.io",
    versions=("v1",),
    storage_version="v1",
    namespaced=False,
    struct=PriorityClass,
    rules=priority_classes.RULES,
    columns=columns.PRIORITY_CLASS_COLUMNS,
    short_names=("pc",),
)
WORKLOAD = Kind(
    name="Workload",
    plural="workloads",
    group="scheduling.k8s.io",
    versions=("v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"),
    storage_version="v1beta1",
    namespaced=True,
    struct=Workload,
    rules=workloads.RULES,
    columns=columns.NAME_AND_AGE,
    dialects={
        "v1alpha2": older_versions.WORKLOAD_V1ALPHA2,
        "v1alpha1": older_versions.WORKLOAD_V1ALPHA1,
    },
)
POD_GROUP = Kind(
    name="PodGroup",
    plural="podgroups",
    group="scheduling.k8s.io",
    versions=("v1beta1", "v1alpha3", "v1alpha2"),
    storage_version="v1beta1",
    namespaced=True,
    struct=PodGroup,
    rules=pod_groups.RULES,
    columns=columns.POD_GROUP_COLUMNS,
    has_status=True,
    dialects={"v1alpha2": older_versions.POD_GROUP_V1ALPHA2},
)
COMPOSITE_POD_GROUP = Kind(
    name="CompositePodGroup",
    plural="compositepodgroups",
    group="scheduling.k8s.io",
    versions=("v1alpha3",),
    storage_version="v1alpha3",
    namespaced=True,
    struct=CompositePodGroup,
    rules=composite_pod_groups.RULES,
    columns=columns.COMPOSITE_POD_GROUP_COLUMNS,
    has_status=True,
)
POD_DISRUPTION_BUDGET = Kind(
    name="PodDisruptionBudget",
    plural="poddisruptionbudgets",
    group="policy",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=PodDisruptionBudget,
    rules=disruption_budgets.RULES,
    columns=columns.POD_DISRUPTION_BUDGET_COLUMNS,
    short_names=("pdb",),
    has_status=True,
)
JOB = Kind(
    name="Job",
    plural="jobs",
    group="batch",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=Job,
    rules=jobs.RULES,
    columns=columns.JOB_COLUMNS,
    categories=("all",),
    has_status=True,
)
STATEFUL_SET = Kind(
    name="StatefulSet",
    plural="statefulsets",
    group="apps",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=StatefulSet,
    rules=stateful_sets.RULES,
    columns=columns.STATEFUL_SET_COLUMNS,
    short_names=("sts",),
    categories=("all",),
    has_status=True,
    subresources=("scale",),
    scale_selector=selector_of,
)
CONTROLLER_REVISION = Kind(
    name="ControllerRevision",
    plural="controllerrevisions",
    group="apps",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=ControllerRevision,
    rules=stateful_sets.REVISION_RULES,
    columns=columns.CONTROLLER_REVISION_COLUMNS,
)
JOB_SET = Kind(
    name="JobSet",
    plural="jobsets",
    group="jobset.x-k8s.io",
    versions=("v1alpha2",),
    storage_version="v1alpha2",
    namespaced=True,
    struct=JobSet,
    rules=jobsets.RULES,
    columns=columns.JOB_SET_COLUMNS,
    has_status=True,
)
LEADER_WORKER_SET = Kind(
    name="LeaderWorkerSet",
    plural="leaderworkersets",
    group="leaderworkerset.x-k8s.io",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=LeaderWorkerSet,
    rules=leader_worker_sets.RULES,
    columns=columns.LEADER_WORKER_SET_COLUMNS,
    short_names=("lws",),
    has_status=True,
    subresources=("scale",),
    scale_selector=selector_in_status,
)
LEASE = Kind(
    name="Lease",
    plural="leases",
    group="coordination.k8s.io",
    versions=("v1",),
    storage_version="v1",
    namespaced=True,
    struct=Lease,
    rules=leases.RULES,
    columns=columns.LEASE_COLUMNS,
)

# Groups for clusters whose own API has none, in the same shapes, and the groups of other projects.
_POSSE: dict[str, Any] = {
    "group": "scheduling.posse.dev",
    "versions": ("v1alpha1",),
    "storage_version": "v1alpha1",
    "dialects": {},
}
POSSE_WORKLOAD = replace(WORKLOAD, **_POSSE)
POSSE_POD_GROUP = replace(POD_GROUP, **_POSSE)
POSSE_COMPOSITE_POD_GROUP = replace(COMPOSITE_POD_GROUP, **_POSSE)
COSCHEDULING_POD_GROUP = Kind(
    name="PodGroup",
    plural="podgroups",
    group="scheduling.x-k8s.io",
    versions=("v1alpha1",),
    storage_version="v1alpha1",
    namespaced=True,
    struct=coscheduling.CoschedulingPodGroup,
    rules=foreign_groups.COSCHEDULING_RULES,
    columns=columns.COSCHEDULING_POD_GROUP_COLUMNS,
    short_names=("pg", "pgs"),
    has_status=True,
)
VOLCANO_POD_GROUP = Kind(
    name="PodGroup",
    plural="podgroups",
    group="scheduling.volcano.sh",
    versions=("v1beta1",),
    storage_version="v1beta1",
    namespaced=True,
    struct=volcano.VolcanoPodGroup,
    rules=foreign_groups.VOLCANO_RULES,
    columns=columns.VOLCANO_POD_GROUP_COLUMNS,
    short_names=("pg", "podgroup-v1beta1"),
    has_status=True,
)

KINDS = (
    POD,
    NODE,
    NAMESPACE,
    EVENT,
    SERVICE_ACCOUNT,
    SERVICE,
    CONFIG_MAP,
    SECRET,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    PRIORITY_CLASS,
    WORKLOAD,
    POD_GROUP,
    COMPOSITE_POD_GROUP,
    POD_DISRUPTION_BUDGET,
    JOB,
    STATEFUL_SET,
    CONTROLLER_REVISION,
    JOB_SET,
    LEADER_WORKER_SET,
    LEASE,
    EVENT_VIEW,
    STORAGE_CLASS,
    CSI_NODE,
    CSI_DRIVER,
    POSSE_WORKLOAD,
    POSSE_POD_GROUP,
    POSSE_COMPOSITE_POD_GROUP,
    COSCHEDULING_POD_GROUP,
    VOLCANO_POD_GROUP,
)

_BY_RESOURCE = {(kind.group, version, kind.plural): kind for kind in KINDS for version in kind.versions}
_BY_KIND = {(kind.group, kind.name): kind for kind in KINDS}


def find(group: str, version: str, plural: str) -> Kind | None:
    return _BY_RESOURCE.get((group, version, plural))


def by_kind(group: str, kind: str) -> Kind | None:
    return _BY_KIND.get((group, kind))
