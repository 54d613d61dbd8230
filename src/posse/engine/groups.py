"""Groups and their members, whichever came first. Nothing here decides where pods go."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from posse.engine.backlog import Waiting
from posse.engine.cluster_state import PodRecord
from posse.engine.decisions import Form, GroupKey, ReportGroup
from posse.engine.group_forms import (
    DISRUPTION_TARGET,
    INITIALLY_SCHEDULED,
    GroupObject,
    describe,
    group_names,
    implied_group,
    outcome_told,
    permitted,
)
from posse.engine.trees.links import TreeLinks
from posse.model.feature_gates import ALL_GATES, Gates
from posse.model.meta import Condition, Quantity
from posse.model.workload import PodGroup, Workload


@dataclass(slots=True, eq=False)
class GroupRecord:
    key: GroupKey
    podgroup: PodGroup | None = None
    """What describes it, in the hub's shape; None until that is seen, and until then its members wait."""
    siblings: tuple[str, ...] | None = None
    """The groups that its Workload has; None where there is no Workload, or where its form has none."""
    minimum_resources: Mapping[str, Quantity] = field(default_factory=dict)
    """What must be free in the whole cluster before it is tried; empty in most forms."""
    members: dict[str, PodRecord] = field(default_factory=dict)
    """Every pod that names the group and is neither finished nor gone, by uid, in order of arrival."""
    scheduled: bool = False
    """PodGroupInitiallyScheduled is True, or was reported so. It never becomes False again."""
    is_untold: bool = False
    """That it is scheduled was reported, but may not have arrived: it is said again, whatever has happened since."""
    has_completed_members: bool = False
    """A member has succeeded: the group is on its way to its end, and fewer than its minimum are no loss."""
    is_known_to_be_short: bool = False
    """That it fell below its minimum has been told."""
    is_disrupted: bool = False
    """It is marked as evicted as a whole, and does not run again yet."""
    awaits_volumes: bool = False
    """Members have nodes, but none is bound before the claims of all of them are."""
    former: Waiting | None = None
    """Its entry of the queue, while it is not tried for want of members; what it has waited is not forgotten."""
    awaits_bindings: bool = False
    """It is not tried until its promised members are seen on their nodes, or refused."""
    reported: tuple[str, str] = ("", "")
    """Reason and message last written for PodGroupInitiallyScheduled=False."""
    outcome: str = ""
    """Of the search for a placement, as last written."""
    gathered: bool = False
    """It has been free to be tried, all the pods it expects being there or not; it does not wait for them again."""

    @property
    def uid(self) -> str:
        """Of the object that describes it; empty as long as none does."""
        return self.podgroup.metadata.uid if self.podgroup is not None else ""

    @property
    def is_gang(self) -> bool:
        return self.podgroup is not None and self.podgroup.spec.scheduling_policy.gang is not None

    @property
    def minimum(self) -> int:
        """How many must be placed before any is bound: a basic group starts with whatever fits."""
        policy = self.podgroup.spec.scheduling_policy if self.podgroup is not None else None
        return policy.gang.min_count if policy is not None and policy.gang is not None else 1

    @property
    def expected(self) -> int:
        """How many members a basic group says there will be; 0 if it does not say."""
        policy = self.podgroup.spec.scheduling_policy if self.podgroup is not None else None
        basic = policy.basic if policy is not None else None
        return (basic.desired_count or 0) if basic is not None else 0

    @property
    def topology_key(self) -> str:
        """The node label of which all members must have one value; empty if they may go anywhere."""
        constraints = self.podgroup.spec.scheduling_constraints if self.podgroup is not None else None
        return constraints.topology[0].key if constraints is not None and constraints.topology else ""

    @property
    def states_priority(self) -> bool:
        """Whether the group has a priority of its own, which members must share."""
        stated = self.podgroup is not None and self.podgroup.spec.priority is not None
        # Of this form alone the API server is sure to resolve the priority when a group is made.
        return stated or self.key.form is Form.NATIVE

    @property
    def priority(self) -> int:
        """Where the group states none, its weakest member decides."""
        if self.podgroup is None:
            return 0
        if self.states_priority:
            return self.podgroup.spec.priority or 0
        return min((record.priority for record in self.members.values()), default=0)

    @property
    def preemption_policy(self) -> str | None:
        return self.podgroup.spec.preemption_policy if self.podgroup is not None else None

    @property
    def scheduler_name(self) -> str:
        return next((record.ref.scheduler_name for record in self.members.values()), "")

    @property
    def attached_count(self) -> int:
        """Who has to leave for others is on its node for a while, but no company for those that are about to start."""
        return sum(1 for record in self.members.values() if record.node and not record.evicted_for)

    @property
    def seen_count(self) -> int:
        """Of those, the ones that nobody only promised."""
        bound = (record for record in self.members.values() if record.pod.spec.node_name)
        return sum(1 for record in bound if not record.evicted_for)

    @property
    def has_fallen_short(self) -> bool:
        """It once had its minimum on nodes, and has lost members since."""
        ending = self.podgroup is None or bool(self.podgroup.metadata.deletion_timestamp)
        lost = (
            self.scheduled and self.is_gang and not self.is_disrupted and self.attached_count < self.minimum
        )
        return lost and not ending and not self.has_completed_members

    @property
    def is_over(self) -> bool:
        """It ran, members have succeeded, and too few are left for it to start again: nobody need wait for it."""
        has_ended = self.scheduled and self.has_completed_members
        return has_ended and self.attached_count + len(self.unattached()) < self.minimum

    @property
    def relies_on_promises(self) -> bool:
        """Whether its minimum is on nodes only if bindings hold that are still on their way.

        Whoever is bound on the strength of such a promise is bound below the minimum if it breaks.
        """
        seen = self.seen_count
        return seen < self.attached_count and seen < self.minimum > 1

    def unattached(self) -> list[PodRecord]:
        """Members that still need a node, oldest first."""
        waiting = [r for r in self.members.values() if not r.node and not r.pod.metadata.deletion_timestamp]
        return sorted(waiting, key=lambda r: (r.created, r.arrival))


class GroupBook:
    """Groups exist from the first sight of what describes them or of a member until neither is left.

    What a Workload implies exists only with members: how many replicas there are is known from nothing else.
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

    def definition(self, key: GroupKey) -> tuple[object, ...] | None:
        """What the group asks for, and of which object that is; None as long as nothing says so."""
        if key.is_composite:
            record = self.links.composite(key)
            return (record.uid, record.composite.spec) if record is not None else None
        group = self._groups.get(key)
        if group is None or group.podgroup is None:
            return None
        return group.podgroup.metadata.uid, group.podgroup.spec, group.minimum_resources

    def put(self, obj: GroupObject) -> GroupRecord:
        description = describe(obj)
        group = self._get_or_make(description.key)
        group.minimum_resources = description.minimum_resources
        podgroup = permitted(description.podgroup, self._gates)
        _define(group, podgroup)
        self.links.link(group.key, podgroup)
        return group

    def standing(self, group: GroupRecord) -> int | None:
        """The priority that protects its members, in a tree that of the root; None if each has its own."""
        root = self.links.root(group.key)
        if root is not None:
            return root.priority
        return group.priority if group.podgroup is not None else None

    def workload(self, namespace: str, name: str) -> Workload | None:
        return self._workloads.get((namespace, name))

    def put_workload(self, workload: Workload) -> list[GroupKey]:
        """Return the groups that are not what they were."""
        place = workload.metadata.namespace, workload.metadata.name
        self._workloads[place] = workload
        return self._imply(place)

    def drop_workload(self, namespace: str, name: str) -> list[GroupKey]:
        """Return the groups that are not what they were."""
        self._workloads.pop((namespace, name), None)
        return self._imply((namespace, name))

    def _imply(self, place: tuple[str, str]) -> list[GroupKey]:
        groups = self._implied.get(place, {}).values()
        return [group.key for group in groups if self._describe_implied(group)]

    def _describe_implied(self, group: GroupRecord) -> bool:
        before = self.definition(group.key)
        workload = self._workloads.get((group.key.namespace, group.key.name))
        group.siblings = None if workload is None else group_names(workload)
        implied = None if workload is None else implied_group(workload, group.key)
        _define(group, None if implied is None else permitted(implied, self._gates))
        return self.definition(group.key) != before

    def say_again(self, lost: ReportGroup) -> None:
        """A report was lost, or only the answer to it. What has started has started, also if it lost members since.

        If by now there is something else to say, that is on its way.
        """
        key = lost.group
        record = self.links.composite(key) if key.is_composite else self._groups.get(key)
        if record is None or (record.uid, record.scheduled) != (lost.uid, lost.scheduled):
            return
        if record.scheduled:
            record.is_untold = True
        else:
            self.not_yet_scheduled(key)

    def not_yet_scheduled(self, key: GroupKey) -> None:
        """What was about to be reported does not hold, or was not written: it is said again when its time comes."""
        composite, group = self.links.composite(key), self._groups.get(key)
        if composite is not None:
            composite.not_yet_scheduled()
        if group is not None:
            self._not_yet_scheduled(group)

    def _not_yet_scheduled(self, group: GroupRecord) -> None:
        condition = _initially_scheduled(group.podgroup) if group.podgroup is not None else None
        group.scheduled = condition is not None and condition.status == "True"
        group.is_untold = False
        group.reported = (condition.reason, condition.message) if condition is not None else ("", "")
        group.outcome = outcome_told(group.podgroup.status.conditions) if group.podgroup is not None else ""

    def drop(self, key: GroupKey) -> None:
        group = self._groups.get(key)
        if group is not None:
            _define(group, None)
            self.links.link(key, None)
            group.minimum_resources = {}
            self._forget_if_empty(group)

    def join(self, record: PodRecord, key: GroupKey) -> GroupRecord:
        group = self._get_or_make(key)
        group.members[record.ref.uid] = record
        # The same key object for all members: looking it up compares no names.
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
            if key.form is Form.WORKLOAD:
                self._implied.setdefault((key.namespace, key.name), {})[key] = group
                self._describe_implied(group)
        return group

    def _forget_if_empty(self, group: GroupRecord) -> None:
        is_implied = group.key.form is Form.WORKLOAD
        if not group.members and (group.podgroup is None or is_implied):
            del self._groups[group.key]
            if is_implied:
                self._forget_implied(group.key)

    def _forget_implied(self, key: GroupKey) -> None:
        together = self._implied[key.namespace, key.name]
        del together[key]
        if not together:
            del self._implied[key.namespace, key.name]


def _define(group: GroupRecord, podgroup: PodGroup | None) -> None:
    """Another object, or none, is another group: what was said of the old one does not hold for it."""
    before = group.podgroup
    if podgroup is None or (before is not None and before.metadata.uid != podgroup.metadata.uid):
        group.scheduled, group.is_untold, group.reported = False, False, ("", "")
        group.has_completed_members = group.is_known_to_be_short = group.gathered = False
        group.is_disrupted, group.outcome = False, ""
    group.podgroup = podgroup
    group.is_disrupted = group.is_disrupted or (podgroup is not None and _is_marked(podgroup))
    condition = _initially_scheduled(podgroup) if podgroup is not None else None
    if condition is not None:
        group.scheduled = group.scheduled or condition.status == "True"
        group.reported = (condition.reason, condition.message)
        group.gathered = True
    if podgroup is not None:
        group.outcome = outcome_told(podgroup.status.conditions) or group.outcome


def _is_marked(podgroup: PodGroup) -> bool:
    return any(c.type == DISRUPTION_TARGET and c.status == "True" for c in podgroup.status.conditions)


def _initially_scheduled(podgroup: PodGroup) -> Condition | None:
    return next((c for c in podgroup.status.conditions if c.type == INITIALLY_SCHEDULED), None)
