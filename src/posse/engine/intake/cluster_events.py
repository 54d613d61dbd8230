"""From events of the cluster to what the engine knows: pods, nodes, groups, and who has to be looked at again."""

from collections.abc import Mapping, Sequence

from posse.engine.decisions import SCHEDULER_ERROR, ReportPod
from posse.engine.events import ClusterObject, GroupObject, Observed, Vanished
from posse.engine.groups.forms import group_of, key_of
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.tree import Root
from posse.engine.keys import GroupKey, PodRef
from posse.engine.placement.gang.minimum_resources import note_minimum
from posse.engine.pods.rule_inputs import same_but_for_node, same_membership, same_to_rules
from posse.engine.pods.service_index import Selector, selects
from posse.engine.preemption.budgets import BudgetBook
from posse.engine.preemption.ledger import Ledger
from posse.engine.preemption.marks import for_whom, was_preempted
from posse.engine.queue.backlog import Backlog, Backoff, Waiting
from posse.engine.queue.gathering import Gatherings
from posse.engine.queue.starvation_guard import StarvationGuard
from posse.engine.rules.profile import Profile
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.nominations import Nominations
from posse.engine.state.pod_record import PodRecord
from posse.model import coscheduling, volcano
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.feature_gates import ALL_GATES, Gate, Gates
from posse.model.namespace import Namespace
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.quantity import QuantityError
from posse.model.selectors import SelectorError
from posse.model.service import Service
from posse.model.workload import CompositePodGroup, PodGroup, Workload

_FINISHED = frozenset({"Succeeded", "Failed"})
_NEVER_REPORTED = ("", "", "")
_SOMEBODY = "unknown"
"""Whom a pod makes room for of which we know no more than that others evicted it."""


class Intake:
    def __init__(self, profiles: Mapping[str, Profile], backoff: Backoff, gates: Gates = ALL_GATES) -> None:
        self.state = ClusterState(profiles)
        self.groups = GroupBook(gates)
        self.budgets = BudgetBook()
        self.nominations = Nominations(self.state)
        self.ledger = Ledger(self.groups)
        self.backlog = Backlog(backoff)
        self.starvation_guard = StarvationGuard(self.state, self.groups, self.backlog)
        self.gatherings = Gatherings()
        self.pods: dict[str, PodRecord] = {}
        """Every pod that is on a node, waits for us to find one, or belongs to a group; by uid."""
        self.unclaimed_victims: dict[str, str] = {}
        """Uids of pods that others evicted, and for whom by their marks; until it is found out who that is."""
        self._unsettled_groups: dict[GroupKey, bool] = {}
        """Groups that changed since somebody last asked whether they may be tried, in order of change; and whether
        the object that defines them did, not only their members."""
        self._newly_queued: list[PodRecord] = []
        """Pods that may be tried for the first time and do not know yet since when."""
        self._unreadable_pods: dict[str, ReportPod | None] = {}
        """Pods whose requests or selectors make no sense, with what is still to be said of them; by uid."""
        self._scheduler_names = profiles.keys()
        self._reads_groups = Gate.GANG_SCHEDULING in gates
        """Otherwise every pod stands for itself, whatever it names."""
        self._reads_trees = self._reads_groups and Gate.COMPOSITE_POD_GROUP in gates
        """Otherwise every group stands for itself, whichever parent it names."""
        self._arrivals = 0

    def absorb(self, event: Observed | Vanished) -> None:
        if isinstance(event, Observed):
            self._observed(event.obj)
        else:
            self._vanished(event.obj)

    def _observed(self, obj: ClusterObject) -> None:
        match obj:
            case Pod():
                self._pod_observed(obj)
            case Node():
                self._node_observed(obj)
            case PodGroup() | coscheduling.CoschedulingPodGroup() | volcano.VolcanoPodGroup():
                self._group_observed(obj)
            case CompositePodGroup():
                self._composite_observed(obj)
            case Workload():
                self._unsettle(self.groups.put_workload(obj))
                self._unsettle(self.groups.links.roots_from(obj.metadata.namespace, obj.metadata.name))
            case Namespace():
                self.state.put_namespace(obj.metadata.name, obj.metadata.labels)
            case PodDisruptionBudget():
                self.budgets.put(obj)
            case Service():
                self._services_changed(obj.metadata.namespace, self.state.services.put(obj))
            case _:
                self.state.storage.book.put(obj)

    def _vanished(self, obj: ClusterObject) -> None:
        match obj:
            case Pod():
                self._pod_gone(obj.metadata.uid)
            case Node():
                # What is kept on its row must not be given back to whichever node gets the row next.
                self.starvation_guard.release_on(obj.metadata.name)
                self.state.drop_node(obj.metadata.name)
                self._wake_nominated(obj.metadata.name)
            case PodGroup() | coscheduling.CoschedulingPodGroup() | volcano.VolcanoPodGroup():
                self._unsettle([self.entry_of(key_of(obj))])
                self.groups.drop(key_of(obj))
                self.state.minimum_reservations.drop(key_of(obj))
                self._unsettle([key_of(obj)])
            case CompositePodGroup():
                self._unsettle([self.entry_of(key_of(obj))])
                self.groups.links.drop(key_of(obj))
                self._unsettle([key_of(obj)])
            case Workload():
                self._unsettle(self.groups.drop_workload(obj.metadata.namespace, obj.metadata.name))
                self._unsettle(self.groups.links.roots_from(obj.metadata.namespace, obj.metadata.name))
            case Namespace():
                self.state.put_namespace(obj.metadata.name, {})
            case PodDisruptionBudget():
                self.budgets.drop(obj.metadata.namespace, obj.metadata.name)
            case Service():
                gone = self.state.services.drop(obj.metadata.namespace, obj.metadata.name)
                self._services_changed(obj.metadata.namespace, gone)
            case _:
                self.state.storage.book.drop(obj)

    def _services_changed(self, namespace: str, selectors: Sequence[Selector]) -> None:
        """Pods that do not say how they are spread are spread with those that their Services select."""
        for record in list(self.pods.values()) if selectors else ():
            metadata = record.pod.metadata
            if metadata.namespace == namespace and any(selects(s, metadata.labels) for s in selectors):
                self._reenroll(record)
                self.requeue(record)

    def _node_observed(self, node: Node) -> None:
        row = self.state.nodes.row_of.get(node.metadata.name)
        known = self.state.nodes.nodes[row] if row is not None else None
        if known is None or not same_to_rules(known, node):
            self.state.put_node(node)
            self._wake_nominated(node.metadata.name)

    def _wake_nominated(self, node: str) -> None:
        """The node is not what it was when room was sought there; who waits for that room looks again."""
        for record in self.nominations.to(node):
            self.backlog.wake(self.entry_of(record.group) if record.group is not None else record.ref.uid)

    def entry_of(self, key: GroupKey) -> GroupKey:
        """What the queue holds for a group: the group, or the root of its tree."""
        return self.groups.links.root_key(key)

    def entries(self) -> list[GroupKey]:
        """What the queue holds, or would, for all groups and groups of groups there are, in order of their first sight."""
        keys = (*(group.key for group in self.groups), *self.groups.links.composite_keys())
        return list(dict.fromkeys(self.entry_of(key) for key in keys))

    def _group_observed(self, obj: GroupObject) -> None:
        if not self._reads_groups:
            return
        before, entry = self.groups.definition(key_of(obj)), self.entry_of(key_of(obj))
        group = self.groups.put(obj)
        note_minimum(self.state, group)
        if before != self.groups.definition(group.key):
            self._unsettle([entry, group.key])

    def _composite_observed(self, composite: CompositePodGroup) -> None:
        if not self._reads_trees:
            return
        key = key_of(composite)
        before, entry = self.groups.definition(key), self.entry_of(key)
        self.groups.links.put(composite)
        if before != self.groups.definition(key):
            self._unsettle([entry, key])

    def _unsettle(self, redefined: Sequence[GroupKey]) -> None:
        for key in redefined:
            self._unsettled_groups[key] = True

    def _pod_observed(self, pod: Pod) -> None:
        if pod.status.phase in _FINISHED:
            self._pod_finished(pod)
            return
        record = self.pods.get(pod.metadata.uid)
        if record is None:
            self._pod_appeared(pod)
        else:
            self._pod_changed(record, pod)

    def _pod_appeared(self, pod: Pod) -> None:
        group = self._group_of(pod)
        ours = pod.spec.scheduler_name in self._scheduler_names
        if not (pod.spec.node_name or ours or group):
            return
        try:
            pod_class, labels = self.state.enroll(pod)
        except (QuantityError, SelectorError) as error:
            self._note_unreadable(pod, error)
            return
        self._unreadable_pods.pop(pod.metadata.uid, None)
        self._arrivals += 1
        record = PodRecord(
            pod=pod,
            ref=_ref(pod),
            pod_class=pod_class,
            labels=labels,
            group=group,
            created=pod.metadata.creation_timestamp,
            arrival=self._arrivals,
            standing=pod.spec.priority or 0,
            reported=_reported(pod),
        )
        self.pods[record.ref.uid] = record
        self._note_victim(record)
        if pod.spec.node_name:
            self.state.attach_by_name(record, pod.spec.node_name)
        elif pod.status.nominated_node_name and ours:
            self.nominations.put(record, pod.status.nominated_node_name)
        if group is not None:
            self.groups.join(record, group)
        self.requeue(record)

    def _pod_changed(self, record: PodRecord, pod: Pod) -> None:
        before, record.pod = record.pod, pod
        self._note_victim(record)
        if not record.attempts:
            self._follow_nomination(record)
        moved = not same_membership(before, pod) and self._changed_group(record)
        if pod.spec.node_name and record.node != pod.spec.node_name:
            self._bound_by_others(record)
        elif not moved and same_but_for_node(before, pod) and self._is_seen_as_before(record, before):
            if pod.spec.node_name and not before.spec.node_name:
                self._binding_confirmed(record)
            return
        try:
            self._reenroll(record)
        except (QuantityError, SelectorError) as error:
            # On a node it goes on counting as what it was.
            if not record.node:
                self._pod_gone(record.ref.uid)
                self._note_unreadable(pod, error)
                return
        self.requeue(record)

    def _bound_by_others(self, record: PodRecord) -> None:
        """Or by us, though we took it for refused: either way it needs no room elsewhere any more."""
        if record.node:
            self.state.release(record)
        self.state.attach_by_name(record, record.pod.spec.node_name)
        self.nominations.drop(record)
        if record.group is None:
            self.ledger.started([record])

    def _note_victim(self, record: PodRecord) -> None:
        """Another scheduler may have evicted it, or one that worked here before us."""
        pod = record.pod
        is_ending = pod.spec.node_name and pod.metadata.deletion_timestamp
        if is_ending and not record.evicted_for and was_preempted(pod):
            record.evicted_for = _SOMEBODY
            if name := for_whom(pod):
                self.unclaimed_victims[record.ref.uid] = name

    def _follow_nomination(self, record: PodRecord) -> None:
        """While another one schedules, it is that one who says where room is made and what pods are told."""
        record.reported, node = _reported(record.pod), record.pod.status.nominated_node_name
        if node != record.nominated and self.is_pending(record):
            self.nominations.drop(record)
            if node:
                self.nominations.put(record, node)

    def _is_seen_as_before(self, record: PodRecord, before: Pod) -> bool:
        """Whether its labels make no difference: when a pod is bound, an API server may copy some from the node."""
        is_relabelled = before.metadata.labels != record.pod.metadata.labels
        return not is_relabelled or (bool(record.node) and self.state.relabel(record))

    def _group_of(self, pod: Pod) -> GroupKey | None:
        return group_of(pod) if self._reads_groups else None

    def _changed_group(self, record: PodRecord) -> bool:
        """Have the pod join the group that it names now, if that is another one."""
        group, before = self._group_of(record.pod), record.group
        if group == before:
            return False
        if before is not None:
            self.groups.leave(record, before)
            self._unsettled_groups.setdefault(before, False)
        else:
            self.backlog.remove(record.ref.uid)
        record.group = group
        self.state.rank(record, record.priority)
        if group is not None:
            self.groups.join(record, group)
        return True

    def _binding_confirmed(self, record: PodRecord) -> None:
        """Most groups do not care: they have counted on it since it was decided, and were told all that follows from it."""
        group = self.groups.get(record.group) if record.group is not None else None
        if group is not None and (group.awaits_bindings or self._has_to_be_told(group)):
            self._unsettled_groups.setdefault(group.key, False)

    def _has_to_be_told(self, group: GroupRecord) -> bool:
        """Whether it, or a group above it, may have started or be running again by this."""
        if group.is_disrupted or not group.scheduled:
            return True
        above = filter(None, map(self.groups.links.composite, self.groups.links.ancestors(group.key)))
        return any(one.is_disrupted or not one.scheduled for one in above)

    def _reenroll(self, record: PodRecord) -> None:
        """What rules read of the pod may have changed: if so it counts anew, and is tried anew if it waits."""
        before = record.pod_class, record.labels
        after = self.state.enroll(record.pod)
        if after != before:
            node = record.node
            if node:
                self.state.release(record)
            self.backlog.remove(record.ref.uid)
            record.pod_class, record.labels = after
            self.nominations.note_changed(record)
            if node:
                self.state.attach_by_name(record, node)
        self.state.dismiss(*before)

    def _note_unreadable(self, pod: Pod, error: QuantityError | SelectorError) -> None:
        """Only who waits for us is told, and only once."""
        if not pod.spec.node_name and pod.spec.scheduler_name in self._scheduler_names:
            report = ReportPod(_ref(pod), SCHEDULER_ERROR, str(error))
            known = _reported(pod)[:2] == (report.reason, report.message)
            self._unreadable_pods.setdefault(pod.metadata.uid, None if known else report)

    def _pod_finished(self, pod: Pod) -> None:
        key = self._group_of(pod) if pod.status.phase == "Succeeded" else None
        group = self.groups.get(key) if key is not None else None
        if group is not None:
            group.has_completed_members = True
            self.state.minimum_reservations.note(key)
        self._pod_gone(pod.metadata.uid)

    def _pod_gone(self, uid: str) -> None:
        self._unreadable_pods.pop(uid, None)
        self.unclaimed_victims.pop(uid, None)
        record = self.pods.pop(uid, None)
        if record is None:
            return
        self.nominations.drop(record)
        self.ledger.release(uid)
        if record.node:
            self.state.release(record)
        # Somebody else may have taken the room, or the node may be gone: whom it was meant for looks again in any case.
        self.victim_gone(record)
        if record.group is not None:
            self.groups.leave(record, record.group)
            self._unsettled_groups.setdefault(record.group, False)
        self.backlog.remove(uid)
        self.state.dismiss(record.pod_class, record.labels)

    def victim_gone(self, victim: PodRecord) -> None:
        """A pod looks again at once, a group when the last of its victims has gone."""
        for preemptor in dict.fromkeys([victim.evicted_for, *self.ledger.gone(victim)]):
            if not (isinstance(preemptor, GroupKey) and self.ledger.is_waiting(preemptor)):
                self.backlog.wake(preemptor)
        for uid in self.nominees_beside(victim):
            self.backlog.wake(uid)

    def nominees_beside(self, victim: PodRecord) -> list[str]:
        """A pod may make room for more than the one that had it evicted."""
        nominees = self.nominations.to(victim.pod.spec.node_name) if victim.evicted_for else ()
        return [record.ref.uid for record in nominees if record.group is None]

    def requeue(self, record: PodRecord) -> None:
        if record.group is not None:
            self._unsettled_groups.setdefault(record.group, False)
        elif not self.is_waiting(record):
            self.backlog.remove(record.ref.uid)
        elif record.ref.uid not in self.backlog:
            self.backlog.add(
                Waiting(record.ref.uid, record.pod.spec.priority or 0, record.created, record.arrival)
            )
            if not record.queued_at:
                self._newly_queued.append(record)

    def stamp_newly_queued(self, now: float) -> None:
        for record in self._newly_queued:
            record.queued_at = now
        self._newly_queued = []

    def end_gatherings(self, now: float) -> None:
        """Have the groups looked at that have waited long enough for the pods they expect."""
        for key in self.gatherings.take_over(now):
            group = self.groups.get(key)
            if group is not None:
                group.gathered = True
                self._unsettled_groups.setdefault(key, False)

    def look_at(self, key: GroupKey) -> None:
        """Have the group looked at again, though nothing was seen of it."""
        self._unsettled_groups.setdefault(key, False)

    def rank_members(self) -> None:
        """Have members of groups that changed stand where their groups do now, and what is set aside for them."""
        for entry in dict.fromkeys(self.entry_of(key) for key in self._unsettled_groups):
            for group in filter(None, map(self.groups.get, self.groups.links.below(entry))):
                self.state.minimum_reservations.note(group.key)
                standing = self.groups.standing(group)
                for record in group.members.values():
                    own = record.priority if standing is None else standing
                    if record.standing != own:
                        self.state.rank(record, own)
                        self.nominations.note_changed(record)

    def take_unsettled_groups(self) -> dict[GroupKey, bool]:
        """What the queue holds for them; of those that are part of a tree, its root."""
        self.rank_members()
        taken, self._unsettled_groups = self._unsettled_groups, {}
        entries: dict[GroupKey, bool] = {}
        for key, is_redefined in taken.items():
            entry = self.entry_of(key)
            entries[entry] = entries.get(entry, False) or is_redefined
            if entry != key:
                # What is part of a tree now may have had an entry of its own.
                self.backlog.remove(key)
        return entries

    def take_unreadable_pods(self) -> list[ReportPod]:
        taken = [report for report in self._unreadable_pods.values() if report is not None]
        self._unreadable_pods = dict.fromkeys(self._unreadable_pods)
        return taken

    def is_ours(self, group: Root) -> bool:
        """A group is ours if any member is; members that disagree are an error which we then report."""
        return any(
            record.pod.spec.scheduler_name in self._scheduler_names for record in group.members.values()
        )

    @property
    def own_name(self) -> str:
        """Under which we speak where nobody has said who is to schedule."""
        return next(iter(self._scheduler_names), "")

    def is_waiting(self, record: PodRecord) -> bool:
        """Whether it is for us to find a node for the pod, now."""
        return self.is_pending(record) and not record.pod.spec.scheduling_gates

    def is_pending(self, record: PodRecord) -> bool:
        """Whether it is for us to find a node for the pod, now or later."""
        pod = record.pod
        return (
            not record.node
            and not pod.metadata.deletion_timestamp
            and pod.spec.scheduler_name in self._scheduler_names
        )


def _ref(pod: Pod) -> PodRef:
    metadata = pod.metadata
    return PodRef(metadata.namespace, metadata.name, metadata.uid, pod.spec.scheduler_name)


def _reported(pod: Pod) -> tuple[str, str, str]:
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.reason, condition.message, pod.status.nominated_node_name
    return _NEVER_REPORTED
