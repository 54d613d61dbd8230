"""A group as the engine knows it: its members, its description, and what was reported of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from posse.engine.groups.forms import form_of
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord
from posse.model.meta import Quantity
from posse.model.workload import PodGroup


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
        return stated or form_of(self.key).has_resolved_priority

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
