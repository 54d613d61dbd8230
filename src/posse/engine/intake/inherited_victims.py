"""Victims that were evicted by whoever scheduled before us: their marks say for whom, and so the preemption goes on.

Nothing else is written down of a preemption. Those of its victims that have gone by now are not known to have been any.
"""

from posse.engine.intake.cluster_events import Intake
from posse.engine.keys import GroupKey
from posse.engine.preemption.marks import described
from posse.engine.state.pod_record import PodRecord


def claim_victims(known: Intake) -> None:
    """Enter them in the ledger under those that they name and that wait."""
    preemptors = _waiting_by_name(known) if known.unclaimed_victims else {}
    for uid, name in list(known.unclaimed_victims.items()):
        preemptor = preemptors.get(name)
        if preemptor is not None:
            victim = known.pods[uid]
            victim.evicted_for = preemptor if isinstance(preemptor, GroupKey) else preemptor.ref.uid
            known.ledger.begin(preemptor, [victim])
            del known.unclaimed_victims[uid]


def _waiting_by_name(known: Intake) -> dict[str, PodRecord | GroupKey]:
    waiting: dict[str, PodRecord | GroupKey] = {}
    for record in filter(known.is_pending, known.pods.values()):
        if record.group is None:
            waiting[described(record.ref)] = record
        else:
            entry = known.entry_of(record.group)
            waiting[described(entry)] = entry
    return waiting
