"""Groups of pods that are scheduled as one: PodGroup, CompositePodGroup, and the Workload they are stamped
from.

These are the hub shapes (scheduling.k8s.io v1beta1 and v1alpha3 are alike); other versions are converted to
them. A union such as gang or basic is an object with one member set; an empty member is an empty object, not
null.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta
from msgspec.structs import fields

from posse.model.constraints import (
    ATOMIC,
    FIXED_CHOICE,
    FIXED_KEYS,
    IMMUTABLE,
    PRESENT,
    REQUIRED,
    SET_AT_CREATION,
    UNION_MEMBER,
    KeyedBy,
    MaxDepth,
    Maximum,
    MaxItems,
    Minimum,
    OneOf,
)
from posse.model.feature_gates import Gate
from posse.model.formats import dns_label, dns_subdomain, label_key
from posse.model.meta import ApiObject, Conditions, GroupObject, Int32, Shape, TypedLocalObjectReference

MAX_PRIORITY = 2_000_001_000
"""That of system-node-critical. PriorityClasses of users end at half of it."""
PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
MAX_TEMPLATES = 8
# Levels of a tree of templates, that of the PodGroup templates included.
MAX_TREE_DEPTH = 4

TemplateName = Annotated[
    str, REQUIRED, dns_label, Meta(description="Unique among all templates of the Workload.")
]
ParentName = Annotated[
    str | None,
    IMMUTABLE,
    dns_subdomain,
    Meta(description="CompositePodGroup this group is a child of; absent at the root."),
]
PriorityClassName = Annotated[
    str,
    IMMUTABLE,
    dns_subdomain,
    Meta(description="PriorityClass of the group; all its pods are queued and preempted by it."),
]
Priority = Annotated[
    Int32 | None,
    IMMUTABLE,
    Maximum(MAX_PRIORITY),
    Meta(description="Priority of the group. Computed from the PriorityClass on creation."),
]
PreemptionPolicy = Annotated[
    str | None,
    IMMUTABLE,
    OneOf(PREEMPTION_POLICIES),
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
        Minimum(1),
        Meta(
            description="How many members there will be, at least 1; the scheduler waits a moment for them. "
            "A hint: "
            "members that exist are scheduled without the others in the end."
        ),
    ] = None


class GangSchedulingPolicy(Shape):
    """Members start together: either at least `minCount` of them find a place, or none is bound."""

    min_count: Annotated[
        Int32,
        REQUIRED,
        Minimum(1),
        Meta(description="How many members must fit at once before any is bound; at least 1."),
    ] = 0


class PodGroupSchedulingPolicy(Shape):
    """Exactly one of basic and gang is set."""

    basic: Annotated[BasicSchedulingPolicy | None, UNION_MEMBER, FIXED_CHOICE, _BASIC] = None
    gang: Annotated[GangSchedulingPolicy | None, UNION_MEMBER, SET_AT_CREATION, _GANG] = None


class BasicGroupSchedulingPolicy(Shape):
    """Child groups are scheduled one by one, as if they had no parent."""


class CompositeGangSchedulingPolicy(Shape):
    """Child groups start together: either at least `minGroupCount` of them can start, or none does."""

    min_group_count: Annotated[
        Int32,
        REQUIRED,
        Minimum(1),
        Meta(description="How many child groups must fit at once before any starts; at least 1."),
    ] = 0


class CompositePodGroupSchedulingPolicy(Shape):
    """Exactly one of basic and gang is set."""

    basic: Annotated[BasicGroupSchedulingPolicy | None, UNION_MEMBER, FIXED_CHOICE, _BASIC] = None
    gang: Annotated[CompositeGangSchedulingPolicy | None, UNION_MEMBER, SET_AT_CREATION, _GANG] = None


class TopologyConstraint(Shape):
    """Keeps the group inside one topology domain, such as one rack."""

    key: Annotated[
        str,
        REQUIRED,
        label_key,
        Meta(description="Node label whose value names the domain; all members land on one value."),
    ] = ""


class SchedulingConstraints(Shape):
    """Where the group as a whole may go."""

    topology: Annotated[
        tuple[TopologyConstraint, ...],
        MaxItems(1),
        ATOMIC,
        Meta(description="Domains the group must not leave; at most one entry."),
    ] = ()


class SingleDisruptionMode(Shape):
    """Members may be evicted one at a time."""


class AllDisruptionMode(Shape):
    """Evicting one member evicts them all."""


class DisruptionMode(Shape):
    """Exactly one of single and all is set; single is the default."""

    single: Annotated[
        SingleDisruptionMode | None, UNION_MEMBER, Meta(description="Members are preempted one by one.")
    ] = None
    all: Annotated[
        AllDisruptionMode | None, UNION_MEMBER, Meta(description="Members are preempted all at once.")
    ] = None


class PodGroupResourceClaim(Shape):
    """A device claim that the members share."""

    name: Annotated[str, REQUIRED, dns_label] = ""
    resource_claim_name: Annotated[str | None, UNION_MEMBER, dns_subdomain] = None
    resource_claim_template_name: Annotated[str | None, UNION_MEMBER, dns_subdomain] = None


class PodGroupResourceClaimStatus(Shape):
    name: Annotated[str, PRESENT, dns_label] = ""
    resource_claim_name: Annotated[str | None, dns_subdomain] = None


class WorkloadReference(Shape):
    """Names a template within a Workload of the same namespace."""

    workload_name: Annotated[str, REQUIRED, dns_subdomain] = ""
    template_name: Annotated[str, REQUIRED, dns_label] = ""


ResourceClaims = Annotated[tuple[PodGroupResourceClaim, ...], MaxItems(4), KeyedBy("name")]


class PodGroupSpec(Shape):
    """How a PodGroup is to be scheduled.

    All but gang.minCount and basic.desiredCount is fixed at creation.
    """

    parent_composite_pod_group_name: ParentName = None
    workload_ref: Annotated[WorkloadReference | None, IMMUTABLE, _WORKLOAD_REF] = None
    scheduling_policy: Annotated[PodGroupSchedulingPolicy, PRESENT, _POLICY] = PodGroupSchedulingPolicy()
    scheduling_constraints: Annotated[SchedulingConstraints | None, IMMUTABLE, _CONSTRAINTS] = None
    resource_claims: Annotated[
        ResourceClaims, IMMUTABLE, Meta(description="Device claims the members share; at most four.")
    ] = ()
    disruption_mode: Annotated[DisruptionMode | None, IMMUTABLE, _DISRUPTION] = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None
    preemption_policy: PreemptionPolicy = None


class PodGroupStatus(Shape):
    """Whether the group has been placed, and why not."""

    conditions: Annotated[
        Conditions,
        Meta(description="PodGroupInitiallyScheduled says whether the group has been placed, and why not."),
    ] = ()
    resource_claim_statuses: Annotated[
        tuple[PodGroupResourceClaimStatus, ...], MaxItems(4), KeyedBy("name")
    ] = ()


class PodGroup(GroupObject):
    """A set of pods that the scheduler places as one. Pods join by naming it in spec.schedulingGroup."""

    spec: Annotated[PodGroupSpec, PRESENT, _SPEC] = PodGroupSpec()
    status: Annotated[PodGroupStatus, _STATUS] = PodGroupStatus()


class CompositePodGroupSpec(Shape):
    """How a CompositePodGroup is to be scheduled. All but gang.minGroupCount is fixed at creation."""

    parent_composite_pod_group_name: ParentName = None
    workload_ref: Annotated[WorkloadReference | None, REQUIRED, IMMUTABLE, _WORKLOAD_REF] = None
    scheduling_policy: Annotated[CompositePodGroupSchedulingPolicy, PRESENT, _POLICY] = (
        CompositePodGroupSchedulingPolicy()
    )
    scheduling_constraints: Annotated[SchedulingConstraints | None, IMMUTABLE, _CONSTRAINTS] = None
    disruption_mode: Annotated[DisruptionMode | None, IMMUTABLE, _DISRUPTION] = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None
    preemption_policy: PreemptionPolicy = None


class CompositePodGroupStatus(Shape):
    """Whether the group of groups has been placed, and why not."""

    conditions: Conditions = ()


class CompositePodGroup(ApiObject):
    """A set of PodGroups and CompositePodGroups that the scheduler places as one.

    Children name their parent.
    """

    spec: Annotated[CompositePodGroupSpec, PRESENT, _SPEC] = CompositePodGroupSpec()
    status: Annotated[CompositePodGroupStatus, _STATUS] = CompositePodGroupStatus()


class PodGroupTemplate(Shape):
    """What a PodGroup made from this Workload looks like."""

    name: TemplateName = ""
    scheduling_policy: Annotated[PodGroupSchedulingPolicy, PRESENT, _POLICY] = PodGroupSchedulingPolicy()
    scheduling_constraints: Annotated[SchedulingConstraints | None, IMMUTABLE, _CONSTRAINTS] = None
    resource_claims: Annotated[ResourceClaims, IMMUTABLE] = ()
    disruption_mode: Annotated[DisruptionMode | None, IMMUTABLE, _DISRUPTION] = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None
    preemption_policy: PreemptionPolicy = None


# In a Workload, or in a template of a composite group.
TEMPLATE_LIST = (MaxItems(MAX_TEMPLATES), KeyedBy("name"), FIXED_KEYS)
PodGroupTemplates = Annotated[tuple[PodGroupTemplate, ...], *TEMPLATE_LIST]


class CompositePodGroupTemplate(Shape):
    """What a CompositePodGroup made from this Workload looks like, with the templates of its children."""

    name: TemplateName = ""
    scheduling_policy: Annotated[CompositePodGroupSchedulingPolicy, PRESENT, _POLICY] = (
        CompositePodGroupSchedulingPolicy()
    )
    scheduling_constraints: Annotated[SchedulingConstraints | None, IMMUTABLE, _CONSTRAINTS] = None
    disruption_mode: Annotated[DisruptionMode | None, IMMUTABLE, _DISRUPTION] = None
    priority_class_name: PriorityClassName = ""
    priority: Priority = None
    preemption_policy: PreemptionPolicy = None
    pod_group_templates: PodGroupTemplates = ()
    composite_pod_group_templates: Annotated[
        tuple["CompositePodGroupTemplate", ...], *TEMPLATE_LIST, MaxDepth(MAX_TREE_DEPTH - 1)
    ] = ()


class WorkloadSpec(Shape):
    """The templates of the workload; either a flat list of groups or trees of them, not both."""

    controller_ref: Annotated[
        TypedLocalObjectReference | None,
        IMMUTABLE,
        Meta(description="The object that runs this workload, such as a Job."),
    ] = None
    pod_group_templates: Annotated[
        PodGroupTemplates, UNION_MEMBER, Meta(description="Templates of flat groups; at most eight.")
    ] = ()
    composite_pod_group_templates: Annotated[
        tuple[CompositePodGroupTemplate, ...],
        *TEMPLATE_LIST,
        UNION_MEMBER,
        MaxDepth(MAX_TREE_DEPTH - 1),
        Meta(description="Templates of trees of groups; at most eight."),
    ] = ()


class Workload(ApiObject):
    """The blueprint of a distributed application: which groups it consists of and how each is scheduled."""

    spec: Annotated[WorkloadSpec, PRESENT, _SPEC] = WorkloadSpec()


GATED_GROUP_FIELDS: Mapping[str, tuple[Gate, ...]] = {
    "parent_composite_pod_group_name": (Gate.COMPOSITE_POD_GROUP,),
    "scheduling_constraints": (Gate.TOPOLOGY_AWARE_WORKLOAD_SCHEDULING,),
    # The policy belongs to the priority: without one, those of the members count.
    "preemption_policy": (Gate.POD_GROUP_PREEMPTION_POLICY, Gate.WORKLOAD_AWARE_PREEMPTION),
    "disruption_mode": (Gate.WORKLOAD_AWARE_PREEMPTION,),
    "priority": (Gate.WORKLOAD_AWARE_PREEMPTION,),
    "priority_class_name": (Gate.WORKLOAD_AWARE_PREEMPTION,),
}
"""Fields of a PodGroupSpec that feature gates disable, each unless all of its gates are on."""

TEMPLATE_FIELDS: Mapping[str, str] = {
    field.name: field.encode_name
    for field in fields(PodGroupTemplate)
    if field.name in PodGroupSpec.__struct_fields__
}
"""What a PodGroup takes over from its template: all fields that both have, with their JSON names."""
