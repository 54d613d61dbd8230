"""Workload and PodGroup as Kubernetes 1.36 has them (scheduling.k8s.io/v1alpha2), where they differ from the
hub shapes.

A group names its template in another way, and whether members are preempted together is a word, not an
object.
"""

from typing import Annotated

from msgspec import Meta

from posse.model.meta import ApiObject, Shape, TypedLocalObjectReference
from posse.model.workload import (
    PodGroupResourceClaim,
    PodGroupSchedulingPolicy,
    PodGroupStatus,
    Priority,
    PriorityClassName,
    SchedulingConstraints,
)

DisruptionMode = Annotated[
    str | None, Meta(description="Whether members are preempted one by one (Pod) or all at once (PodGroup).")
]


class PodGroupTemplateV1alpha2(Shape):
    """What a PodGroup made from this Workload looks like."""

    name: Annotated[str, Meta(description="Unique among the templates of the Workload.")] = ""
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: DisruptionMode = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None


class WorkloadSpecV1alpha2(Shape):
    """The templates of the workload, all fixed at creation."""

    controller_ref: Annotated[
        TypedLocalObjectReference | None,
        Meta(description="The object that runs this workload, such as a Job."),
    ] = None
    pod_group_templates: Annotated[
        tuple[PodGroupTemplateV1alpha2, ...], Meta(description="Templates of groups; one to eight.")
    ] = ()


class WorkloadV1alpha2(ApiObject):
    """The blueprint of a distributed application: which groups it consists of and how each is scheduled."""

    spec: WorkloadSpecV1alpha2 = WorkloadSpecV1alpha2()


class WorkloadPodGroupTemplateReference(Shape):
    """Names a template within a Workload of the same namespace."""

    workload_name: str = ""
    pod_group_template_name: str = ""


class PodGroupTemplateReference(Shape):
    """Where the group comes from; so far always a Workload."""

    workload: WorkloadPodGroupTemplateReference | None = None


class PodGroupSpecV1alpha2(Shape):
    """How a PodGroup is to be scheduled. All of it is fixed at creation."""

    pod_group_template_ref: Annotated[
        PodGroupTemplateReference | None, Meta(description="The template that the group was made from.")
    ] = None
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: DisruptionMode = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None


class PodGroupV1alpha2(ApiObject):
    """A set of pods that the scheduler places as one. Pods join by naming it in spec.schedulingGroup."""

    spec: PodGroupSpecV1alpha2 = PodGroupSpecV1alpha2()
    status: PodGroupStatus = PodGroupStatus()
