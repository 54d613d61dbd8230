"""Groups of pods that are scheduled as one: PodGroup, CompositePodGroup, and the Workload they are stamped from.

These are the hub shapes (scheduling.k8s.io v1beta1 and v1alpha3 are alike); other versions are converted to them.
A union such as gang or basic is an object with one member set; an empty member is an empty object, not null.
"""

from typing import Annotated

from msgspec import Meta

from posse.model.meta import Condition, Int32, ObjectMeta, Shape, TypedLocalObjectReference, merge_list

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


class BasicSchedulingPolicy(Shape):
    """Members are scheduled one by one, as if they belonged to no group."""


class GangSchedulingPolicy(Shape):
    """Members start together: either at least `minCount` of them find a place, or none is bound."""

    min_count: Annotated[
        Int32, Meta(description="How many members must fit at once before any is bound; at least 1.")
    ] = 0


class PodGroupSchedulingPolicy(Shape):
    """How members are brought to nodes. Exactly one of basic and gang is set, and the choice is final."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class CompositeGangSchedulingPolicy(Shape):
    """Child groups start together: either at least `minGroupCount` of them can start, or none does."""

    min_group_count: Annotated[
        Int32, Meta(description="How many child groups must fit at once before any starts; at least 1.")
    ] = 0


class CompositePodGroupSchedulingPolicy(Shape):
    """How child groups are brought to nodes. Exactly one of basic and gang is set, and the choice is final."""

    basic: BasicSchedulingPolicy | None = None
    gang: CompositeGangSchedulingPolicy | None = None


class TopologyConstraint(Shape):
    """Keeps the group inside one topology domain, such as one rack."""

    key: Annotated[
        str, Meta(description="Node label whose value names the domain; all members land on one value.")
    ] = ""


class SchedulingConstraints(Shape):
    """Rules the group obeys as a whole, beside those of its pods."""

    topology: Annotated[
        tuple[TopologyConstraint, ...],
        Meta(description="Domains the group must not leave; at most one entry."),
    ] = ()


class SingleDisruptionMode(Shape):
    """Members may be evicted one at a time."""


class AllDisruptionMode(Shape):
    """Evicting one member evicts them all."""


class DisruptionMode(Shape):
    """What is lost when a member is preempted. Exactly one of single and all is set."""

    single: SingleDisruptionMode | None = None
    all: AllDisruptionMode | None = None


class PodGroupResourceClaim(Shape):
    """A device claim that the members share."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodGroupResourceClaimStatus(Shape):
    name: str = ""
    resource_claim_name: str | None = None


class WorkloadReference(Shape):
    """The Workload, and the template within it, that the group was made from."""

    workload_name: str = ""
    template_name: str = ""


class PodGroupSpec(Shape):
    """What the group asks of the scheduler."""

    parent_composite_pod_group_name: Annotated[
        str | None, Meta(description="CompositePodGroup this group is a child of; absent at the root.")
    ] = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    resource_claims: Annotated[
        tuple[PodGroupResourceClaim, ...], Meta(description="Device claims the members share; at most four.")
    ] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None
    preemption_policy: PreemptionPolicy = None


class PodGroupStatus(Shape):
    """How far the group has come. Written by the scheduler."""

    conditions: Annotated[
        tuple[Condition, ...],
        merge_list("type"),
        Meta(description="PodGroupInitiallyScheduled says whether the group has been placed, and why not."),
    ] = ()
    resource_claim_statuses: tuple[PodGroupResourceClaimStatus, ...] = ()


class PodGroup(Shape):
    """A set of pods that the scheduler places as one. Pods join by naming it in spec.schedulingGroup."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class CompositePodGroupSpec(Shape):
    """What the group of groups asks of the scheduler."""

    parent_composite_pod_group_name: Annotated[
        str | None, Meta(description="CompositePodGroup this group is a child of; absent at the root.")
    ] = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: CompositePodGroupSchedulingPolicy = CompositePodGroupSchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None
    preemption_policy: PreemptionPolicy = None


class CompositePodGroupStatus(Shape):
    """How far the group of groups has come. Written by the scheduler."""

    conditions: Annotated[tuple[Condition, ...], merge_list("type")] = ()


class CompositePodGroup(Shape):
    """A set of PodGroups and CompositePodGroups that the scheduler places as one. Children name their parent."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: CompositePodGroupSpec = CompositePodGroupSpec()
    status: CompositePodGroupStatus = CompositePodGroupStatus()


class PodGroupTemplate(Shape):
    """What a PodGroup made from this Workload looks like."""

    name: Annotated[str, Meta(description="Unique among all templates of the Workload.")] = ""
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None
    preemption_policy: PreemptionPolicy = None


class CompositePodGroupTemplate(Shape):
    """What a CompositePodGroup made from this Workload looks like, with the templates of its children."""

    name: Annotated[str, Meta(description="Unique among all templates of the Workload.")] = ""
    scheduling_policy: CompositePodGroupSchedulingPolicy = CompositePodGroupSchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
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


class Workload(Shape):
    """The blueprint of a distributed application: which groups it consists of and how each is scheduled."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()
