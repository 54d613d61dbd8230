"""What the engine has to know of a cluster, in the order in which it is best told: pods come last."""

from collections.abc import Mapping

from posse.engine.events import ClusterObject
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    COSCHEDULING_POD_GROUP,
    CSI_DRIVER,
    CSI_NODE,
    NAMESPACE,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    POD_DISRUPTION_BUDGET,
    POD_GROUP,
    POSSE_COMPOSITE_POD_GROUP,
    POSSE_POD_GROUP,
    SERVICE,
    STORAGE_CLASS,
    VOLCANO_POD_GROUP,
    WORKLOAD,
)
from posse.model import coscheduling, volcano
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.namespace import Namespace
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.service import Service
from posse.model.volume import CSIDriver, CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from posse.model.workload import CompositePodGroup, PodGroup, Workload
from posse.runtime.process.run_options import Form

FOLLOWED_KINDS: tuple[tuple[Kind, type[ClusterObject]], ...] = (
    (NAMESPACE, Namespace),
    (SERVICE, Service),
    (STORAGE_CLASS, StorageClass),
    (CSI_DRIVER, CSIDriver),
    (CSI_NODE, CSINode),
    (PERSISTENT_VOLUME, PersistentVolume),
    (PERSISTENT_VOLUME_CLAIM, PersistentVolumeClaim),
    (NODE, Node),
    (POD_DISRUPTION_BUDGET, PodDisruptionBudget),
    (WORKLOAD, Workload),
    (COMPOSITE_POD_GROUP, CompositePodGroup),
    (POSSE_COMPOSITE_POD_GROUP, CompositePodGroup),
    (POD_GROUP, PodGroup),
    (POSSE_POD_GROUP, PodGroup),
    (COSCHEDULING_POD_GROUP, coscheduling.CoschedulingPodGroup),
    (VOLCANO_POD_GROUP, volcano.VolcanoPodGroup),
    (POD, Pod),
)

OPTIONAL_KINDS = frozenset(
    {
        WORKLOAD,
        COMPOSITE_POD_GROUP,
        POSSE_COMPOSITE_POD_GROUP,
        POD_GROUP,
        POSSE_POD_GROUP,
        COSCHEDULING_POD_GROUP,
        VOLCANO_POD_GROUP,
    }
)
"""Without them no pod goes where it must not; those that name a group which cannot be seen wait."""

WRITTEN_KINDS = frozenset({POD, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, *OPTIONAL_KINDS - {WORKLOAD}})
"""What a scheduler writes to. Of the rest, nodes among them, nothing is new because another one led before."""

LEFT_OUT: Mapping[Form, frozenset[Kind]] = {
    Form.AUTO: frozenset(),
    Form.NATIVE: frozenset({POSSE_POD_GROUP, POSSE_COMPOSITE_POD_GROUP}),
    Form.CRD: frozenset({POD_GROUP, COMPOSITE_POD_GROUP, WORKLOAD}),
}
"""What is of no interest where groups may be described by the kinds of one side only."""

LOOKED_FOR: Mapping[Form, frozenset[Kind]] = {
    Form.AUTO: OPTIONAL_KINDS,
    Form.NATIVE: LEFT_OUT[Form.CRD],
    Form.CRD: LEFT_OUT[Form.NATIVE],
}
"""Where a cluster serves none of these, there are no groups in this form."""
