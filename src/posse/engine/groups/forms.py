"""Forms of groups: the APIs that describe groups, and how pods name their group in each.

A form translates its objects to the hub's PodGroup, and the rest of the engine sees only that. The other half
of each form, the kind of its objects and the status written to them, is in `writes/group_status.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from posse.engine.keys import NATIVE_FORM, WORKLOAD_FORM, GroupKey
from posse.model import coscheduling, volcano
from posse.model.meta import Condition, GroupObject, ObjectMeta, Quantity
from posse.model.pod import Pod
from posse.model.workload import (
    TEMPLATE_FIELDS,
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
"""Whether the minimum of a PodGroup was placed once; the message says why not."""
DISRUPTION_TARGET = "DisruptionTarget"
"""True on a pod or group that is evicted; the message names the preemptor."""
TREE_INITIALLY_SCHEDULED = "CompositePodGroupInitiallyScheduled"
"""Whether the minimum of a CompositePodGroup was placed once; the message says why not."""
MINIMUM_RUNNING = "scheduling.posse.dev/MinimumRunning"
"""False on a group that has started and has fewer pods on nodes than its minimum; absent otherwise."""
PLACEMENT_EXISTS = "scheduling.posse.dev/PlacementExists"
"""What an exact search has found: whether the waiting group fits anywhere."""
PODS_NOT_MATCHING_PRIORITY = "PodsNotMatchingPriority"
"""True on a group with members of another priority than its own, which are named."""

POSSE_LABEL = "scheduling.posse.dev/pod-group"
"""Label of pods: the PodGroup of scheduling.posse.dev that they belong to."""
COSCHEDULING_LABEL = "scheduling.x-k8s.io/pod-group"
VOLCANO_ANNOTATION = "scheduling.k8s.io/group-name"
MIN_RESOURCES_ANNOTATION = "scheduling.posse.dev/min-resources"
"""On a PodGroup: resources as JSON that must be free in the cluster before it starts."""

VOLCANO_UNSCHEDULABLE = "Unschedulable"

_COSCHEDULING_STARTED = frozenset({"Scheduled", "Running", "Finished", "Failed"})
"""Scheduling only says that enough pods exist; Scheduled is of older releases."""
_VOLCANO_STARTED = frozenset({"Running", "Completed"})
_STARTED = Condition(type=INITIALLY_SCHEDULED, status="True", reason="Scheduled")

Described = TypeVar("Described", bound=GroupObject)


@dataclass(frozen=True, slots=True)
class Description:
    """A group as the engine sees it, independent of its form."""

    podgroup: PodGroup
    minimum_resources: Mapping[str, Quantity] = field(default_factory=dict)


class GroupForm:
    """One way to describe groups.

    Subclasses hold the differences between forms; no other code checks the form.
    """

    name: ClassVar[str]
    """The API group in most forms. Keys of groups hold it."""
    is_implied: ClassVar[bool] = False
    """Groups have no object of their own: pods name a group within a Workload."""
    is_custom_resource: ClassVar[bool] = False
    """API servers do not merge lists in the status of its objects."""
    has_composites: ClassVar[bool] = False
    """The API has CompositePodGroups, too."""
    has_admission: ClassVar[bool] = True
    """The API server sets the priority of groups from their class; otherwise nothing has checked it."""
    has_message: ClassVar[bool] = True
    """The status of its objects has a field for advice."""
    refusal: ClassVar[tuple[str, str]] = (INITIALLY_SCHEDULED, "False")
    """Type and status of the condition of a group that could not be scheduled."""

    def group_of(self, pod: Pod) -> GroupKey | None:
        """The group that the pod names in this form."""
        raise NotImplementedError

    def absence(self, key: GroupKey, _siblings: Sequence[str] | None) -> str:
        """What members wait for without an object of their group; `siblings` are its Workload's groups."""
        origin = "" if self.name == NATIVE_FORM else f" of {self.name}"
        return f"PodGroup {key.name}{origin} does not exist yet"

    def title(self, key: GroupKey) -> str:
        """Name of the group at the start of a sentence in messages."""
        return f"PodGroup {key}"


class ObjectForm(GroupForm, Generic[Described]):
    """A form in which each group has an object that describes it."""

    struct: ClassVar[type[GroupObject]]

    def describe(self, obj: Described) -> Description:
        raise NotImplementedError


class NativeForm(ObjectForm[PodGroup]):
    """PodGroup of Kubernetes; pods name it in spec.schedulingGroup."""

    name = NATIVE_FORM
    struct = PodGroup
    has_composites = True

    def group_of(self, pod: Pod) -> GroupKey | None:
        group = pod.spec.scheduling_group
        if group is None or not group.pod_group_name:
            return None
        return GroupKey(pod.metadata.namespace, group.pod_group_name)

    def describe(self, obj: PodGroup) -> Description:
        return Description(obj, _annotated_minimum(obj.metadata))


class WorkloadForm(GroupForm):
    """A group within a Workload, or one replica of it; pods name both in spec.workloadRef."""

    name = WORKLOAD_FORM
    is_implied = True
    has_admission = False
    has_message = False

    def group_of(self, pod: Pod) -> GroupKey | None:
        reference = pod.spec.workload_ref
        if reference is None:
            return None
        parts = (reference.pod_group, reference.pod_group_replica_key)
        return GroupKey(pod.metadata.namespace, reference.name, self.name, *parts)

    def implied_group(self, workload: Workload, key: GroupKey) -> PodGroup | None:
        """The group that the Workload implies; None if it has no such group."""
        for template in workload.spec.pod_group_templates:
            if template.name == key.pod_group:
                reference = WorkloadReference(workload_name=key.name, template_name=key.pod_group)
                copied = {name: getattr(template, name) for name in TEMPLATE_FIELDS}
                return PodGroup(
                    metadata=workload.metadata, spec=PodGroupSpec(workload_ref=reference, **copied)
                )
        return None

    def absence(self, key: GroupKey, siblings: Sequence[str] | None) -> str:
        if siblings is None:
            return f"Workload {key.name} does not exist yet"
        others = f"only {', '.join(siblings)}" if siblings else "none at all"
        return f"Workload {key.name} has no pod group {key.pod_group!r} yet, {others}"

    def title(self, key: GroupKey) -> str:
        replica = f", replica {key.replica_key}," if key.replica_key else ""
        return f"Group {key.pod_group}{replica} of Workload {key.namespace}/{key.name}"


class PosseForm(NativeForm):
    """The same PodGroup as a custom resource; pods name it by a label."""

    name = "scheduling.posse.dev"
    is_custom_resource = True
    has_admission = False

    def group_of(self, pod: Pod) -> GroupKey | None:
        name = pod.metadata.labels.get(POSSE_LABEL)
        return GroupKey(pod.metadata.namespace, name, self.name) if name else None


class CoschedulingForm(ObjectForm[coscheduling.CoschedulingPodGroup]):
    """PodGroup of the coscheduling plugin; pods name it by a label. Its status is a phase only."""

    name = "scheduling.x-k8s.io"
    struct = coscheduling.CoschedulingPodGroup
    is_custom_resource = True
    has_message = False

    def group_of(self, pod: Pod) -> GroupKey | None:
        name = pod.metadata.labels.get(COSCHEDULING_LABEL)
        return GroupKey(pod.metadata.namespace, name, self.name) if name else None

    def describe(self, obj: coscheduling.CoschedulingPodGroup) -> Description:
        conditions = (_STARTED,) if obj.status.phase in _COSCHEDULING_STARTED else ()
        return Description(_gang(obj.metadata, obj.spec.min_member, conditions), obj.spec.min_resources)


class VolcanoForm(ObjectForm[volcano.VolcanoPodGroup]):
    """PodGroup of Volcano; pods name it by an annotation."""

    name = "scheduling.volcano.sh"
    struct = volcano.VolcanoPodGroup
    is_custom_resource = True
    refusal = (VOLCANO_UNSCHEDULABLE, "True")

    def group_of(self, pod: Pod) -> GroupKey | None:
        name = pod.metadata.annotations.get(VOLCANO_ANNOTATION)
        return GroupKey(pod.metadata.namespace, name, self.name) if name else None

    def describe(self, obj: volcano.VolcanoPodGroup) -> Description:
        podgroup = _gang(obj.metadata, obj.spec.min_member, self._conditions(obj.status))
        return Description(podgroup, obj.spec.min_resources)

    def _conditions(self, status: volcano.VolcanoPodGroupStatus) -> tuple[Condition, ...]:
        if status.phase in _VOLCANO_STARTED:
            return (_STARTED,)
        return tuple(
            Condition(type=INITIALLY_SCHEDULED, status="False", reason=item.reason, message=item.message)
            for item in status.conditions
            if (item.type, item.status) == self.refusal
        )


NATIVE, WORKLOAD_REF, POSSE = NativeForm(), WorkloadForm(), PosseForm()
COSCHEDULING, VOLCANO = CoschedulingForm(), VolcanoForm()

FORMS: tuple[GroupForm, ...] = (NATIVE, WORKLOAD_REF, POSSE, COSCHEDULING, VOLCANO)
"""All forms. A pod that names groups in several forms belongs to the first."""
_BY_NAME = {form.name: form for form in FORMS}
_OBJECT_FORMS: tuple[ObjectForm[Any], ...] = tuple(form for form in FORMS if isinstance(form, ObjectForm))
_BY_API_GROUP = {form.name: form for form in _OBJECT_FORMS}
# Native and Posse's PodGroups have one struct; the first form of a struct counts.
_BY_STRUCT = {form.struct: form for form in reversed(_OBJECT_FORMS)}


def form_of(key: GroupKey) -> GroupForm:
    return _BY_NAME[key.form]


def group_of(pod: Pod) -> GroupKey | None:
    """The group that the pod belongs to."""
    for form in FORMS:
        key = form.group_of(pod)
        if key is not None:
            return key
    return None


def key_of(obj: GroupObject | CompositePodGroup) -> GroupKey:
    metadata = obj.metadata
    is_composite = isinstance(obj, CompositePodGroup)
    return GroupKey(metadata.namespace, metadata.name, _form_describing(obj).name, is_composite=is_composite)


def describe(obj: GroupObject) -> Description:
    return _form_describing(obj).describe(obj)


def _form_describing(obj: GroupObject | CompositePodGroup) -> ObjectForm[Any]:
    """The form by the API group, as Posse's kinds share the structs of Kubernetes; else by the struct."""
    by_group = _BY_API_GROUP.get(obj.api_version.partition("/")[0])
    return by_group or _BY_STRUCT.get(type(obj), NATIVE)


def parent_of(key: GroupKey, obj: PodGroup | CompositePodGroup | None) -> GroupKey | None:
    """The CompositePodGroup that the object names as its parent; it is of the same API."""
    name = obj.spec.parent_composite_pod_group_name if obj is not None else None
    return GroupKey(key.namespace, name, key.form, is_composite=True) if name else None


def group_names(workload: Workload) -> tuple[str, ...]:
    return tuple(template.name for template in workload.spec.pod_group_templates)


def reported_outcome(conditions: Sequence[Condition]) -> str:
    """Outcome of the search for a placement in the status; empty if there is none."""
    return next((one.reason for one in conditions if one.type == PLACEMENT_EXISTS), "")


def _gang(metadata: ObjectMeta, minimum: int, conditions: tuple[Condition, ...]) -> PodGroup:
    # The schemas of these kinds allow a minimum below 1; a gang needs at least one pod.
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=max(1, minimum)))
    return PodGroup(
        metadata=metadata,
        spec=PodGroupSpec(scheduling_policy=policy),
        status=PodGroupStatus(conditions=conditions),
    )


def _annotated_minimum(metadata: ObjectMeta) -> Mapping[str, Quantity]:
    """Total resources that the group needs, by annotation as its kind has no field.

    Unreadable text means none.
    """
    text = metadata.annotations.get(MIN_RESOURCES_ANNOTATION)
    if text is None:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Quantity])
    except msgspec.DecodeError:
        return {}
