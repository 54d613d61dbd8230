"""Victims evicted before a restart: the condition on each names its preemptor, so the preemption goes on.

Nothing else of a preemption is stored. Victims that are gone by now are not known.
"""

from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.preemption.marks import described
from posse.engine.state.pod_record import PodRecord


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
            waiting[described(entry)] = entry
    return waiting
