"""The official Python client lists every field of the API; the structs must name the same ones, no more, no fewer."""

import kubernetes.client as official
import pytest

from posse.model import (
    binding,
    container,
    disruption_budget,
    event,
    job,
    lease,
    meta,
    namespace,
    node,
    placement,
    pod,
    priority_class,
    scale,
    service,
    stateful_set,
    volume,
    workload,
)
from posse.model.structure import fields_of

CORE = {
    meta.ObjectMeta: "V1ObjectMeta",
    meta.OwnerReference: "V1OwnerReference",
    meta.ListMeta: "V1ListMeta",
    meta.Condition: "V1Condition",
    meta.LabelSelector: "V1LabelSelector",
    meta.LabelSelectorRequirement: "V1LabelSelectorRequirement",
    meta.ObjectReference: "V1ObjectReference",
    meta.LocalObjectReference: "V1LocalObjectReference",
    meta.TypedLocalObjectReference: "V1TypedLocalObjectReference",
    meta.TypedObjectReference: "V1TypedObjectReference",
    container.Container: "V1Container",
    container.EphemeralContainer: "V1EphemeralContainer",
    container.ContainerPort: "V1ContainerPort",
    container.EnvVar: "V1EnvVar",
    container.VolumeMount: "V1VolumeMount",
    container.VolumeDevice: "V1VolumeDevice",
    container.ResourceRequirements: "V1ResourceRequirements",
    container.ResourceClaim: "CoreV1ResourceClaim",
    container.ContainerStatus: "V1ContainerStatus",
    container.ContainerState: "V1ContainerState",
    container.ContainerStateWaiting: "V1ContainerStateWaiting",
    container.ContainerStateRunning: "V1ContainerStateRunning",
    container.ContainerStateTerminated: "V1ContainerStateTerminated",
    placement.Affinity: "V1Affinity",
    placement.NodeAffinity: "V1NodeAffinity",
    placement.NodeSelector: "V1NodeSelector",
    placement.NodeSelectorTerm: "V1NodeSelectorTerm",
    placement.NodeSelectorRequirement: "V1NodeSelectorRequirement",
    placement.PreferredSchedulingTerm: "V1PreferredSchedulingTerm",
    placement.PodAffinity: "V1PodAffinity",
    placement.PodAntiAffinity: "V1PodAntiAffinity",
    placement.PodAffinityTerm: "V1PodAffinityTerm",
    placement.WeightedPodAffinityTerm: "V1WeightedPodAffinityTerm",
    placement.Toleration: "V1Toleration",
    placement.TopologySpreadConstraint: "V1TopologySpreadConstraint",
    pod.Pod: "V1Pod",
    pod.PodStatus: "V1PodStatus",
    pod.PodCondition: "V1PodCondition",
    pod.PodSchedulingGate: "V1PodSchedulingGate",
    pod.PodSchedulingGroup: "V1PodSchedulingGroup",
    pod.PodReadinessGate: "V1PodReadinessGate",
    pod.PodOS: "V1PodOS",
    pod.PodResourceClaim: "V1PodResourceClaim",
    pod.PodResourceClaimStatus: "V1PodResourceClaimStatus",
    pod.EvictionResponder: "V1EvictionResponder",
    pod.HostAlias: "V1HostAlias",
    pod.PodIP: "V1PodIP",
    pod.HostIP: "V1HostIP",
    node.Node: "V1Node",
    node.NodeSpec: "V1NodeSpec",
    node.NodeStatus: "V1NodeStatus",
    node.NodeCondition: "V1NodeCondition",
    node.NodeAddress: "V1NodeAddress",
    node.NodeSystemInfo: "V1NodeSystemInfo",
    node.ContainerImage: "V1ContainerImage",
    node.AttachedVolume: "V1AttachedVolume",
    node.Taint: "V1Taint",
    namespace.Namespace: "V1Namespace",
    namespace.NamespaceSpec: "V1NamespaceSpec",
    namespace.NamespaceStatus: "V1NamespaceStatus",
    namespace.NamespaceCondition: "V1NamespaceCondition",
    event.Event: "CoreV1Event",
    event.EventsEvent: "EventsV1Event",
    event.EventSeries: "CoreV1EventSeries",
    event.EventSource: "V1EventSource",
    binding.Binding: "V1Binding",
    priority_class.PriorityClass: "V1PriorityClass",
    disruption_budget.PodDisruptionBudget: "V1PodDisruptionBudget",
    disruption_budget.PodDisruptionBudgetSpec: "V1PodDisruptionBudgetSpec",
    disruption_budget.PodDisruptionBudgetStatus: "V1PodDisruptionBudgetStatus",
    pod.PodTemplateSpec: "V1PodTemplateSpec",
    job.Job: "V1Job",
    job.JobSpec: "V1JobSpec",
    job.JobStatus: "V1JobStatus",
    job.JobCondition: "V1JobCondition",
    job.UncountedTerminatedPods: "V1UncountedTerminatedPods",
    job.PodFailurePolicy: "V1PodFailurePolicy",
    job.PodFailurePolicyRule: "V1PodFailurePolicyRule",
    job.PodFailurePolicyOnExitCodesRequirement: "V1PodFailurePolicyOnExitCodesRequirement",
    job.PodFailurePolicyOnPodConditionsPattern: "V1PodFailurePolicyOnPodConditionsPattern",
    job.SuccessPolicy: "V1SuccessPolicy",
    job.SuccessPolicyRule: "V1SuccessPolicyRule",
    stateful_set.StatefulSet: "V1StatefulSet",
    stateful_set.StatefulSetSpec: "V1StatefulSetSpec",
    stateful_set.StatefulSetStatus: "V1StatefulSetStatus",
    stateful_set.StatefulSetCondition: "V1StatefulSetCondition",
    stateful_set.StatefulSetOrdinals: "V1StatefulSetOrdinals",
    stateful_set.StatefulSetUpdateStrategy: "V1StatefulSetUpdateStrategy",
    stateful_set.RollingUpdateStatefulSetStrategy: "V1RollingUpdateStatefulSetStrategy",
    stateful_set.StatefulSetPersistentVolumeClaimRetentionPolicy: (
        "V1StatefulSetPersistentVolumeClaimRetentionPolicy"
    ),
    stateful_set.ControllerRevision: "V1ControllerRevision",
    scale.Scale: "V1Scale",
    scale.ScaleSpec: "V1ScaleSpec",
    scale.ScaleStatus: "V1ScaleStatus",
    lease.Lease: "V1Lease",
    lease.LeaseSpec: "V1LeaseSpec",
    volume.Volume: "V1Volume",
    volume.PersistentVolume: "V1PersistentVolume",
    volume.PersistentVolumeSpec: "V1PersistentVolumeSpec",
    volume.PersistentVolumeStatus: "V1PersistentVolumeStatus",
    volume.PersistentVolumeClaim: "V1PersistentVolumeClaim",
    volume.PersistentVolumeClaimSpec: "V1PersistentVolumeClaimSpec",
    volume.PersistentVolumeClaimStatus: "V1PersistentVolumeClaimStatus",
    volume.PersistentVolumeClaimCondition: "V1PersistentVolumeClaimCondition",
    volume.PersistentVolumeClaimTemplate: "V1PersistentVolumeClaimTemplate",
    volume.PersistentVolumeClaimVolumeSource: "V1PersistentVolumeClaimVolumeSource",
    volume.EphemeralVolumeSource: "V1EphemeralVolumeSource",
    volume.VolumeNodeAffinity: "V1VolumeNodeAffinity",
    volume.VolumeResourceRequirements: "V1VolumeResourceRequirements",
    volume.StorageClass: "V1StorageClass",
    volume.TopologySelectorTerm: "V1TopologySelectorTerm",
    volume.TopologySelectorLabelRequirement: "V1TopologySelectorLabelRequirement",
    volume.CSINode: "V1CSINode",
    volume.CSINodeSpec: "V1CSINodeSpec",
    volume.CSINodeDriver: "V1CSINodeDriver",
    volume.VolumeNodeResources: "V1VolumeNodeResources",
    volume.CSIDriver: "V1CSIDriver",
    volume.CSIDriverSpec: "V1CSIDriverSpec",
    volume.TokenRequest: "StorageV1TokenRequest",
    service.Service: "V1Service",
    service.ServiceSpec: "V1ServiceSpec",
    service.ServicePort: "V1ServicePort",
    service.ServiceStatus: "V1ServiceStatus",
    service.ServiceAccount: "V1ServiceAccount",
    service.ConfigMap: "V1ConfigMap",
    service.Secret: "V1Secret",
}
# The scheduling kinds are alike in both versions, except that composite groups exist in v1alpha3 only.
SCHEDULING = {
    workload.Workload: "Workload",
    workload.WorkloadSpec: "WorkloadSpec",
    workload.WorkloadReference: "WorkloadReference",
    workload.PodGroup: "PodGroup",
    workload.PodGroupSpec: "PodGroupSpec",
    workload.PodGroupStatus: "PodGroupStatus",
    workload.PodGroupTemplate: "PodGroupTemplate",
    workload.PodGroupSchedulingPolicy: "PodGroupSchedulingPolicy",
    workload.PodGroupResourceClaim: "PodGroupResourceClaim",
    workload.PodGroupResourceClaimStatus: "PodGroupResourceClaimStatus",
    workload.GangSchedulingPolicy: "GangSchedulingPolicy",
    workload.SchedulingConstraints: "PodGroupSchedulingConstraints",
    workload.TopologyConstraint: "TopologyConstraint",
    workload.DisruptionMode: "DisruptionMode",
    workload.CompositePodGroupTemplate: "CompositePodGroupTemplate",
    workload.CompositePodGroupSchedulingPolicy: "CompositePodGroupSchedulingPolicy",
    workload.CompositeGangSchedulingPolicy: "CompositeGangSchedulingPolicy",
}
COMPOSITE = {
    workload.CompositePodGroup: "V1alpha3CompositePodGroup",
    workload.CompositePodGroupSpec: "V1alpha3CompositePodGroupSpec",
    workload.CompositePodGroupStatus: "V1alpha3CompositePodGroupStatus",
}
PAIRS = [
    *CORE.items(),
    *((struct, version + name) for struct, name in SCHEDULING.items() for version in ("V1beta1", "V1alpha3")),
    *COMPOSITE.items(),
]


def official_fields(model: str) -> dict[str, str]:
    """JSON name to the client's notation of the type, such as `List[V1Container]` or `Dict[str, str]`."""
    cls = getattr(official, model)
    return {cls.attribute_map[attribute]: kind for attribute, kind in cls.openapi_types.items()}


@pytest.mark.parametrize(("struct", "model"), PAIRS, ids=[model for _, model in PAIRS])
def test_field_names_are_those_of_kubernetes(struct, model):
    assert set(fields_of(struct)) == set(official_fields(model))


def test_pod_spec_adds_only_the_membership_of_kubernetes_1_35():
    assert set(fields_of(pod.PodSpec)) - set(official_fields("V1PodSpec")) == {"workloadRef"}
    assert set(official_fields("V1PodSpec")) <= set(fields_of(pod.PodSpec))


@pytest.mark.parametrize(("struct", "model"), PAIRS, ids=[model for _, model in PAIRS])
def test_typed_fields_are_lists_and_maps_where_kubernetes_has_them(struct, model):
    notation = {"List": "list", "Dict": "map"}
    for name, kind in official_fields(model).items():
        assert fields_of(struct)[name].holds == notation.get(kind.partition("[")[0], "one"), name


@pytest.mark.parametrize(("struct", "model"), [*PAIRS, (pod.PodSpec, "V1PodSpec")])
def test_merge_keys_are_fields_of_the_items(struct, model):
    for name, shape in fields_of(struct).items():
        if shape.merge_key:
            assert shape.struct is not None
            assert shape.merge_key in fields_of(shape.struct), name
