"""PodGroups and their members, whichever came first. Nothing here decides where pods go."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from posse.engine.cluster_state import PodRecord
from posse.engine.decisions import GroupKey
from posse.model.meta import Condition
from posse.model.pod import Pod
from posse.model.workload import PodGroup

INITIALLY_SCHEDULED = "PodGroupInitiallyScheduled"


@dataclass(slots=True, eq=False)
class GroupRecord:
    key: GroupKey
    podgroup: PodGroup | None = None
    """None until the object is seen; until then its members wait."""
    members: dict[str, PodRecord] = field(default_factory=dict)
    """Every pod that names the group and is neither finished nor gone, by uid, in order of arrival."""
    scheduled: bool = False
    """PodGroupInitiallyScheduled is True, or was reported so. It never becomes False again."""
    reported: tuple[str, str] = ("", "")
    """Reason and message last written for PodGroupInitiallyScheduled=False."""

    @property
    def minimum(self) -> int:
        """How many must be placed before any is bound: a basic group starts with whatever fits."""
        policy = self.podgroup.spec.scheduling_policy if self.podgroup is not None else None
        return policy.gang.min_count if policy is not None and policy.gang is not None else 1

    @property
    def priority(self) -> int:
        return (self.podgroup.spec.priority or 0) if self.podgroup is not None else 0

    @property
    def attached_count(self) -> int:
        return sum(1 for record in self.members.values() if record.node)

    def unattached(self) -> list[PodRecord]:
        """Members that still need a node, oldest first."""
        waiting = [r for r in self.members.values() if not r.node and not r.pod.metadata.deletion_timestamp]
        return sorted(waiting, key=lambda r: (r.created, r.arrival))


class GroupBook:
    """Groups exist from the first sight of the object or of a member until neither is left."""

    def __init__(self) -> None:
        self._groups: dict[GroupKey, GroupRecord] = {}

    def __iter__(self) -> Iterator[GroupRecord]:
        return iter(self._groups.values())

    def get(self, key: GroupKey) -> GroupRecord | None:
        return self._groups.get(key)

    def put(self, podgroup: PodGroup) -> GroupRecord:
        group = self._get_or_make(GroupKey(podgroup.metadata.namespace, podgroup.metadata.name))
        recreated = group.podgroup is not None and group.podgroup.metadata.uid != podgroup.metadata.uid
        if recreated:
            group.scheduled, group.reported = False, ("", "")
        group.podgroup = podgroup
        condition = _initially_scheduled(podgroup)
        if condition is not None:
            group.scheduled = group.scheduled or condition.status == "True"
            group.reported = (condition.reason, condition.message)
        return group

    def not_yet_scheduled(self, key: GroupKey) -> None:
        """A binding of a member was refused: what was about to be reported does not hold, unless it once did."""
        group = self._groups.get(key)
        if group is None:
            return
        condition = _initially_scheduled(group.podgroup) if group.podgroup is not None else None
        group.scheduled = condition is not None and condition.status == "True"

    def drop(self, key: GroupKey) -> None:
        group = self._groups.get(key)
        if group is not None:
            group.podgroup, group.scheduled, group.reported = None, False, ("", "")
            self._forget_if_empty(group)

    def join(self, record: PodRecord, key: GroupKey) -> GroupRecord:
        group = self._get_or_make(key)
        group.members[record.ref.uid] = record
        return group

    def leave(self, record: PodRecord, key: GroupKey) -> None:
        group = self._groups[key]
        del group.members[record.ref.uid]
        self._forget_if_empty(group)

    def _get_or_make(self, key: GroupKey) -> GroupRecord:
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = GroupRecord(key)
        return group

    def _forget_if_empty(self, group: GroupRecord) -> None:
        if group.podgroup is None and not group.members:
            del self._groups[group.key]


def _initially_scheduled(podgroup: PodGroup) -> Condition | None:
    return next((c for c in podgroup.status.conditions if c.type == INITIALLY_SCHEDULED), None)


def group_of(pod: Pod) -> GroupKey | None:
    reference = pod.spec.scheduling_group
    if reference is None or not reference.pod_group_name:
        return None
    return GroupKey(pod.metadata.namespace, reference.pod_group_name)
