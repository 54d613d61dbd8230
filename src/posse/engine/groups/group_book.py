"""Groups and their members, in any order of arrival. Nothing here decides where pods go."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from msgspec.structs import replace

from posse.engine.decisions import ReportGroup
from posse.engine.groups.annotations import GROUP_ANNOTATIONS
from posse.engine.groups.forms import (
    WORKLOAD_REF,
    describe,
    form_of,
    group_names,
    key_of,
)
from posse.engine.groups.group_record import GroupRecord, lowest_priority
from posse.engine.groups.hierarchy_links import CompositeRecord, TreeLinks
from posse.engine.groups.priority_classes import PriorityClasses
from posse.engine.groups.reported_object import ReportedObject
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord
from posse.model.feature_gates import ALL_GATES, Gate, Gates
from posse.model.limits import first_excess
from posse.model.meta import GroupObject
from posse.model.priority_class import PriorityClass
from posse.model.workload import (
    GATED_GROUP_FIELDS,
    BasicSchedulingPolicy,
    CompositePodGroup,
    PodGroup,
    PodGroupSpec,
    Workload,
)

Described = TypeVar("Described", PodGroup, CompositePodGroup)


class GroupBook:
    """Groups exist while an object describes them or a member is left.

    A group implied by a Workload exists only with members: nothing else says how many replicas there are.
    """

    def __init__(self, gates: Gates = ALL_GATES, *, members_must_match: bool = False) -> None:
        self._gates = gates
        self._disabled = _disabled(gates)
        """Fields of groups that are ignored, each with the value that stands for its absence."""
        self.members_must_match = members_must_match
        """Whether groups whose members have another priority are refused; otherwise the group's counts."""
        self.classes = PriorityClasses()
        self._unadmitted: dict[GroupKey, GroupObject | CompositePodGroup] = {}
        """Groups whose priority only their class tells, as they were seen."""
        self.links = TreeLinks()
        """The trees that groups with a parent are part of."""
        self._groups: dict[GroupKey, GroupRecord] = {}
        self._workloads: dict[tuple[str, str], Workload] = {}
        self._implied: dict[tuple[str, str], dict[GroupKey, GroupRecord]] = {}
        """Groups with members that name the Workload, known or not; in order of arrival."""

    def __iter__(self) -> Iterator[GroupRecord]:
        return iter(self._groups.values())

    def get(self, key: GroupKey) -> GroupRecord | None:
        return self._groups.get(key)

    def reported(self, key: GroupKey) -> ReportedObject | None:
        """The record of a pod group or a composite group."""
        return self.links.composite(key) if key.is_composite else self._groups.get(key)

    def definition(self, key: GroupKey) -> tuple[object, ...] | None:
        """What is stated of the group, with its object's identity; None while no object describes it."""
        if key.is_composite:
            record = self.links.composite(key)
            if record is None:
                return None
            return record.uid, record.obj.spec, _stated(record.obj), record.priority_error
        group = self._groups.get(key)
        if group is None or group.obj is None:
            return None
        return (
            group.obj.metadata.uid,
            group.obj.spec,
            _stated(group.obj),
            group.minimum_resources,
            group.priority_error,
            group.excess,
        )

    def put(self, obj: GroupObject) -> GroupRecord:
        description = describe(obj)
        group = self._get_or_make(key_of(obj))
        group.excess = first_excess(obj)
        group.minimum_resources = {} if group.excess else description.minimum_resources
        podgroup = self._permitted(description.podgroup)
        if not form_of(group.key).has_admission:
            self._unadmitted[group.key] = obj
            podgroup, group.priority_error = self.classes.completed(podgroup)
        group.define(podgroup)
        self.links.link(group.key, podgroup)
        return group

    def _permitted(self, podgroup: PodGroup) -> PodGroup:
        return _without_size(_permitted(podgroup, self._disabled), self._gates)

    def put_composite(self, composite: CompositePodGroup) -> None:
        permitted, error, key = _permitted(composite, self._disabled), None, key_of(composite)
        if not form_of(key).has_admission:
            self._unadmitted[key] = composite
            permitted, error = self.classes.completed(permitted)
        self.links.put(permitted).priority_error = error

    def drop_composite(self, key: GroupKey) -> None:
        self._unadmitted.pop(key, None)
        self.links.drop(key)

    def put_class(self, priority_class: PriorityClass) -> list[GroupKey]:
        """Store the PriorityClass; returns the groups that changed."""
        self.classes.put(priority_class)
        return self._prioritise()

    def drop_class(self, name: str) -> list[GroupKey]:
        """Remove the PriorityClass; returns the groups that changed."""
        self.classes.drop(name)
        return self._prioritise()

    def _prioritise(self) -> list[GroupKey]:
        """Whichever class changed: one that is the default concerns groups that do not name it."""
        changed = [key for place in self._implied for key in self._imply(place)]
        for key, obj in list(self._unadmitted.items()):
            before = self.definition(key)
            if isinstance(obj, CompositePodGroup):
                self.put_composite(obj)
            else:
                self.put(obj)
            changed += [key] if self.definition(key) != before else []
        return [*changed, *self.links.composite_keys()]

    def ranked(self, entry: GroupKey) -> Iterator[tuple[GroupRecord, int | None]]:
        """Groups of the entry, each with the priority that protects its members; None if each has its own.

        In a tree it is that of the root. Below a basic group it may be another.
        """
        if not entry.is_composite:
            alone = self._groups.get(entry)
            if alone is not None:
                yield alone, alone.priority if alone.obj is not None else None
            return
        groups = [one for one in map(self._groups.get, self.links.below(entry)) if one is not None]
        root = self.links.composite(entry)
        if root is not None:
            stated = root.priority
            members = (record for group in groups for record in group.members.values())
            whole = stated if stated is not None else lowest_priority(members)
            yield from ((group, self._own_in_tree(group, root, whole)) for group in groups)
        else:
            yield from ((group, group.priority if group.obj is not None else None) for group in groups)

    def _own_in_tree(self, group: GroupRecord, root: CompositeRecord, whole: int) -> int:
        """The priority of a group in a tree, which is `whole` unless it has another class than the root."""
        highest = self.links.highest_joined(group.key) or group
        spec, name = highest.obj.spec if highest.obj is not None else None, root.obj.spec.priority_class_name
        if spec is None or spec.priority is None or self.classes.are_alike(spec.priority_class_name, name):
            return whole
        return spec.priority

    def workload(self, namespace: str, name: str) -> Workload | None:
        return self._workloads.get((namespace, name))

    def put_workload(self, workload: Workload) -> list[GroupKey]:
        """Store the Workload; returns the groups that changed."""
        place = workload.metadata.namespace, workload.metadata.name
        self._workloads[place] = workload
        return self._imply(place)

    def drop_workload(self, namespace: str, name: str) -> list[GroupKey]:
        """Remove the Workload; returns the groups that changed."""
        self._workloads.pop((namespace, name), None)
        return self._imply((namespace, name))

    def _imply(self, place: tuple[str, str]) -> list[GroupKey]:
        groups = self._implied.get(place, {}).values()
        return [group.key for group in groups if self._describe_implied(group)]

    def _describe_implied(self, group: GroupRecord) -> bool:
        before = self.definition(group.key)
        workload = self._workloads.get((group.key.namespace, group.key.name))
        group.siblings = None if workload is None else group_names(workload)
        implied = None if workload is None else WORKLOAD_REF.implied_group(workload, group.key)
        group.priority_error = None
        if implied is not None:
            implied, group.priority_error = self.classes.completed(self._permitted(implied))
        group.define(implied)
        return self.definition(group.key) != before

    def repeat_report(self, lost: ReportGroup) -> None:
        """A report, or only the answer to it, was lost.

        A started group stays started, even if it lost members since.

        Newer reports are on their way by themselves.
        """
        key = lost.group
        record = self.reported(key)
        if record is None or (record.uid, record.scheduled) != (lost.uid, lost.scheduled):
            return
        if lost.minimum_running is not None:
            record.forget_told()
        elif record.scheduled:
            # It was not withheld, so the bindings beside it were made.
            record.report_may_be_lost, record.is_start_uncertain = True, False
        else:
            record.not_yet_scheduled()

    def not_yet_scheduled(self, key: GroupKey) -> None:
        """The last report does not hold, or was not written: it is repeated when due."""
        record = self.reported(key)
        if record is not None:
            record.not_yet_scheduled()

    def drop(self, key: GroupKey) -> None:
        group = self._groups.get(key)
        if group is not None:
            group.define(None)
            group.priority_error = None
            self._unadmitted.pop(key, None)
            self.links.link(key, None)
            group.minimum_resources, group.excess = {}, None
            self._forget_if_empty(group)

    def join(self, record: PodRecord, key: GroupKey) -> GroupRecord:
        group = self._get_or_make(key)
        group.members[record.ref.uid] = record
        # The same key object for all members: lookups compare no names.
        record.group = group.key
        return group

    def leave(self, record: PodRecord, key: GroupKey) -> None:
        group = self._groups[key]
        del group.members[record.ref.uid]
        self._forget_if_empty(group)

    def _get_or_make(self, key: GroupKey) -> GroupRecord:
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = GroupRecord(key)
            if form_of(key).is_implied:
                self._implied.setdefault((key.namespace, key.name), {})[key] = group
                self._describe_implied(group)
        return group

    def _forget_if_empty(self, group: GroupRecord) -> None:
        is_implied = form_of(group.key).is_implied
        if not group.members and (group.obj is None or is_implied):
            del self._groups[group.key]
            if is_implied:
                self._forget_implied(group.key)

    def _forget_implied(self, key: GroupKey) -> None:
        together = self._implied[key.namespace, key.name]
        del together[key]
        if not together:
            del self._implied[key.namespace, key.name]


def _disabled(gates: Gates) -> dict[str, object]:
    absent, fields = PodGroupSpec(), GATED_GROUP_FIELDS.items()
    return {name: getattr(absent, name) for name, needed in fields if not gates.issuperset(needed)}


def _permitted(obj: Described, disabled: Mapping[str, object]) -> Described:
    """The object without the fields that feature gates disable; what is stored may have them."""
    return replace(obj, spec=replace(obj.spec, **disabled)) if disabled else obj


def _without_size(podgroup: PodGroup, gates: Gates) -> PodGroup:
    """The group without the number of pods it expects, where its gate is off."""
    policy = podgroup.spec.scheduling_policy
    if Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT in gates or policy.basic is None:
        return podgroup
    unsized = replace(policy, basic=BasicSchedulingPolicy())
    return replace(podgroup, spec=replace(podgroup.spec, scheduling_policy=unsized))


def _stated(obj: PodGroup | CompositePodGroup) -> tuple[str | None, ...]:
    annotations = obj.metadata.annotations
    return tuple(map(annotations.get, GROUP_ANNOTATIONS)) if annotations else ()
