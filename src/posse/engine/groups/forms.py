"""How pods name their group and what groups look like, in every form that is understood; the hub's PodGroup comes out.

The rest of the engine sees only that. What is translated here is never written back: the carrier reports to the object
that a group came from.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from posse.engine.events import GroupObject
from posse.engine.keys import Form, GroupKey
from posse.model import coscheduling, volcano
from posse.model.feature_gates import Gate, Gates
from posse.model.meta import Condition, ObjectMeta, Quantity
from posse.model.pod import Pod
from posse.model.workload import (
    BasicSchedulingPolicy,
    CompositePodGroup,
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    PodGroupStatus,
    Workload,
    WorkloadReference,
)

INITIALLY_SCHEDULED = "PodGroupInitiallyScheduled"
DISRUPTION_TARGET = "DisruptionTarget"
TREE_INITIALLY_SCHEDULED = "CompositePodGroupInitiallyScheduled"
PLACEMENT_EXISTS = "scheduling.posse.dev/PlacementExists"

POSSE_LABEL = "scheduling.posse.dev/pod-group"
COSCHEDULING_LABEL = "scheduling.x-k8s.io/pod-group"
VOLCANO_ANNOTATION = "scheduling.k8s.io/group-name"
MIN_RESOURCES_ANNOTATION = "scheduling.posse.dev/min-resources"

VOLCANO_UNSCHEDULABLE = "Unschedulable"

_COSCHEDULING_STARTED = frozenset({"Scheduled", "Scheduling", "Running", "Finished", "Failed"})
_VOLCANO_STARTED = frozenset({"Running", "Completed"})


@dataclass(frozen=True, slots=True)
class Description:
    """A group as the engine sees it, whatever form it came in."""

    key: GroupKey
    podgroup: PodGroup
    minimum_resources: Mapping[str, Quantity] = field(default_factory=dict)


def group_of(pod: Pod) -> GroupKey | None:
    """The group the pod belongs to. One that names several belongs to the first of them in the order of forms."""
    return next(_named_groups(pod), None)


def _named_groups(pod: Pod) -> Iterator[GroupKey]:
    namespace, spec = pod.metadata.namespace, pod.spec
    if spec.scheduling_group is not None and spec.scheduling_group.pod_group_name:
        yield GroupKey(namespace, spec.scheduling_group.pod_group_name)
    reference = spec.workload_ref
    if reference is not None:
        parts = (reference.pod_group, reference.pod_group_replica_key)
        yield GroupKey(namespace, reference.name, Form.WORKLOAD, *parts)
    labels, annotations = pod.metadata.labels, pod.metadata.annotations
    if name := labels.get(POSSE_LABEL):
        yield GroupKey(namespace, name, Form.POSSE)
    if name := labels.get(COSCHEDULING_LABEL):
        yield GroupKey(namespace, name, Form.COSCHEDULING)
    if name := annotations.get(VOLCANO_ANNOTATION):
        yield GroupKey(namespace, name, Form.VOLCANO)


def key_of(obj: GroupObject | CompositePodGroup) -> GroupKey:
    metadata = obj.metadata
    is_composite = isinstance(obj, CompositePodGroup)
    return GroupKey(metadata.namespace, metadata.name, _form_of(obj), is_composite=is_composite)


def parent_of(key: GroupKey, obj: PodGroup | CompositePodGroup | None) -> GroupKey | None:
    """The group of groups that the object names as its parent; it is of the same API."""
    name = obj.spec.parent_composite_pod_group_name if obj is not None else None
    return GroupKey(key.namespace, name, key.form, is_composite=True) if name else None


def _form_of(obj: GroupObject | CompositePodGroup) -> Form:
    match obj:
        case coscheduling.CoschedulingPodGroup():
            return Form.COSCHEDULING
        case volcano.VolcanoPodGroup():
            return Form.VOLCANO
        case _:
            # The same struct in two API groups.
            return Form.POSSE if obj.api_version.startswith(f"{Form.POSSE}/") else Form.NATIVE


def describe(obj: GroupObject) -> Description:
    match obj:
        case coscheduling.CoschedulingPodGroup():
            podgroup = _gang(obj.metadata, obj.spec.min_member, _coscheduling_conditions(obj.status))
            return Description(key_of(obj), podgroup, obj.spec.min_resources)
        case volcano.VolcanoPodGroup():
            podgroup = _gang(obj.metadata, obj.spec.min_member, _volcano_conditions(obj.status))
            return Description(key_of(obj), podgroup, obj.spec.min_resources)
        case _:
            return Description(key_of(obj), obj, _annotated_minimum(obj.metadata))


def implied_group(workload: Workload, key: GroupKey) -> PodGroup | None:
    """What a Workload says of one of its groups, or of one replica of it; None if it has no such group."""
    for template in workload.spec.pod_group_templates:
        if template.name == key.pod_group:
            spec = PodGroupSpec(
                workload_ref=WorkloadReference(workload_name=key.name, template_name=key.pod_group),
                scheduling_policy=template.scheduling_policy,
                scheduling_constraints=template.scheduling_constraints,
                resource_claims=template.resource_claims,
                disruption_mode=template.disruption_mode,
                priority_class_name=template.priority_class_name,
                priority=template.priority,
                preemption_policy=template.preemption_policy,
            )
            return PodGroup(metadata=workload.metadata, spec=spec)
    return None


def group_names(workload: Workload) -> tuple[str, ...]:
    return tuple(template.name for template in workload.spec.pod_group_templates)


def permitted(podgroup: PodGroup, gates: Gates) -> PodGroup:
    """The group without what feature gates forbid to act upon; the object may well have it."""
    spec, policy = podgroup.spec, podgroup.spec.scheduling_policy
    if Gate.COMPOSITE_POD_GROUP not in gates:
        spec = replace(spec, parent_composite_pod_group_name=None)
    if Gate.TOPOLOGY_AWARE_WORKLOAD_SCHEDULING not in gates:
        spec = replace(spec, scheduling_constraints=None)
    if Gate.POD_GROUP_PREEMPTION_POLICY not in gates:
        spec = replace(spec, preemption_policy=None)
    if Gate.WORKLOAD_AWARE_PREEMPTION not in gates:
        spec = replace(spec, disruption_mode=None)
    if Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT not in gates and policy.basic is not None:
        spec = replace(spec, scheduling_policy=replace(policy, basic=BasicSchedulingPolicy()))
    return podgroup if spec is podgroup.spec else replace(podgroup, spec=spec)


def outcome_told(conditions: Sequence[Condition]) -> str:
    """What an object says came of the search for a placement; empty if nothing."""
    return next((one.reason for one in conditions if one.type == PLACEMENT_EXISTS), "")


def absence(key: GroupKey, siblings: Sequence[str] | None = None) -> str:
    """What the members of a group wait for, as long as nothing describes it; `siblings` are the groups its Workload has."""
    if key.form is Form.WORKLOAD and siblings is None:
        return f"Workload {key.name} does not exist yet"
    if key.form is Form.WORKLOAD:
        others = f"only {', '.join(siblings)}" if siblings else "none at all"
        return f"Workload {key.name} has no pod group {key.pod_group!r} yet, {others}"
    if key.form is Form.NATIVE:
        return f"PodGroup {key.name} does not exist yet"
    return f"PodGroup {key.name} of {key.form} does not exist yet"


def _gang(metadata: ObjectMeta, minimum: int, conditions: tuple[Condition, ...]) -> PodGroup:
    # The schemas of these kinds allow what makes no sense to a gang; one pod is the least that can start.
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=max(1, minimum)))
    return PodGroup(
        metadata=metadata,
        spec=PodGroupSpec(scheduling_policy=policy),
        status=PodGroupStatus(conditions=conditions),
    )


def _annotated_minimum(metadata: ObjectMeta) -> Mapping[str, Quantity]:
    """What a group needs in all, where its kind has no field for it. A text that cannot be read asks for nothing."""
    text = metadata.annotations.get(MIN_RESOURCES_ANNOTATION, "{}")
    try:
        return msgspec.json.decode(text, type=dict[str, Quantity])
    except msgspec.DecodeError:
        return {}


def _coscheduling_conditions(status: coscheduling.CoschedulingPodGroupStatus) -> tuple[Condition, ...]:
    return (_STARTED,) if status.phase in _COSCHEDULING_STARTED else ()


def _volcano_conditions(status: volcano.VolcanoPodGroupStatus) -> tuple[Condition, ...]:
    if status.phase in _VOLCANO_STARTED:
        return (_STARTED,)
    return tuple(
        Condition(type=INITIALLY_SCHEDULED, status="False", reason=item.reason, message=item.message)
        for item in status.conditions
        if item.type == VOLCANO_UNSCHEDULABLE and item.status == "True"
    )


_STARTED = Condition(type=INITIALLY_SCHEDULED, status="True", reason="Scheduled")
