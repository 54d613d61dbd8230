"""Storage a pod may depend on: volumes, claims, persistent volumes and storage classes.

Only what binds a pod to places is typed (claims, node affinity, topologies); how bytes are reached stays
opaque.
"""

from typing import Annotated, Any

import msgspec

from posse.model.constraints import (
    AMOUNTS,
    BLAMES_HOLDER,
    OPAQUE,
    REQUIRED,
    HasKey,
    Immutable,
    KeyedBy,
    Minimum,
    OneOf,
    Required,
)
from posse.model.formats import dns_label, dns_subdomain
from posse.model.meta import (
    ApiObject,
    Int32,
    Int64,
    LabelSelector,
    ObjectMeta,
    ObjectReference,
    Quantity,
    Shape,
    Timestamp,
    TypedLocalObjectReference,
    TypedObjectReference,
    merge_list,
)
from posse.model.placement import NodeSelector

# Errors name the list, not the mode in it.
AccessModes = Annotated[
    tuple[str, ...],
    Required("at least 1 access mode is required"),
    OneOf(("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")),
    BLAMES_HOLDER,
]
StorageAmounts = Annotated[dict[str, Quantity], HasKey("storage"), AMOUNTS]
VolumeMode = Annotated[str | None, OneOf(("Block", "Filesystem"))]
RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
_FIXED = Immutable(shows_value=True)


class PersistentVolumeClaimVolumeSource(Shape):
    claim_name: Annotated[str, REQUIRED] = ""
    read_only: bool = False


class VolumeResourceRequirements(Shape):
    requests: StorageAmounts = msgspec.field(default_factory=dict)
    limits: dict[str, Quantity] = msgspec.field(default_factory=dict)


class PersistentVolumeClaimSpec(Shape):
    access_modes: AccessModes = ()
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: VolumeMode = None
    data_source: Annotated[TypedLocalObjectReference | None, OPAQUE] = None
    data_source_ref: TypedObjectReference | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(Shape):
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(Shape):
    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class Volume(Shape):
    name: Annotated[str, REQUIRED, dns_label] = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: Annotated[EphemeralVolumeSource | None, OPAQUE] = None
    config_map: Any = None
    csi: Any = None
    downward_api: Any = msgspec.field(default=None, name="downwardAPI")
    empty_dir: Any = None
    host_path: Any = None
    image: Any = None
    nfs: Any = None
    projected: Any = None
    secret: Any = None
    aws_elastic_block_store: Any = None
    azure_disk: Any = None
    azure_file: Any = None
    cephfs: Any = None
    cinder: Any = None
    fc: Any = None
    flex_volume: Any = None
    flocker: Any = None
    gce_persistent_disk: Any = None
    git_repo: Any = None
    glusterfs: Any = None
    iscsi: Any = None
    photon_persistent_disk: Any = None
    portworx_volume: Any = None
    quobyte: Any = None
    rbd: Any = None
    scale_io: Any = msgspec.field(default=None, name="scaleIO")
    storageos: Any = None
    vsphere_volume: Any = None


class PersistentVolumeClaimCondition(Shape):
    type: str = ""
    status: str = ""
    last_probe_time: Timestamp | None = None
    last_transition_time: Timestamp | None = None
    reason: str = ""
    message: str = ""


class PersistentVolumeClaimStatus(Shape):
    phase: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: dict[str, Quantity] = msgspec.field(default_factory=dict)
    conditions: Annotated[tuple[PersistentVolumeClaimCondition, ...], merge_list("type")] = ()
    allocated_resources: dict[str, Quantity] = msgspec.field(default_factory=dict)
    allocated_resource_statuses: dict[str, str] = msgspec.field(default_factory=dict)
    current_volume_attributes_class_name: str | None = None
    modify_volume_status: Any = None
    health_status: Any = None


class PersistentVolumeClaim(ApiObject):
    """A request for storage that a pod can name."""

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class VolumeNodeAffinity(Shape):
    required: Annotated[NodeSelector | None, REQUIRED] = None


class PersistentVolumeSpec(Shape):
    access_modes: AccessModes = ()
    capacity: StorageAmounts = msgspec.field(default_factory=dict)
    claim_ref: ObjectReference | None = None
    persistent_volume_reclaim_policy: Annotated[str, OneOf(RECLAIM_POLICIES)] = ""
    storage_class_name: str = ""
    mount_options: tuple[str, ...] = ()
    volume_mode: VolumeMode = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None
    csi: Any = None
    host_path: Any = None
    local: Any = None
    nfs: Any = None
    aws_elastic_block_store: Any = None
    azure_disk: Any = None
    azure_file: Any = None
    cephfs: Any = None
    cinder: Any = None
    fc: Any = None
    flex_volume: Any = None
    flocker: Any = None
    gce_persistent_disk: Any = None
    glusterfs: Any = None
    iscsi: Any = None
    photon_persistent_disk: Any = None
    portworx_volume: Any = None
    quobyte: Any = None
    rbd: Any = None
    scale_io: Any = msgspec.field(default=None, name="scaleIO")
    storageos: Any = None
    vsphere_volume: Any = None


class PersistentVolumeStatus(Shape):
    phase: str = ""
    message: str = ""
    reason: str = ""
    last_phase_transition_time: Timestamp = ""


class PersistentVolume(ApiObject):
    """A piece of storage in the cluster, with the nodes that can reach it."""

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class TopologySelectorLabelRequirement(Shape):
    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(Shape):
    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(ApiObject):
    """A named way of providing storage."""

    provisioner: Annotated[str, REQUIRED, Immutable(text="updates to provisioner are forbidden.")] = ""
    parameters: Annotated[dict[str, str], Immutable(text="updates to parameters are forbidden.")] = (
        msgspec.field(default_factory=dict)
    )
    reclaim_policy: Annotated[str | None, OneOf(RECLAIM_POLICIES), _FIXED] = None
    mount_options: tuple[str, ...] = ()
    allow_volume_expansion: bool | None = None
    volume_binding_mode: Annotated[str | None, OneOf(("Immediate", "WaitForFirstConsumer")), _FIXED] = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(Shape):
    count: Annotated[Int32 | None, Minimum(0)] = None


class CSINodeDriver(Shape):
    name: Annotated[str, REQUIRED, dns_subdomain] = ""
    node_id: Annotated[str, REQUIRED] = msgspec.field(default="", name="nodeID")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Shape):
    drivers: Annotated[tuple[CSINodeDriver, ...], merge_list("name"), KeyedBy("name")] = ()


class CSINode(ApiObject):
    """The storage drivers on one node, and how many volumes each can attach there."""

    spec: CSINodeSpec = CSINodeSpec()
    status: Any = None


class TokenRequest(Shape):
    audience: str = ""
    expiration_seconds: Int64 | None = None


class CSIDriverSpec(Shape):
    attach_required: bool | None = None
    pod_info_on_mount: bool | None = None
    volume_lifecycle_modes: tuple[str, ...] = ()
    storage_capacity: bool | None = None
    fs_group_policy: str | None = None
    token_requests: tuple[TokenRequest, ...] = ()
    requires_republish: bool | None = None
    se_linux_mount: bool | None = None
    node_allocatable_update_period_seconds: Int64 | None = None
    service_account_token_in_secrets: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(ApiObject):
    """A storage driver that the cluster knows of."""

    spec: CSIDriverSpec = CSIDriverSpec()
