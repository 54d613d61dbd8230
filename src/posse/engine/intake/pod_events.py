"""Events of pods as updates of the knowledge: their nodes and groups, and retries.

After a restart, only the conditions of victims remain of a preemption. Each names its preemptor, so the
preemption goes on; victims that are gone by now are unknown.
"""

from posse.engine.decisions import SCHEDULER_ERROR, ReportPod
from posse.engine.groups.forms import group_of
from posse.engine.groups.group_record import PREEMPTED, GroupRecord, lost_member
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey, PodRef
from posse.engine.pods.rule_inputs import same_but_for_node, same_membership
from posse.engine.preemption.marks import described, preemptor_named, room_made_for, was_preempted
from posse.engine.queue.backlog import Waiting
from posse.engine.state.pod_record import PodOwners, PodRecord
from posse.engine.statement import NEVER_REPORTED, Reported
from posse.model.limits import LimitError
from posse.model.pod import Pod
from posse.model.quantity import QuantityError
from posse.model.selectors import SelectorError

_UNREADABLE = (LimitError, QuantityError, SelectorError)
"""What is wrong with a pod that cannot be tried."""
_FINISHED = frozenset({"Succeeded", "Failed"})
_ROOM_SECONDS = 120.0
"""How long a group comes first for which an operator stops others. Most pods may take 30 seconds to end."""
_UNKNOWN_PREEMPTOR = "unknown"
"""Placeholder preemptor for a pod that another scheduler evicted."""


class PodEvents:
    def __init__(self, knowledge: Knowledge, *, reads_groups: bool) -> None:
        self._knowledge = knowledge
        self._reads_groups = reads_groups
        self._arrivals = 0
        self._owners = PodOwners()

    def observed(self, pod: Pod) -> None:
        if pod.status.phase in _FINISHED:
            self._finished(pod)
            return
        record = self._knowledge.pods.get(pod.metadata.uid)
        if record is None:
            self._appeared(pod)
        else:
            self._changed(record, pod)

    def vanished(self, pod: Pod) -> None:
        key = self._group_of(pod)
        group = self._knowledge.groups.get(key) if key is not None else None
        if group is not None:
            group.ended.pop(pod.metadata.uid, None)
            self._note_lost(group, pod)
        self.gone(pod.metadata.uid)

    def _note_lost(self, group: GroupRecord, pod: Pod) -> None:
        member = group.members.get(pod.metadata.uid)
        if member is not None and member.node and group.scheduled and not group.is_known_to_be_short:
            group.lost.append(lost_member(pod, member.node))

    def gone(self, uid: str) -> None:
        knowledge = self._knowledge
        knowledge.unreadable_pods.pop(uid, None)
        knowledge.unclaimed_victims.pop(uid, None)
        record = knowledge.pods.pop(uid, None)
        if record is None:
            return
        self._owners.drop(record.pod)
        if knowledge.lookahead is not None:
            knowledge.run_times.jobs.pod_went(record.pod)
        knowledge.nominations.drop(record)
        knowledge.ledger.release(uid)
        if record.node:
            knowledge.run_times.note_ended(record)
            knowledge.state.release(record)
        # The capacity may be taken, or the node may be gone: its preemptors are tried in any case.
        victim_gone(knowledge, record)
        if record.group is not None:
            knowledge.groups.leave(record, record.group)
            knowledge.unsettle(record.group)
        knowledge.backlog.remove(uid)
        knowledge.state.devices.forget(record.pod)
        knowledge.state.classes.dismiss(record.pod_class, record.labels)

    def reread(self, record: PodRecord) -> None:
        """Read the pod again after a change of other objects that its rules depend on."""
        reclassify(self._knowledge, record)
        requeue(self._knowledge, record)

    def _finished(self, pod: Pod) -> None:
        key = self._group_of(pod)
        group = self._knowledge.groups.get(key) if key is not None else None
        if group is not None:
            group.ended[pod.metadata.uid] = PREEMPTED if was_preempted(pod) else pod.status.phase
        if group is not None and pod.status.phase == "Failed":
            self._note_lost(group, pod)
        if group is not None and pod.status.phase == "Succeeded":
            group.has_completed_members = True
            self._knowledge.state.minimum_reservations.note(key)
        self.gone(pod.metadata.uid)

    def _appeared(self, pod: Pod) -> None:
        knowledge, group = self._knowledge, self._group_of(pod)
        ours = pod.spec.scheduler_name in knowledge.scheduler_names
        if not (pod.spec.node_name or ours or group):
            return
        try:
            pod_class, labels = knowledge.state.classes.enroll(pod)
        except _UNREADABLE as error:
            self._note_unreadable(pod, error)
            return
        knowledge.unreadable_pods.pop(pod.metadata.uid, None)
        self._arrivals += 1
        record = PodRecord(
            pod=pod,
            ref=_ref(pod),
            pod_class=pod_class,
            labels=labels,
            group=group,
            created=pod.metadata.creation_timestamp,
            owners=self._owners,
            arrival=self._arrivals,
            effective_priority=pod.spec.priority or 0,
            reported=_reported(pod),
        )
        knowledge.pods[record.ref.uid] = record
        if pod.metadata.owner_references or pod.metadata.annotations:
            self._owners.put(pod)
        if knowledge.lookahead is not None:
            knowledge.run_times.jobs.pod_came(pod)
        self._note_victim(record)
        if pod.spec.node_name:
            knowledge.state.attach_for_good(record, pod.spec.node_name)
        elif pod.status.nominated_node_name and ours:
            knowledge.nominations.put(record, pod.status.nominated_node_name)
        if group is not None:
            knowledge.groups.join(record, group)
        requeue(knowledge, record)
        if pod.spec.resource_claims:
            self._reread_sharers()

    def _reread_sharers(self) -> None:
        """Pods that used a claim alone, and share it with a new pod now."""
        pods = self._knowledge.pods
        for record in map(pods.get, self._knowledge.state.devices.take_no_longer_alone()):
            if record is not None and not record.node:
                self.reread(record)

    def _changed(self, record: PodRecord, pod: Pod) -> None:
        before, record.pod = record.pod, pod
        if pod.status.conditions != before.status.conditions and not room_made_for(before):
            self._note_room(pod)
        if before.metadata.owner_references != pod.metadata.owner_references:
            self._owners.drop(before)
            self._owners.put(pod)
        self._note_victim(record)
        if not record.attempts:
            self._follow_nomination(record)
        moved = not same_membership(before, pod) and self._changed_group(record)
        if pod.spec.node_name and record.node != pod.spec.node_name:
            self._bound_elsewhere(record)
        elif not moved and same_but_for_node(before, pod) and self._is_seen_as_before(record, before):
            if pod.spec.node_name and not before.spec.node_name:
                self._binding_confirmed(record)
            elif pod.status.start_time != before.status.start_time:
                self._started(record)
            return
        try:
            reclassify(self._knowledge, record)
        except _UNREADABLE as error:
            # A pod on a node goes on counting with its former requests.
            if not record.node:
                self.gone(record.ref.uid)
                self._note_unreadable(pod, error)
                return
        requeue(self._knowledge, record)

    def _bound_elsewhere(self, record: PodRecord) -> None:
        """Follow a binding by another scheduler, or one of ours that was reported as refused."""
        state = self._knowledge.state
        if record.node:
            state.release(record)
        state.attach_for_good(record, record.pod.spec.node_name)
        self._knowledge.nominations.drop(record)
        if record.group is None:
            self._knowledge.ledger.started([record])

    def _note_victim(self, record: PodRecord) -> None:
        """Another scheduler may have evicted the pod, or this one before a restart."""
        pod = record.pod
        is_terminating = pod.spec.node_name and pod.metadata.deletion_timestamp
        if is_terminating and not record.evicted_for and was_preempted(pod):
            record.evicted_for = _UNKNOWN_PREEMPTOR
            if name := preemptor_named(pod):
                self._knowledge.unclaimed_victims[record.ref.uid] = name

    def _note_room(self, pod: Pod) -> None:
        """An operator may have marked it to be stopped for a group: once, however often the pod changes."""
        if pod.spec.node_name and (name := room_made_for(pod)):
            self._knowledge.made_room_for[name] = None

    def _follow_nomination(self, record: PodRecord) -> None:
        """Until we try the pod, another scheduler may nominate nodes for it and report on it."""
        record.reported, node = _reported(record.pod), record.pod.status.nominated_node_name
        if node != record.nominated and self._knowledge.is_pending(record):
            self._knowledge.nominations.drop(record)
            if node:
                self._knowledge.nominations.put(record, node)

    def _is_seen_as_before(self, record: PodRecord, before: Pod) -> bool:
        """Whether its labels make no difference: a binding may copy some from the node to the pod."""
        is_relabelled = before.metadata.labels != record.pod.metadata.labels
        return not is_relabelled or (bool(record.node) and self._knowledge.state.classes.relabel(record))

    def _group_of(self, pod: Pod) -> GroupKey | None:
        return group_of(pod) if self._reads_groups else None

    def _changed_group(self, record: PodRecord) -> bool:
        """Have the pod join the group that it names now, if that is another one."""
        knowledge, group, before = self._knowledge, self._group_of(record.pod), record.group
        if group == before:
            return False
        if before is not None:
            knowledge.groups.leave(record, before)
            knowledge.unsettle(before)
        else:
            knowledge.backlog.remove(record.ref.uid)
        record.group = group
        knowledge.state.rank(record, record.priority)
        if group is not None:
            knowledge.groups.join(record, group)
        return True

    def _binding_confirmed(self, record: PodRecord) -> None:
        """Most groups need no check: they count the pod since its binding was decided."""
        group = self._knowledge.groups.get(record.group) if record.group is not None else None
        if group is None:
            return
        if group.awaits_bindings or group.minimum_run_seconds or self._may_have_news(group):
            self._knowledge.unsettle(group.key)

    def _started(self, record: PodRecord) -> None:
        """Its group may be protected for a time that begins now."""
        group = self._knowledge.groups.get(record.group) if record.group is not None else None
        if group is not None and group.minimum_run_seconds:
            self._knowledge.unsettle(group.key)

    def _may_have_news(self, group: GroupRecord) -> bool:
        """Whether this group, or one above it, may have started or recovered by a confirmed binding."""
        if group.is_disrupted or not group.scheduled or group.reported.reason:
            return True
        if not group.parent_name:
            return False
        links = self._knowledge.groups.links
        above = filter(None, map(links.composite, links.ancestors(group.key)))
        return any(one.is_disrupted or not one.scheduled or one.reported.reason for one in above)

    def _note_unreadable(self, pod: Pod, error: Exception) -> None:
        """Report the error once, and only on pods that are ours to place."""
        if not pod.spec.node_name and pod.spec.scheduler_name in self._knowledge.scheduler_names:
            report = ReportPod(_ref(pod), SCHEDULER_ERROR, str(error))
            written = _reported(pod)
            is_reported = (written.reason, written.message) == (report.reason, report.message)
            self._knowledge.unreadable_pods.setdefault(pod.metadata.uid, None if is_reported else report)


def reclassify(knowledge: Knowledge, record: PodRecord) -> None:
    """Classify the pod again; if its class changed, count it again and drop its queue entry."""
    before = (record.pod_class, record.labels)
    after = knowledge.state.classes.enroll(record.pod)
    if after != before:
        node, held = record.node, None
        if node:
            held = knowledge.state.release(record)
        knowledge.backlog.remove(record.ref.uid)
        record.pod_class, record.labels = after
        knowledge.nominations.note_changed(record)
        if node:
            record.devices = held
            knowledge.state.attach_for_good(record, node)
            if knowledge.lookahead is not None:
                knowledge.lookahead.forget_ends([record])
    knowledge.state.classes.dismiss(*before)


def victim_gone(knowledge: Knowledge, victim: PodRecord) -> None:
    """Wake a preempting pod at once, and a preempting group when the last of its victims is gone."""
    for preemptor in dict.fromkeys([victim.evicted_for, *knowledge.ledger.gone(victim)]):
        if not (isinstance(preemptor, GroupKey) and knowledge.ledger.is_waiting(preemptor)):
            knowledge.backlog.wake(preemptor)
    for uid in nominees_beside(knowledge, victim):
        knowledge.backlog.wake(uid)


def nominees_beside(knowledge: Knowledge, victim: PodRecord) -> list[str]:
    """Uids of pods nominated to the victim's node; its eviction may help more than its preemptor."""
    nominees = knowledge.nominations.to(victim.pod.spec.node_name) if victim.evicted_for else ()
    return [record.ref.uid for record in nominees if record.group is None]


def requeue(knowledge: Knowledge, record: PodRecord) -> None:
    """Queue the pod, or have its group checked."""
    if record.group is not None:
        knowledge.unsettle(record.group)
    elif not knowledge.is_waiting(record):
        knowledge.backlog.remove(record.ref.uid)
    elif record.ref.uid not in knowledge.backlog:
        entry = Waiting(record.ref.uid, record.priority, record.created, record.arrival)
        if knowledge.lookahead is not None:
            knowledge.lookahead.rank(entry, 0.0)
        knowledge.backlog.add(entry)
        if not record.queued_at:
            knowledge.newly_queued.append(record)


def _ref(pod: Pod) -> PodRef:
    metadata = pod.metadata
    return PodRef(metadata.namespace, metadata.name, metadata.uid, pod.spec.scheduler_name)


def _reported(pod: Pod) -> Reported:
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return Reported(condition.reason, condition.message, pod.status.nominated_node_name)
    return NEVER_REPORTED


def claim_victims(knowledge: Knowledge) -> None:
    """Enter the victims in the ledger under the preemptors they name, if those still wait."""
    preemptors = _waiting_by_name(knowledge) if knowledge.unclaimed_victims else {}
    for uid, name in list(knowledge.unclaimed_victims.items()):
        preemptor = preemptors.get(name)
        if preemptor is not None:
            victim = knowledge.pods[uid]
            victim.evicted_for = preemptor if isinstance(preemptor, GroupKey) else preemptor.ref.uid
            knowledge.ledger.begin(preemptor, [victim])
            del knowledge.unclaimed_victims[uid]


def _waiting_by_name(knowledge: Knowledge) -> dict[str, PodRecord | GroupKey]:
    waiting: dict[str, PodRecord | GroupKey] = {}
    for record in filter(knowledge.is_pending, knowledge.pods.values()):
        if record.group is None:
            waiting[described(record.ref)] = record
        else:
            entry = knowledge.entry_of(record.group)
            waiting[described(entry)] = waiting[described(record.group)] = entry
    return waiting


def give_precedence(knowledge: Knowledge, now: float) -> None:
    """Nothing overtakes the groups for which an operator stops others, until these have left."""
    preemptors = _waiting_by_name(knowledge)
    names, knowledge.made_room_for = knowledge.made_room_for, {}
    for entry in map(preemptors.get, names):
        if isinstance(entry, GroupKey) and entry in knowledge.backlog:
            knowledge.backlog.let_nothing_overtake(entry, now + _ROOM_SECONDS)


def rank_again(knowledge: Knowledge, now: float) -> None:
    """Follow other limits of Jobs: when their pods end, and which place those have that wait."""
    uids = knowledge.run_times.jobs.take_changed_pods()
    lookahead = knowledge.lookahead
    if lookahead is None:
        return
    records = [knowledge.pods[uid] for uid in uids if uid in knowledge.pods]
    lookahead.forget_ends([record for record in records if record.node])
    knowledge.state.changes += 1
    waiting = (knowledge.queue_key(record) for record in records if not record.node)
    for key in dict.fromkeys(waiting):
        entry = knowledge.backlog.get(key)
        if entry is not None:
            lookahead.rank(entry, now)
            knowledge.backlog.reorder(key, now)
