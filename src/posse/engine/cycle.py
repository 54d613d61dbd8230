"""One attempt to place a group, or a run of equal pods, in one draft. Pure search: reports and queues are not its business.

A group is tried as a whole: members class by class, oldest class first, and if fewer than the minimum find a
place the draft is rolled back, so that a gang holds nothing while it waits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.cluster_state import ClusterState, PodRecord
from posse.engine.contract import GroupPlacement
from posse.engine.draft import Draft
from posse.engine.groups import GroupRecord
from posse.engine.invariants import no_gang_below_minimum
from posse.engine.scene import Subject
from posse.engine.search.fill import fill
from posse.engine.verdict import SUCCESS, Code, Verdict


@dataclass(frozen=True, slots=True)
class Attempt:
    verdict: Verdict
    placed: tuple[PodRecord, ...] = ()
    """Attached to their nodes; empty unless the verdict is success."""
    refused: tuple[tuple[PodRecord, Verdict], ...] = ()


def try_pods(state: ClusterState, subject: Subject, records: Sequence[PodRecord]) -> Attempt:
    """Place pods that are alike, each on its own account; those that find no node are refused."""
    draft = Draft(state)
    placed = fill(state, draft, subject, records)
    if placed == len(records):
        return Attempt(SUCCESS, draft.commit())
    verdict = state.view(subject).refuse()
    return Attempt(SUCCESS, draft.commit(), tuple((record, verdict) for record in records[placed:]))


def try_group(state: ClusterState, group: GroupRecord) -> Attempt:
    draft = Draft(state)
    members = group.unattached()
    attached_before = group.attached_count
    refused: list[tuple[PodRecord, Verdict]] = []
    for subject, records in _by_subject(state, members).items():
        placed = fill(state, draft, subject, records)
        if placed < len(records):
            verdict = state.view(subject).refuse()
            refused += [(record, verdict) for record in records[placed:]]
    attached = attached_before + len(members) - len(refused)
    if attached < group.minimum or len(refused) == len(members):
        draft.roll_back()
        return _group_refused(group, attached, members, refused)
    if objection := _objection(state, group):
        draft.roll_back()
        return _group_objected(members, objection)
    no_gang_below_minimum(group.key, attached, group.minimum)
    return Attempt(SUCCESS, draft.commit(), tuple(refused))


def _objection(state: ClusterState, group: GroupRecord) -> str:
    """What a rule of the group's profile has against where its members are now; empty if nothing."""
    placed = [record for record in group.members.values() if record.node in state.nodes.row_of]
    rules = state.profile(placed[0].pod_class).group_rules if placed else ()
    if not rules:
        return ""
    rows = np.array([state.nodes.row_of[record.node] for record in placed])
    placement = GroupPlacement(group.key.namespace, group.key.name, rows)
    objections = ((rule.name, rule.objection(placement, state.scene)) for rule in rules)
    return next((f"{name}: {objection}" for name, objection in objections if objection), "")


def _group_objected(members: Sequence[PodRecord], objection: str) -> Attempt:
    verdict = Verdict(Code.UNSCHEDULABLE, objection)
    drawn_along = Verdict(verdict.code, f"pod group is unschedulable, {objection}")
    return Attempt(verdict, refused=tuple((record, drawn_along) for record in members))


def _by_subject(state: ClusterState, members: Sequence[PodRecord]) -> dict[Subject, list[PodRecord]]:
    subjects: dict[Subject, list[PodRecord]] = {}
    for record in members:
        subjects.setdefault(state.subject(record), []).append(record)
    return subjects


def _group_refused(
    group: GroupRecord,
    attached: int,
    members: Sequence[PodRecord],
    refused: Sequence[tuple[PodRecord, Verdict]],
) -> Attempt:
    own = dict(refused)
    resolvable = sum(1 for verdict in own.values() if verdict.code is Code.UNSCHEDULABLE)
    code = Code.UNSCHEDULABLE if attached + resolvable >= group.minimum else Code.UNRESOLVABLE
    message = _group_message(group, attached, [verdict for _, verdict in refused])
    drawn_along = Verdict(code, f"pod group is unschedulable, {message}")
    return Attempt(
        Verdict(code, message), refused=tuple((record, own.get(record, drawn_along)) for record in members)
    )


def _group_message(group: GroupRecord, attached: int, verdicts: Sequence[Verdict]) -> str:
    causes = " ".join(dict.fromkeys(verdict.message for verdict in verdicts))
    if group.minimum == 1 or attached >= group.minimum:
        return f"none of its waiting pods fits: {causes}"
    return (
        f"only {attached} of the {group.minimum} pods that must start together fit; for the others {causes}"
    )
