"""Groups and their members, in any order of arrival. Nothing here decides where pods go."""

from collections.abc import Iterator

from msgspec.structs import replace

from posse.engine.decisions import ReportGroup
from posse.engine.groups.forms import (
    WORKLOAD_REF,
    describe,
    form_of,
    group_names,
    key_of,
)
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.hierarchy_links import TreeLinks
from posse.engine.groups.reported_object import ReportedObject
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord
from posse.model.feature_gates import ALL_GATES, Gate, Gates
from posse.model.limits import first_excess
from posse.model.meta import GroupObject
from posse.model.workload import GATED_GROUP_FIELDS, BasicSchedulingPolicy, PodGroup, Workload


class GroupBook:
    """Groups exist while an object describes them or a member is left.

    A group implied by a Workload exists only with members: nothing else says how many replicas there are.
    """

    def __init__(self, gates: Gates = ALL_GATES) -> None:
        self._gates = gates
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
        """The specification of the group with its object's identity; None while no object describes it."""
        if key.is_composite:
            record = self.links.composite(key)
            return (record.uid, record.obj.spec) if record is not None else None
        group = self._groups.get(key)
        if group is None or group.obj is None:
            return None
        return group.obj.metadata.uid, group.obj.spec, group.minimum_resources, group.excess

    def put(self, obj: GroupObject) -> GroupRecord:
        description = describe(obj)
        group = self._get_or_make(key_of(obj))
        group.excess = first_excess(obj)
        group.minimum_resources = {} if group.excess else description.minimum_resources
        podgroup = _permitted(description.podgroup, self._gates)
        group.define(podgroup)
        self.links.link(group.key, podgroup)
        return group

    def effective_priority(self, group: GroupRecord) -> int | None:
        """The priority that protects its members, in a tree that of the root; None if each has its own."""
        root = self.links.root(group.key)
        if root is not None:
            return root.priority
        return group.priority if group.obj is not None else None

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
        group.define(None if implied is None else _permitted(implied, self._gates))
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
        if record.scheduled:
            record.report_may_be_lost = True
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


def _permitted(podgroup: PodGroup, gates: Gates) -> PodGroup:
    """The group without the fields that feature gates disable; the stored object may have them."""
    spec, policy = podgroup.spec, podgroup.spec.scheduling_policy
    disabled = {name: None for name, gate in GATED_GROUP_FIELDS.items() if gate not in gates}
    if disabled:
        spec = replace(spec, **disabled)
    if Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT not in gates and policy.basic is not None:
        spec = replace(spec, scheduling_policy=replace(policy, basic=BasicSchedulingPolicy()))
    return podgroup if spec is podgroup.spec else replace(podgroup, spec=spec)
