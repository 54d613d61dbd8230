"""Workload as Kubernetes 1.35 has it (scheduling.k8s.io/v1alpha1): its groups are part of it, there is no
PodGroup object.

Pods join by spec.workloadRef, which names the Workload, one of its groups and, if that is replicated, the
replica.
"""

from typing import Annotated

from msgspec import Meta

from posse.model.meta import ApiObject, Shape, TypedLocalObjectReference
from posse.model.workload import PodGroupSchedulingPolicy


class PodGroupV1alpha1(Shape):
    """A set of pods with a policy in common; applied to each replica by itself."""

    name: Annotated[str, Meta(description="Unique among the groups of the Workload.")] = ""
    policy: Annotated[
        PodGroupSchedulingPolicy, Meta(description="How the members are brought to nodes. Required.")
    ] = PodGroupSchedulingPolicy()


class WorkloadSpecV1alpha1(Shape):
    """The groups of the workload, fixed at creation."""

    controller_ref: Annotated[
        TypedLocalObjectReference | None,
        Meta(description="The object that runs this workload, such as a Job. Once set it stays."),
    ] = None
    pod_groups: Annotated[
        tuple[PodGroupV1alpha1, ...], Meta(description="Groups of pods; one to eight.")
    ] = ()


class WorkloadV1alpha1(ApiObject):
    """The blueprint of a distributed application: which groups it consists of and how each is scheduled."""

    spec: WorkloadSpecV1alpha1 = WorkloadSpecV1alpha1()
