"""One call of `decide`: its time, its decisions, and its attempts.

Attempts are values for metrics and logs. `reporting` writes the status of pods and groups, and only if it is
new.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from posse.engine.causes import Refusal
from posse.engine.decisions import Decision
from posse.engine.groups.part import Root
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey, PodRef
from posse.engine.placement.gang.attempt import Attempt
from posse.engine.reporting.pods import mark_nomination_lost
from posse.engine.state.pod_record import PodRecord
from posse.engine.trials.group_trial import GroupTrial
from posse.engine.trials.pod_trial import Trial
from posse.engine.verdict import Verdict


class AttemptRecord(msgspec.Struct, frozen=True, gc=False):
    """One attempt for a group, or for a pod that found no node.

    The binding itself records a pod that found one.
    """

    who: PodRef | GroupKey
    scheduler_name: str
    number: int
    """Counted from 1; for a group, the number of the member that was tried most often."""
    queued_at: float
    """When it first became ready to be tried; for a group, when its first member did."""
    verdict: Verdict
    refusals: tuple[Refusal, ...] = ()
    """Refusals by nodes; for a refused group, those of all its members."""
    pods: int = 1
    """Number of pods it decides: for a group, those that start, or all that it tried to start."""
    sought_victims: bool = False
    nominated_node: str = ""
    victims: tuple[PodRef, ...] = ()
    disrupted_groups: int = 0
    """Groups with a pod among the victims."""
    overdrawn_budgets: int = 0
    """Victims that overdraw a disruption budget; pods that go together count once."""
    is_cascade: bool = False
    """The preemptor was itself evicted and has not started since."""


def count(attempt: Attempt, now: float) -> None:
    """Count the attempt on every pod, and keep the reasons of nodes for refusing it."""
    for record in attempt.placed:
        record.attempts += 1
        record.refusals = ()
        record.placed_at = now
    for record, verdict in attempt.refused:
        record.attempts += 1
        record.refusals = verdict.refusals


def tried_pods(trial: Trial, cascading: Collection[str], *, sought_victims: bool) -> Iterator[AttemptRecord]:
    """`cascading` are the uids of preemptors that were evicted themselves."""
    victims: dict[str, list[PodRecord]] = {}
    for eviction in trial.evictions:
        victims.setdefault(eviction.preemptor.ref.uid, []).append(eviction.victim)
    for record, verdict in trial.attempt.refused:
        evicted = victims.get(record.ref.uid, ())
        yield AttemptRecord(
            record.ref,
            record.ref.scheduler_name,
            record.attempts,
            record.queued_at,
            verdict,
            verdict.refusals,
            sought_victims=sought_victims,
            nominated_node=record.nominated,
            victims=tuple(victim.ref for victim in evicted),
            disrupted_groups=_groups_of(evicted),
            overdrawn_budgets=trial.overdrawn.get(record.ref.uid, 0),
            is_cascade=record.ref.uid in cascading,
        )


def tried_group(group: Root, trial: GroupTrial, *, is_cascade: bool) -> Iterator[AttemptRecord]:
    """The record of the group and, if it starts, of each member that it starts without."""
    attempt = trial.attempt
    refused = [record for record, _ in attempt.refused]
    if not attempt.verdict.succeeded:
        yield replace(
            _whole(group, refused, attempt.verdict),
            refusals=_all_refusals(attempt),
            sought_victims=trial.sought_victims,
            victims=tuple(victim.ref for victim in trial.victims),
            disrupted_groups=_groups_of(trial.victims),
            overdrawn_budgets=trial.overdrawn,
            is_cascade=is_cascade,
        )
        return
    yield _whole(group, attempt.placed, attempt.verdict)
    for record, verdict in attempt.refused:
        yield AttemptRecord(
            record.ref,
            record.ref.scheduler_name,
            record.attempts,
            record.queued_at,
            verdict,
            verdict.refusals,
        )


def _groups_of(victims: Iterable[PodRecord]) -> int:
    return len(dict.fromkeys(victim.group for victim in victims if victim.group is not None))


def _whole(group: Root, members: Sequence[PodRecord], verdict: Verdict) -> AttemptRecord:
    return AttemptRecord(
        group.key,
        members[0].ref.scheduler_name,
        max([record.attempts for record in members]),
        min([record.queued_at for record in members]),
        verdict,
        pods=len(members),
    )


def _all_refusals(attempt: Attempt) -> tuple[Refusal, ...]:
    # Members of one class share one verdict, so there are far fewer of them than members.
    verdicts = {id(verdict): verdict for _, verdict in attempt.refused}.values()
    return tuple(dict.fromkeys(refusal for verdict in verdicts for refusal in verdict.refusals))


MAX_PODS = 1000
"""Pods that are tried in one call of `decide`, give or take a group."""


@dataclass(slots=True, eq=False)
class Cycle:
    now: float
    decisions: list[Decision] = field(default_factory=list)
    attempts: list[AttemptRecord] = field(default_factory=list)

    def requeue_crowded_out(self, knowledge: Knowledge, arrived: Iterable[PodRecord], priority: int) -> None:
        """Withdraw nominations for capacity that these pods have or will have, and try their pods again."""
        nominations = knowledge.nominations
        nodes = dict.fromkeys(record.node or record.nominated for record in arrived)
        for record in nominations.crowded_out(nodes, priority):
            nominations.drop(record)
            self.decisions.extend(mark_nomination_lost(record))
            knowledge.backlog.wake(knowledge.queue_key(record))
