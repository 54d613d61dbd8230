"""One attempt for a group or a tree: place it, or preempt for it as a whole where that is allowed.

Nothing is evicted unless the group has a placement that needs it. Freed capacity is reserved for its members
on their nominated nodes. While their victims are terminating no others are evicted for them, as long as that
placement stays possible.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from posse.engine.causes import GroupRefused, LacksMembers, NoNodeFits
from posse.engine.exact.problem_builder import question_of
from posse.engine.exact.questions import Answer, Question, Questions
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.part import Root
from posse.engine.placement.gang.attempt import Attempt
from posse.engine.placement.gang.exhaustive import Steps
from posse.engine.placement.gang.identical_groups import shape_of
from posse.engine.placement.search.fill import classes_of
from posse.engine.placement.tree.attempt import NO_PLAN, probe_placement, steps_allowed, try_placement
from posse.engine.preemption.awaited_protection import Asker, AwaitedProtection
from posse.engine.preemption.budgets import BudgetBook
from posse.engine.preemption.cost import Cost
from posse.engine.preemption.domain_search import DomainSearch
from posse.engine.preemption.group_search import EvictionPlan, GroupSearch, Places
from posse.engine.preemption.ledger import Ledger
from posse.engine.preemption.member_search import MemberSearch
from posse.engine.proof import Outcome, Proof
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.nominations import NOTHING_HELD, Nominations
from posse.engine.state.pod_record import PodRecord
from posse.engine.verdict import (
    Code,
    GroupPreemption,
    NodesClearing,
    NoVictims,
    PreemptionForbidden,
    Verdict,
    VictimsChosen,
    VictimsProtected,
)
from posse.model.feature_gates import Gate, Gates


class GroupTrial(msgspec.Struct, frozen=True, gc=False):
    attempt: Attempt
    victims: tuple[PodRecord, ...] = ()
    sought_victims: bool = False
    question: Question | None = None
    """The question to answer before the group is refused, or preempts."""
    overdrawn: int = 0
    """How many units of victims overdraw a disruption budget."""


@dataclass(frozen=True, slots=True)
class VictimSearch:
    """The result of the search for victims, if one was made."""

    progress: GroupPreemption | None = None
    room: EvictionPlan | None = None
    sought: bool = False

    @property
    def cost(self) -> Cost | None:
        return self.room.cost if self.room is not None else None

    @property
    def victims(self) -> tuple[PodRecord, ...]:
        units = self.room.victims if self.room is not None else ()
        return tuple(record for unit in units for record in unit.records)


@dataclass(frozen=True, slots=True)
class GroupTrials:
    state: ClusterState
    groups: GroupBook
    budgets: BudgetBook
    nominations: Nominations
    ledger: Ledger
    awaited: AwaitedProtection
    gates: Gates
    """Feature gates that control preemption for groups."""
    questions: Questions

    def run(self, group: Root) -> GroupTrial:
        answers = self.questions.answers(group.key)
        nominated = self.nominations
        priority, members = group.waiting_priorities[-1], group.members
        with nominated.held(priority, members) if nominated.records else NOTHING_HELD:
            # With an exact solver available, a long search would only delay the other entries.
            attempt = try_placement(self.state, group, answers.plan, is_thorough=not self.questions.asks)
            question = self._question(group, attempt)
            if (answer := answers.to(question)) is not None:
                attempt = _settled(attempt, answer)
            elif question is not None and self.questions.may_ask(group.key):
                return GroupTrial(attempt, question=question)
            elif _is_doubtful(attempt.verdict) and self.questions.asks:
                # The solver will not be asked, so this search is the last one.
                attempt = try_placement(self.state, group, {}, is_thorough=True)
            sought = self.seek_victims(group, attempt.verdict, answers.plan)
            question = self._question_of_victims(group, sought)
            if question is not None and answers.to(question) is None:
                return GroupTrial(attempt, question=question)
        room = sought.room
        self._nominate(group, room.places if room is not None else ())
        if sought.progress is not None:
            attempt = _with_preemption(attempt, sought.progress)
        overdrawn = sought.cost.budgets if sought.cost is not None else 0
        return GroupTrial(attempt, sought.victims, sought.sought, overdrawn=overdrawn)

    def _question(self, group: Root, attempt: Attempt) -> Question | None:
        in_doubt = self.questions.asks and _is_doubtful(attempt.verdict)
        return question_of(self.state, group) if in_doubt else None

    def _question_of_victims(self, group: Root, sought: VictimSearch) -> Question | None:
        """Whether it fits without all pods that it may preempt, if a fruitless search leaves that open."""
        is_fruitless = sought.sought and sought.room is None
        if not is_fruitless or not self.preempts_for(group) or not self.questions.may_ask(group.key):
            return None
        lowest = group.waiting_priorities[-1]
        with self.state.devices.held.clearing(), self._search(group, lowest).all_gone():
            probe = probe_placement(self.state, group, Steps(0))
            return question_of(self.state, group) if _is_doubtful(probe.verdict) else None

    def seek_victims(self, group: Root, verdict: Verdict, plan: Mapping[str, str] = NO_PLAN) -> VictimSearch:
        """Search victims for a group with this verdict, first for planned places. The state is unchanged."""
        if verdict.code is not Code.UNSCHEDULABLE:
            return VictimSearch()
        if not self.could_evict(group):
            return VictimSearch(self.protected_victims(group))
        if _policy(group) == "Never":
            return VictimSearch(PreemptionForbidden(of_group=True))
        with self.state.devices.held.clearing():
            room = self.room(group, plan=plan)
        return VictimSearch(self._progress(group, room), room, sought=True)

    def protected_victims(self, group: Root, *, is_fruitless: bool = True) -> VictimsProtected | None:
        """What it could preempt later, if a search for victims finds none now."""
        if self.awaited.is_silent or _policy(group) == "Never" or not self._may_preempt(group):
            return None

        def find_victims() -> tuple[PodRecord, ...] | None:
            with self.state.devices.held.clearing():
                room = self._quick_room(group)
            return VictimSearch(room=room).victims if room is not None else None

        shape, priorities = shape_of(self.state, group), group.waiting_priorities
        likeness = (shape, group.minimum, priorities) if shape is not None else None
        asker = Asker(priorities[0], len(group.unattached()), likeness, find_victims)
        return self.awaited.of(asker, is_fruitless=is_fruitless)

    def could_evict(self, group: Root) -> bool:
        """Whether any pod has lower priority, and groups like this one may preempt."""
        highest = group.waiting_priorities[0]
        lowest = min(self.state.usage.priorities(), default=highest)
        return lowest < highest and self._may_preempt(group)

    def _may_preempt(self, group: Root) -> bool:
        waiting = group.unattached()
        return bool(waiting) and self.state.profile(waiting[0].pod_class).preempts

    def preempts_for(self, group: Root) -> bool:
        """Whether pods of lower priority are evicted for it as a whole, if that lets it start."""
        is_allowed = Gate.WORKLOAD_AWARE_PREEMPTION in self.gates and _policy(group) != "Never"
        return is_allowed and self.could_evict(group)

    def room(
        self, group: Root, keeping: Collection[str] = (), plan: Mapping[str, str] = NO_PLAN
    ) -> EvictionPlan | None:
        """The best eviction plan that spares these pods, given by uid.

        A tree is searched as a whole; where priorities differ in it, for the highest that finds victims.
        """
        if Gate.WORKLOAD_AWARE_PREEMPTION not in self.gates:
            return self._room_one_by_one(group)
        for priority in group.waiting_priorities if group.top is not None else ():
            search = replace(self._search(group, priority, plan), keeping=keeping)
            by_domain = _by_domain(group, search)
            room = by_domain.find() if by_domain is not None else search.find()
            if room is not None:
                return room
        return None

    def _quick_room(self, group: Root) -> EvictionPlan | None:
        """An eviction plan that heuristics find, whether or not another costs less."""
        if Gate.WORKLOAD_AWARE_PREEMPTION not in self.gates:
            return self._room_one_by_one(group)
        for priority in group.waiting_priorities if group.top is not None else ():
            search = replace(self._search(group, priority), steps=Steps(0))
            by_domain = _by_domain(group, search)
            room = by_domain.find_quickly() if by_domain is not None else search.find_quickly()
            if room is not None:
                return room
        return None

    def _room_one_by_one(self, group: Root) -> EvictionPlan | None:
        if group.top is None:
            return None
        one_by_one = MemberSearch(self.state, self.groups, self.budgets)
        return one_by_one.find(group.top, is_delayed=Gate.DELAYED_PREEMPTION in self.gates)

    def _search(self, group: Root, priority: int, plan: Mapping[str, str] = NO_PLAN) -> GroupSearch:
        members, is_mixed = group.unattached(), len(group.waiting_priorities) > 1
        barred = dict.fromkeys(leaf.key for leaf in group.leaves if leaf.preemption_policy == "Never")

        def place(steps: Steps) -> Places:
            # Preparing to enumerate placements reads every node, and is useless with fewer steps than pods.
            enough = steps if steps.left >= len(members) else Steps(0)
            placements = probe_placement(self.state, group, enough, plan, is_described=False).placements
            if not (is_mixed or barred):
                return placements
            # Nothing is evicted for other pods of the tree, whose priority is lower or that must not preempt.
            return tuple(
                (record, node)
                for record, node in placements
                if record.effective_priority >= priority and record.group not in barred
            )

        rules = [
            self.state.rules(scheduling_class) for scheduling_class, _ in classes_of(self.state, members)
        ]
        return GroupSearch(
            self.state,
            self.groups,
            self.budgets,
            priority,
            place,
            Steps(steps_allowed(self.state)),
            _needed(members) if all(one.counts_by_resources for one in rules) else (),
            depends_on_other_nodes=any(one.depends_on_other_nodes for one in rules),
        )

    def _progress(self, group: Root, room: EvictionPlan | None) -> GroupPreemption:
        if room is None:
            return self.protected_victims(group) or NoVictims()
        if room.victims:
            pods = sum(len(unit.records) for unit in room.victims)
            groups = sum(1 for unit in room.victims if len(unit.records) > 1)
            return VictimsChosen(pods, groups, has_placement=bool(room.places))
        preemption = self.ledger.get(group.key)
        if preemption is not None and preemption.left:
            return preemption.progress
        nodes = dict.fromkeys(node for _, node in room.places)
        terminating = sum(1 for node in nodes for record in self.state.pods_on(node) if record.is_ending)
        return NodesClearing(terminating)

    def _nominate(self, group: Root, places: Places) -> None:
        """Reserve capacity where the group will go, and nowhere else."""
        if not places and not any(record.nominated for record in group.members.values()):
            return
        nodes = {record.ref.uid: node for record, node in places}
        for record in group.members.values():
            node = nodes.get(record.ref.uid, "")
            if node and node != record.nominated:
                self.nominations.drop(record)
                self.nominations.put(record, node)
            elif not node and record.nominated:
                self.nominations.drop(record)


def _by_domain(group: Root, search: GroupSearch) -> DomainSearch | None:
    """The search for a group that must be in one domain."""
    top = group.top
    is_confined = top is not None and top.topology_key and not top.children
    return DomainSearch(search, top) if top is not None and is_confined else None


def _is_doubtful(verdict: Verdict) -> bool:
    """Whether it is a refusal, and a placement may still exist."""
    proof = verdict.proof
    return proof is not None and bool(proof.doubts)


def _settled(attempt: Attempt, answer: Answer) -> Attempt:
    """The refusal with the proof of the exact search, where the quick search left doubts."""
    before = attempt.verdict.proof or Proof()
    impossible = answer.solution.outcome is Outcome.IMPOSSIBLE
    after = Proof() if impossible else Proof(before.doubts, exhausted=True)

    def settled(verdict: Verdict) -> Verdict:
        proof, cause = after if verdict.proof is not None else None, verdict.cause
        if isinstance(cause, GroupRefused) and cause.proof == before:
            cause = replace(cause, proof=after)
        elif isinstance(cause, NoNodeFits) and cause.doubts == before:
            cause = replace(cause, doubts=after)
        return replace(verdict, cause=cause, proof=proof)

    return _changed(attempt, settled)


def _needed(members: Sequence[PodRecord]) -> tuple[int, ...]:
    return tuple(sorted(dict.fromkeys(i for record in members for i, _ in record.pod_class.limited)))


def _policy(group: Root) -> str:
    """The group's own preemption policy, else Never if any member says so."""
    own = group.preemption_policy
    if own:
        return own
    never = any(record.pod.spec.preemption_policy == "Never" for record in group.members.values())
    return "Never" if never else ""


def _with_preemption(attempt: Attempt, progress: GroupPreemption) -> Attempt:
    """Parts that lack pods would not start by any eviction."""
    return _changed(
        attempt,
        lambda verdict: (
            verdict if isinstance(verdict.cause, LacksMembers) else replace(verdict, preemption=progress)
        ),
    )


def _changed(attempt: Attempt, change: Callable[[Verdict], Verdict]) -> Attempt:
    """Change every verdict once: members of one class still share theirs."""
    verdicts = [
        attempt.verdict,
        *(one for _, one in attempt.refused),
        *(one.verdict for one in attempt.parts),
    ]
    changed = {id(verdict): verdict for verdict in verdicts}
    changed = {number: change(verdict) for number, verdict in changed.items()}
    refused = tuple((record, changed[id(verdict)]) for record, verdict in attempt.refused)
    parts = tuple(part._replace(verdict=changed[id(part.verdict)]) for part in attempt.parts)
    return Attempt(changed[id(attempt.verdict)], attempt.placed, refused, parts)
