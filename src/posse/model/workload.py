"""Groups of pods that are scheduled as one: PodGroup, CompositePodGroup, and the Workload they are stamped from.

These are the hub shapes (scheduling.k8s.io v1beta1 and v1alpha3 are alike); other versions are converted to them.
A union such as gang or basic is an object with one member set; an empty member is an empty object, not null.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta
from msgspec.structs import fields

from posse.model.feature_gates import Gate
from posse.model.meta import (
    ApiObject,
    Condition,
    GroupObject,
    Int32,
    Shape,
    TypedLocalObjectReference,
    merge_list,
)

PriorityClassName = Annotated[
    str, Meta(description="PriorityClass of the group; all its pods are queued and preempted by it.")
]
Priority = Annotated[
    Int32 | None, Meta(description="Priority of the group. Computed from the PriorityClass on creation.")
]
PreemptionPolicy = Annotated[
    str | None,
    Meta(description="Whether the group may evict others: PreemptLowerPriority or Never. Fixed on creation."),
]

_SPEC = Meta(description="What is asked of the scheduler.")
_STATUS = Meta(description="What has come of it. Written by the scheduler.")
_POLICY = Meta(description="How the members are brought to nodes. Required; the choice is final.")
_BASIC = Meta(description="Members are placed one by one.")
_GANG = Meta(description="Members are placed together or not at all.")
_CONSTRAINTS = Meta(description="Rules for the group as a whole, beside those of its pods.")
_DISRUPTION = Meta(description="Whether members are preempted one by one or all at once.")
_WORKLOAD_REF = Meta(description="The Workload the group comes from, and which of its templates.")


class BasicSchedulingPolicy(Shape):
    """Members are scheduled one by one, as if they belonged to no group."""

    desired_count: Annotated[
        Int32 | None,
        Meta(
            description="How many members there will be, at least 1; the scheduler waits a moment for them. A hint: "
            "members that exist are scheduled without the others in the end."
        ),
    ] = None


class GangSchedulingPolicy(Shape):
    """Members start together: either at least `minCount` of them find a place, or none is bound."""

    min_count: Annotated[
        Int32, Meta(description="How many members must fit at once before any is bound; at least 1.")
    ] = 0


class PodGroupSchedulingPolicy(Shape):
    """Exactly one of basic and gang is set."""

    basic: Annotated[BasicSchedulingPolicy | None, _BASIC] = None
    gang: Annotated[GangSchedulingPolicy | None, _GANG] = None


class BasicGroupSchedulingPolicy(Shape):
    """Child groups are scheduled one by one, as if they had no parent."""


class CompositeGangSchedulingPolicy(Shape):
    """Child groups start together: either at least `minGroupCount` of them can start, or none does."""

    min_group_count: Annotated[
        Int32, Meta(description="How many child groups must fit at once before any starts; at least 1.")
    ] = 0


class CompositePodGroupSchedulingPolicy(Shape):
    """Exactly one of basic and gang is set."""

    basic: Annotated[BasicGroupSchedulingPolicy | None, _BASIC] = None
    gang: Annotated[CompositeGangSchedulingPolicy | None, _GANG] = None


class TopologyConstraint(Shape):
    """Keeps the group inside one topology domain, such as one rack."""

    key: Annotated[
        str, Meta(description="Node label whose value names the domain; all members land on one value.")
    ] = ""


class SchedulingConstraints(Shape):
    """Where the group as a whole may go."""

    topology: Annotated[
        tuple[TopologyConstraint, ...],
        Meta(description="Domains the group must not leave; at most one entry."),
    ] = ()


class SingleDisruptionMode(Shape):
    """Members may be evicted one at a time."""


class AllDisruptionMode(Shape):
    """Evicting one member evicts them all."""


class DisruptionMode(Shape):
    """Exactly one of single and all is set; single is the default."""

    single: Annotated[SingleDisruptionMode | None, Meta(description="Members are preempted one by one.")] = (
        None
    )
    all: Annotated[AllDisruptionMode | None, Meta(description="Members are preempted all at once.")] = None


class PodGroupResourceClaim(Shape):
    """A device claim that the members share."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodGroupResourceClaimStatus(Shape):
    name: str = ""
    resource_claim_name: str | None = None


class WorkloadReference(Shape):
    """Names a template within a Workload of the same namespace."""

    workload_name: str = ""
    template_name: str = ""


class PodGroupSpec(Shape):
    """How a PodGroup is to be scheduled. All but gang.minCount and basic.desiredCount is fixed at creation."""

    parent_composite_pod_group_name: Annotated[
        str | None, Meta(description="CompositePodGroup this group is a child of; absent at the root.")
    ] = None
    workload_ref: Annotated[WorkloadReference | None, _WORKLOAD_REF] = None
    scheduling_policy: Annotated[PodGroupSchedulingPolicy, _POLICY] = PodGroupSchedulingPolicy()
    scheduling_constraints: Annotated[SchedulingConstraints | None, _CONSTRAINTS] = None
    resource_claims: Annotated[
        tuple[PodGroupResourceClaim, ...], Meta(description="Device claims the members share; at most four.")
    ] = ()
    disruption_mode: Annotated[DisruptionMode | None, _DISRUPTION] = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None
    preemption_policy: PreemptionPolicy = None


class PodGroupStatus(Shape):
    """Whether the group has been placed, and why not."""

    conditions: Annotated[
        tuple[Condition, ...],
        merge_list("type"),
        Meta(description="PodGroupInitiallyScheduled says whether the group has been placed, and why not."),
    ] = ()
    resource_claim_statuses: tuple[PodGroupResourceClaimStatus, ...] = ()


class PodGroup(GroupObject):
    """A set of pods that the scheduler places as one. Pods join by naming it in spec.schedulingGroup."""

    spec: Annotated[PodGroupSpec, _SPEC] = PodGroupSpec()
    status: Annotated[PodGroupStatus, _STATUS] = PodGroupStatus()


class CompositePodGroupSpec(Shape):
    """How a CompositePodGroup is to be scheduled. All of it is fixed at creation."""

    parent_composite_pod_group_name: Annotated[
        str | None, Meta(description="CompositePodGroup this group is a child of; absent at the root.")
    ] = None
    workload_ref: Annotated[WorkloadReference | None, _WORKLOAD_REF] = None
    scheduling_policy: Annotated[CompositePodGroupSchedulingPolicy, _POLICY] = (
        CompositePodGroupSchedulingPolicy()
    )
    scheduling_constraints: Annotated[SchedulingConstraints | None, _CONSTRAINTS] = None
    disruption_mode: Annotated[DisruptionMode | None, _DISRUPTION] = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None
    preemption_policy: PreemptionPolicy = None


class CompositePodGroupStatus(Shape):
    """Whether the group of groups has been placed, and why not."""

    conditions: Annotated[tuple[Condition, ...], merge_list("type")] = ()


class CompositePodGroup(ApiObject):
    """A set of PodGroups and CompositePodGroups that the scheduler places as one. Children name their parent."""

    spec: Annotated[CompositePodGroupSpec, _SPEC] = CompositePodGroupSpec()
    status: Annotated[CompositePodGroupStatus, _STATUS] = CompositePodGroupStatus()


class PodGroupTemplate(Shape):
    """What a PodGroup made from this Workload looks like."""

    name: Annotated[str, Meta(description="Unique among all templates of the Workload.")] = ""
    scheduling_policy: Annotated[PodGroupSchedulingPolicy, _POLICY] = PodGroupSchedulingPolicy()
    scheduling_constraints: Annotated[SchedulingConstraints | None, _CONSTRAINTS] = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: Annotated[DisruptionMode | None, _DISRUPTION] = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None
    preemption_policy: PreemptionPolicy = None


class CompositePodGroupTemplate(Shape):
    """What a CompositePodGroup made from this Workload looks like, with the templates of its children."""

    name: Annotated[str, Meta(description="Unique among all templates of the Workload.")] = ""
    scheduling_policy: Annotated[CompositePodGroupSchedulingPolicy, _POLICY] = (
        CompositePodGroupSchedulingPolicy()
    )
    scheduling_constraints: Annotated[SchedulingConstraints | None, _CONSTRAINTS] = None
    disruption_mode: Annotated[DisruptionMode | None, _DISRUPTION] = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None
    preemption_policy: PreemptionPolicy = None
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()
    composite_pod_group_templates: tuple["CompositePodGroupTemplate", ...] = ()


class WorkloadSpec(Shape):
    """The templates of the workload; either a flat list of groups or trees of them, not both."""

    controller_ref: Annotated[
        TypedLocalObjectReference | None,
        Meta(description="The object that runs this workload, such as a Job."),
    ] = None
    pod_group_templates: Annotated[
        tuple[PodGroupTemplate, ...], Meta(description="Templates of flat groups; at most eight.")
    ] = ()
    composite_pod_group_templates: Annotated[
        tuple[CompositePodGroupTemplate, ...],
        Meta(description="Templates of trees of groups; at most eight."),
    ] = ()


class Workload(ApiObject):
    """The blueprint of a distributed application: which groups it consists of and how each is scheduled."""

    spec: Annotated[WorkloadSpec, _SPEC] = WorkloadSpec()


GATED_GROUP_FIELDS: Mapping[str, Gate] = {
    "parent_composite_pod_group_name": Gate.COMPOSITE_POD_GROUP,
    "scheduling_constraints": Gate.TOPOLOGY_AWARE_WORKLOAD_SCHEDULING,
    "preemption_policy": Gate.POD_GROUP_PREEMPTION_POLICY,
    "disruption_mode": Gate.WORKLOAD_AWARE_PREEMPTION,
}
"""Fields of a PodGroupSpec that a feature gate disables; absent is None in all of them."""

TEMPLATE_FIELDS: Mapping[str, str] = {
    field.name: field.encode_name
    for field in fields(PodGroupTemplate)
    if field.name in PodGroupSpec.__struct_fields__
}
"""What a PodGroup takes over from its template: all fields that both have, with their JSON names."""
