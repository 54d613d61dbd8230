"""What came of attempts, as values for whoever counts them or tells their story.

What a pod or a group is told itself is in reports.py, and there only what is news.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from posse.engine.groups.part import Root
from posse.engine.keys import GroupKey, PodRef
from posse.engine.placement.gang.attempt import Attempt
from posse.engine.state.pod_record import PodRecord
from posse.engine.trials.group_trial import GroupTrial
from posse.engine.trials.pod_trial import Trial
from posse.engine.verdict import Verdict


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One attempt: for a group, or for a pod that found no place. (A pod that found one has its binding to show.)"""

    who: PodRef | GroupKey
    scheduler_name: str
    number: int
    """Counted from 1. A group counts with the member that was tried most often."""
    queued_at: float
    """When it was first free to be tried; of a group, when its first member was."""
    verdict: Verdict
    pods: int = 1
    """For how many pods it decides: for a group, those that start, or all that it tried to start."""
    sought_victims: bool = False
    nominated_node: str = ""
    victims: tuple[PodRef, ...] = ()
    is_cascade: bool = False
    """Somebody is evicted for it who would not be if it had not been evicted before."""


def count(attempt: Attempt) -> None:
    """Note on every pod that it was tried, and what stood in its way."""
    for record in attempt.placed:
        record.attempts += 1
        record.refusals = ()
    for record, verdict in attempt.refused:
        record.attempts += 1
        record.refusals = verdict.refusals


def tried_pods(trial: Trial, cascading: Collection[str], *, sought_victims: bool) -> Iterator[AttemptRecord]:
    """`cascading` are the uids of pods that were evicted themselves and have others evicted now."""
    victims: dict[str, list[PodRef]] = {}
    for eviction in trial.evictions:
        victims.setdefault(eviction.preemptor.ref.uid, []).append(eviction.victim.ref)
    for record, verdict in trial.attempt.refused:
        yield AttemptRecord(
            record.ref,
            record.ref.scheduler_name,
            record.attempts,
            record.queued_at,
            verdict,
            sought_victims=sought_victims,
            nominated_node=record.nominated,
            victims=tuple(victims.get(record.ref.uid, ())),
            is_cascade=record.ref.uid in cascading,
        )


def tried_group(group: Root, trial: GroupTrial, *, is_cascade: bool) -> Iterator[AttemptRecord]:
    """The group as a whole and, if it starts, each member that it starts without."""
    attempt = trial.attempt
    refused = [record for record, _ in attempt.refused]
    if not attempt.verdict.succeeded:
        whole = _whole(group, refused, _with_all_refusals(attempt))
        victims = tuple(victim.ref for victim in trial.victims)
        yield replace(whole, sought_victims=trial.sought_victims, victims=victims, is_cascade=is_cascade)
        return
    yield _whole(group, attempt.placed, attempt.verdict)
    for record, verdict in attempt.refused:
        yield AttemptRecord(record.ref, record.ref.scheduler_name, record.attempts, record.queued_at, verdict)


def _whole(group: Root, members: Sequence[PodRecord], verdict: Verdict) -> AttemptRecord:
    return AttemptRecord(
        group.key,
        members[0].ref.scheduler_name,
        max(record.attempts for record in members),
        min(record.queued_at for record in members),
        verdict,
        len(members),
    )


def _with_all_refusals(attempt: Attempt) -> Verdict:
    # Members of one class share one verdict, so there are far fewer of them than members.
    verdicts = {id(verdict): verdict for _, verdict in attempt.refused}.values()
    refusals = dict.fromkeys(refusal for verdict in verdicts for refusal in verdict.refusals)
    return replace(attempt.verdict, refusals=tuple(refusals))
