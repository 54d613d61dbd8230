"""All kinds that are served, listed one by one, and how to look one up. Each stands beside its rules."""

from posse.kinds.batch.cron_jobs import CRON_JOB
from posse.kinds.batch.deployments import DEPLOYMENT, REPLICA_SET
from posse.kinds.batch.jobs import JOB
from posse.kinds.batch.stateful_sets import CONTROLLER_REVISION, STATEFUL_SET
from posse.kinds.core.events import EVENT, EVENT_VIEW
from posse.kinds.core.leases import LEASE
from posse.kinds.core.limit_ranges import LIMIT_RANGE
from posse.kinds.core.namespaces import NAMESPACE
from posse.kinds.core.nodes import NODE
from posse.kinds.core.pod_templates import POD_TEMPLATE
from posse.kinds.core.pods import POD
from posse.kinds.core.resource_quotas import RESOURCE_QUOTA
from posse.kinds.core.services import CONFIG_MAP, SECRET, SERVICE, SERVICE_ACCOUNT
from posse.kinds.devices.device_classes import DEVICE_CLASS
from posse.kinds.devices.device_taints import DEVICE_TAINT_RULE
from posse.kinds.devices.resource_claims import RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from posse.kinds.devices.resource_slices import RESOURCE_SLICE
from posse.kinds.machinery.kind import Kind
from posse.kinds.scheduling.composite_pod_groups import COMPOSITE_POD_GROUP, POSSE_COMPOSITE_POD_GROUP
from posse.kinds.scheduling.disruption_budgets import POD_DISRUPTION_BUDGET
from posse.kinds.scheduling.foreign_groups import COSCHEDULING_POD_GROUP, VOLCANO_POD_GROUP
from posse.kinds.scheduling.pod_groups import POD_GROUP, POSSE_POD_GROUP
from posse.kinds.scheduling.priority_classes import PRIORITY_CLASS
from posse.kinds.scheduling.workloads import POSSE_WORKLOAD, WORKLOAD
from posse.kinds.sets.jobsets import JOB_SET
from posse.kinds.sets.leader_worker_sets import LEADER_WORKER_SET
from posse.kinds.storage.volumes import (
    CSI_DRIVER,
    CSI_NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    STORAGE_CLASS,
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
    RESOURCE_QUOTA,
    LIMIT_RANGE,
    POD_TEMPLATE,
    PRIORITY_CLASS,
    WORKLOAD,
    POD_GROUP,
    COMPOSITE_POD_GROUP,
    POD_DISRUPTION_BUDGET,
    JOB,
    CRON_JOB,
    DEPLOYMENT,
    REPLICA_SET,
    STATEFUL_SET,
    CONTROLLER_REVISION,
    JOB_SET,
    LEADER_WORKER_SET,
    LEASE,
    EVENT_VIEW,
    STORAGE_CLASS,
    CSI_NODE,
    CSI_DRIVER,
    RESOURCE_SLICE,
    DEVICE_CLASS,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    DEVICE_TAINT_RULE,
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
