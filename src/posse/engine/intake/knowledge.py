"""Everything the engine knows about the cluster, as one struct that every reader takes.

`cluster_events` and `pod_events` keep it up to date, and so do the turns of the cycle.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from posse.engine.decisions import ReportPod
from posse.engine.events import ClusterObject
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.part import Root
from posse.engine.keys import GroupKey, PodRef
from posse.engine.preemption.awaited_protection import AwaitedProtection
from posse.engine.preemption.budgets import BudgetBook
from posse.engine.preemption.ledger import Ledger
from posse.engine.preemption.run_protection import RunProtection
from posse.engine.queue.backlog import Backlog, Backoff, Key
from posse.engine.queue.lookahead import Lookahead
from posse.engine.queue.policies import POLICIES
from posse.engine.queue.published_reservation import PublishedReservation
from posse.engine.queue.run_times import RunTimes
from posse.engine.queue.starvation_guard import StarvationGuard
from posse.engine.queue.timers import GATHERING_SECONDS, DelayTimers
from posse.engine.rules.profile import Profile
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.nominations import Nominations
from posse.engine.state.pod_record import PodRecord
from posse.model.feature_gates import ALL_GATES, Gates
from posse.model.limits import Excess
from posse.model.meta import ApiObject

_MAX_LEFT_OUT = 1_000
"""Objects beyond a limit that are remembered, so that each is logged once."""


@dataclass(slots=True, eq=False)
class Knowledge:
    state: ClusterState
    groups: GroupBook
    budgets: BudgetBook
    nominations: Nominations
    ledger: Ledger
    backlog: Backlog
    starvation_guard: StarvationGuard
    run_times: RunTimes
    run_protection: RunProtection
    awaited_protection: AwaitedProtection
    lookahead: Lookahead | None
    """None if all profiles queue by priority and age alone."""
    published: PublishedReservation
    gatherings: DelayTimers[GroupKey]
    """Basic groups that wait for the rest of the pods they expect."""
    scheduler_names: Collection[str]
    """Pods that name one of these are ours to place."""
    pods: dict[str, PodRecord] = field(default_factory=dict)
    """Every pod that is on a node, is ours to place, or belongs to a group; by uid."""
    unclaimed_victims: dict[str, str] = field(default_factory=dict)
    """Uids of victims of an earlier scheduler, with the preemptor that their condition names."""
    made_room_for: dict[str, None] = field(default_factory=dict)
    """Groups, by kind and name, for which an operator stops others."""
    unsettled_groups: dict[GroupKey, bool] = field(default_factory=dict)
    """Groups that changed since the last cycle, in order of change; and whether their definition changed."""
    misplaced_groups: dict[GroupKey, None] = field(default_factory=dict)
    """Groups that no node suits next to their running members; a changed node may help."""
    newly_queued: list[PodRecord] = field(default_factory=list)
    """Pods that entered the queue since the last cycle; the cycle notes since when they wait."""
    unreadable_pods: dict[str, ReportPod | None] = field(default_factory=dict)
    """Pods with invalid requests or selectors, by uid, and the report that is still to be made."""
    at_work: PodRef | GroupKey | ClusterObject | None = None
    """What the engine tries or reads now, or last."""
    left_out: dict[str, None] = field(default_factory=dict)
    """Objects beyond a limit, in words for the log that were not taken yet."""
    _left_out_before: dict[tuple[str, str, str], Excess] = field(default_factory=dict)

    def note_left_out(self, obj: ApiObject, excess: Excess) -> None:
        """Note an object that is not read because it exceeds a limit, once."""
        kind, place = type(obj).__name__, (obj.metadata.namespace, obj.metadata.name)
        if self._left_out_before.get((kind, *place)) == excess:
            return
        if len(self._left_out_before) >= _MAX_LEFT_OUT:
            self._left_out_before.clear()
        self._left_out_before[kind, *place] = excess
        self.left_out[f"{kind} {'/'.join(filter(None, place))} is left out: {excess}"] = None

    def entry_of(self, key: GroupKey) -> GroupKey:
        """Return the key of the group's queue entry: its own, or that of the root of its tree."""
        return self.groups.links.root_key(key)

    def queue_key(self, record: PodRecord) -> Key:
        """Return the key of the pod's queue entry: its uid, or its group's entry."""
        return record.ref.uid if record.group is None else self.entry_of(record.group)

    def entries(self) -> list[GroupKey]:
        """Return the queue keys of all groups and composite groups, in order of first sight."""
        keys = (*(group.key for group in self.groups), *self.groups.links.composite_keys())
        return list(dict.fromkeys(self.entry_of(key) for key in keys))

    def unsettle(self, key: GroupKey, *, is_redefined: bool = False) -> None:
        """Have the next cycle check whether the group may be tried."""
        self.unsettled_groups[key] = is_redefined or self.unsettled_groups.get(key, False)

    @property
    def stamp(self) -> tuple[int, ...]:
        """Differs after every lasting change that may make a refusal untrue."""
        state = self.state
        reservations = (self.nominations.changes, self.starvation_guard.changes)
        return (
            state.changes,
            state.storage.book.knowledge_version,
            *reservations,
            self.run_protection.changes,
        )

    @property
    def own_name(self) -> str:
        """The scheduler name in reports on groups without pods, which name no scheduler."""
        return next(iter(self.scheduler_names), "")

    def is_ours(self, group: Root) -> bool:
        """Whether any member is ours to place; members that disagree are an error that we report."""
        names = self.scheduler_names
        return any(record.pod.spec.scheduler_name in names for record in group.members.values())

    def is_waiting(self, record: PodRecord) -> bool:
        """Whether the pod needs a node from us now."""
        return self.is_pending(record) and not record.pod.spec.scheduling_gates

    def is_pending(self, record: PodRecord) -> bool:
        """Whether the pod needs a node from us, now or once its scheduling gates are removed."""
        pod = record.pod
        return (
            not record.node
            and not pod.metadata.deletion_timestamp
            and pod.spec.scheduler_name in self.scheduler_names
        )


def no_knowledge(
    profiles: Mapping[str, Profile],
    backoff: Backoff,
    gates: Gates = ALL_GATES,
    *,
    members_must_match: bool = False,
    reserves: bool = True,
) -> Knowledge:
    """Return the knowledge of an engine that has seen nothing yet."""
    groups = GroupBook(gates, members_must_match=members_must_match)
    state, backlog, names = ClusterState(profiles), Backlog(backoff), profiles.keys()
    protection, nominations = RunProtection(), Nominations(state)
    run_times, pods = RunTimes(groups), dict[str, PodRecord]()
    policies = {name: POLICIES[profile.queue_policy] for name, profile in profiles.items()}
    looks_ahead = any(policy.looks_ahead for policy in policies.values())
    lookahead = Lookahead(state, groups, backlog, run_times, policies, pods) if looks_ahead else None
    guard = StarvationGuard(state, groups, backlog, lookahead, reserves=reserves)
    return Knowledge(
        state=state,
        groups=groups,
        budgets=BudgetBook(),
        nominations=nominations,
        ledger=Ledger(groups),
        backlog=backlog,
        starvation_guard=guard,
        run_times=run_times,
        run_protection=protection,
        awaited_protection=AwaitedProtection(state, protection, nominations),
        lookahead=lookahead,
        pods=pods,
        published=PublishedReservation(state, groups, guard, names),
        gatherings=DelayTimers(GATHERING_SECONDS),
        scheduler_names=names,
    )
