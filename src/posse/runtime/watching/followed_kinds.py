"""Kinds that the engine must see of a cluster, in the order in which they are read: pods come last."""

from collections.abc import Mapping
from typing import cast

from posse.engine.events import ClusterObject
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    CSI_DRIVER,
    CSI_NODE,
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    JOB,
    NAMESPACE,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    POD_DISRUPTION_BUDGET,
    POD_GROUP,
    POSSE_COMPOSITE_POD_GROUP,
    POSSE_POD_GROUP,
    PRIORITY_CLASS,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    SERVICE,
    STORAGE_CLASS,
    WORKLOAD,
)
from posse.model.job import JobRunTime
from posse.model.meta import ApiObject
from posse.runtime.process.run_options import GroupApi
from posse.writes.group_status import FORM_STATUSES

_GROUP_KINDS = tuple(one.kind for one in FORM_STATUSES if one.kind is not WORKLOAD)
_COMPOSITE_KINDS = tuple(one.composite_kind for one in FORM_STATUSES if one.composite_kind is not None)

_DEVICE_KINDS = (DEVICE_CLASS, RESOURCE_SLICE, DEVICE_TAINT_RULE, RESOURCE_CLAIM)

READ_IN_PART: Mapping[Kind, type[ApiObject]] = {JOB: JobRunTime}
"""Kinds of which a scheduler reads a few fields."""

FOLLOWED_KINDS: tuple[tuple[Kind, type[ClusterObject]], ...] = tuple(
    (kind, cast("type[ClusterObject]", READ_IN_PART.get(kind, kind.struct)))
    for kind in (
        NAMESPACE,
        SERVICE,
        STORAGE_CLASS,
        CSI_DRIVER,
        CSI_NODE,
        PERSISTENT_VOLUME,
        PERSISTENT_VOLUME_CLAIM,
        NODE,
        *_DEVICE_KINDS,
        POD_DISRUPTION_BUDGET,
        PRIORITY_CLASS,
        WORKLOAD,
        *_COMPOSITE_KINDS,
        *_GROUP_KINDS,
        JOB,
        POD,
    )
)

KINDS_OF_GROUPS = frozenset({WORKLOAD, *_COMPOSITE_KINDS, *_GROUP_KINDS})
MAYBE_UNSERVED_KINDS = KINDS_OF_GROUPS.union(_DEVICE_KINDS)
"""Kinds that a cluster may lack: pods that name a group or claim which cannot be seen wait."""
OPTIONAL_KINDS = MAYBE_UNSERVED_KINDS | {JOB}
"""Kinds that a scheduler goes on without; a role that was made for an earlier version lacks Jobs."""

VOLUME_KINDS = frozenset({STORAGE_CLASS, CSI_DRIVER, CSI_NODE, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM})
"""Kinds that a scheduler does without if it is to have nothing to do with volumes."""

WRITTEN_KINDS = frozenset(
    {POD, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, RESOURCE_CLAIM, *KINDS_OF_GROUPS - {WORKLOAD}}
)
"""Kinds that a scheduler writes to. A new leader need not read the others again."""

LEFT_OUT: Mapping[GroupApi, frozenset[Kind]] = {
    GroupApi.AUTO: frozenset(),
    GroupApi.NATIVE: frozenset({POSSE_POD_GROUP, POSSE_COMPOSITE_POD_GROUP}),
    GroupApi.CRD: frozenset({POD_GROUP, COMPOSITE_POD_GROUP, WORKLOAD}),
}
"""Kinds that are ignored where only Kubernetes' own kinds, or only Posse's, describe groups."""

LOOKED_FOR: Mapping[GroupApi, frozenset[Kind]] = {
    GroupApi.AUTO: KINDS_OF_GROUPS,
    GroupApi.NATIVE: LEFT_OUT[GroupApi.CRD],
    GroupApi.CRD: LEFT_OUT[GroupApi.NATIVE],
}
"""A cluster that serves none of these has no groups in this form."""
