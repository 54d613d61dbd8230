"""Makers of claims, volumes and what else tests about storage need, and a cluster state that knows them."""

from posse.engine.groups.forms import group_of
from posse.engine.keys import PodRef
from posse.engine.nodes.arrays import ALL_ROWS
from posse.engine.rules.context import SchedulingClass
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord
from posse.model.meta import LabelSelector, ObjectMeta, ObjectReference, OwnerReference
from posse.model.node import Node
from posse.model.placement import NodeSelector, NodeSelectorTerm
from posse.model.volume import (
    CSIDriver,
    CSIDriverSpec,
    CSINode,
    CSINodeDriver,
    CSINodeSpec,
    EphemeralVolumeSource,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimStatus,
    PersistentVolumeClaimVolumeSource,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    TopologySelectorLabelRequirement,
    TopologySelectorTerm,
    Volume,
    VolumeNodeAffinity,
    VolumeNodeResources,
    VolumeResourceRequirements,
)
from tests.support.builders import NAMESPACE, SCHEDULER, requirement

LATE = "late"
"""A storage class whose claims wait for a pod; volumes of it are made by hand."""
MADE = "made"
"""The same, with a provisioner."""
DRIVER = "csi.example.com"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


def storage_class(name=LATE, provisioner="kubernetes.io/no-provisioner", *, late=True, zones=()):
    topologies = [
        TopologySelectorTerm(
            match_label_expressions=(TopologySelectorLabelRequirement(key="zone", values=tuple(zones)),)
        )
    ]
    return StorageClass(
        metadata=ObjectMeta(name=name),
        provisioner=provisioner,
        volume_binding_mode="WaitForFirstConsumer" if late else "Immediate",
        allowed_topologies=tuple(topologies) if zones else (),
    )


CLASSES = (storage_class(), storage_class(MADE, DRIVER))


def claim(name="c", size="1Gi", *, volume="", of=LATE, modes=("ReadWriteOnce",), annotations=None, **meta):
    """Make a claim; one that names its volume is bound to it."""
    labels = meta.pop("match_labels", None)
    phase = meta.pop("phase", "Bound" if volume else "Pending")
    mode = meta.pop("mode", None)
    owner = meta.pop("owner", None)
    owners = (OwnerReference(kind="Pod", name="owner", uid=owner, controller=True),) if owner else ()
    return PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=name,
            namespace=NAMESPACE,
            uid=meta.pop("uid", f"claim-{name}"),
            annotations=annotations if annotations is not None else (BOUND if volume else {}),
            owner_references=owners,
            deletion_timestamp=meta.pop("deleted", ""),
        ),
        spec=PersistentVolumeClaimSpec(
            access_modes=tuple(modes),
            resources=VolumeResourceRequirements(requests={"storage": size}),
            volume_name=volume,
            storage_class_name=of,
            selector=LabelSelector(match_labels=labels) if labels is not None else None,
            volume_mode=mode,
            **meta,
        ),
        status=PersistentVolumeClaimStatus(phase=phase),
    )


def volume(name="v", size="1Gi", *, of=LATE, on=None, kept_for="", **more):
    """Make a volume; `on` are label requirements of its nodes, or names of nodes."""
    metadata = ObjectMeta(
        name=name,
        uid=f"volume-{name}",
        resource_version=more.pop("version", "7"),
        labels=more.pop("labels", {}),
        deletion_timestamp=more.pop("deleted", ""),
    )
    handle = more.pop("handle", "")
    reference = ObjectReference(
        namespace=NAMESPACE, name=kept_for, uid=more.pop("kept_uid", f"claim-{kept_for}")
    )
    status = PersistentVolumeStatus(phase=more.pop("phase", "Bound" if kept_for else "Available"))
    spec = PersistentVolumeSpec(
        capacity={"storage": size},
        access_modes=tuple(more.pop("modes", ("ReadWriteOnce",))),
        storage_class_name=of,
        volume_mode=more.pop("mode", None),
        claim_ref=reference if kept_for else None,
        node_affinity=_affinity(on),
        csi={"driver": DRIVER, "volumeHandle": handle} if handle else None,
        **more,
    )
    return PersistentVolume(metadata=metadata, spec=spec, status=status)


def _affinity(on):
    if on is None:
        return None
    names = [one for one in on if isinstance(one, str)]
    wanted = [requirement("kubernetes.io/hostname", "In", *names)] if names else list(on)
    term = NodeSelectorTerm(match_expressions=tuple(wanted))
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(term,)))


def csi_node(name, count=None, driver=DRIVER):
    allocatable = VolumeNodeResources(count=count) if count is not None else None
    there = (CSINodeDriver(name=driver, node_id=name, allocatable=allocatable),) if driver else ()
    return CSINode(metadata=ObjectMeta(name=name), spec=CSINodeSpec(drivers=there))


def csi_driver(name=DRIVER, *, insists=True):
    return CSIDriver(
        metadata=ObjectMeta(name=name), spec=CSIDriverSpec(prevent_pod_scheduling_if_missing=insists)
    )


def using(*names):
    """The volumes of a pod that uses these claims."""
    return tuple(
        Volume(
            name=f"volume-{name}", persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=name)
        )
        for name in names
    )


def scratch(name="scratch"):
    """A volume whose claim is made for the pod."""
    return Volume(name=name, ephemeral=EphemeralVolumeSource())


def state_with(*objects):
    state = ClusterState({SCHEDULER: DEFAULT_PROFILE})
    for obj in objects:
        if isinstance(obj, Node):
            state.put_node(obj)
        else:
            state.storage.book.put(obj)
    return state


def record_in(state, pod):
    """Return the record of a pod that the state knows, not attached anywhere."""
    pod_class, labels = state.classes.enroll(pod)
    meta = pod.metadata
    return PodRecord(
        pod=pod,
        ref=PodRef(meta.namespace, meta.name, meta.uid),
        pod_class=pod_class,
        labels=labels,
        group=group_of(pod),
        created=meta.creation_timestamp,
        arrival=0,
        effective_priority=pod.spec.priority or 0,
    )


def put_on(state, pod, node):
    record = record_in(state, pod)
    state.attach_by_name(record, node)
    return record


def made(rule, state, pod):
    """What the rule compiles to for the pod."""
    return rule.compile(SchedulingClass(state.classes.enroll(pod)[0]), state.context)


def allowed(rule, state, pod):
    """Return the names of the nodes that the rule lets the pod go to."""
    row_filter = made(rule, state, pod)
    passes = row_filter.passes(ALL_ROWS)
    return [name for row, name in enumerate(state.nodes.names) if passes[row]]


def said(rule, state, pod):
    """Return what the rule says of each node that it refuses."""
    row_filter = made(rule, state, pod)
    refusals = row_filter.refusals(ALL_ROWS)
    found = {
        name: [reason for reason, holds in refusals if holds[row]]
        for row, name in enumerate(state.nodes.names)
    }
    return {name: reasons for name, reasons in found.items() if reasons}


def hopeless_nodes(rule, state, pod):
    hopeless = made(rule, state, pod).unresolvable(ALL_ROWS)
    return [name for row, name in enumerate(state.nodes.names) if hopeless[row]]
