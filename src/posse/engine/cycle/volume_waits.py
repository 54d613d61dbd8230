"""Pods that have a node and wait for their claims to be bound. Their own binding is held back until then.

Controllers and provisioners bind claims in their own time. If that fails, or takes too long, the pod gives up
its node and is tried again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from posse.engine.decisions import (
    SCHEDULER_ERROR,
    Bind,
    BindVolumes,
    Decision,
    KeepVolume,
    Placement,
    ReportGroup,
    ReportPod,
    VolumeStep,
)
from posse.engine.events import BindRefused
from posse.engine.groups.tree import root_of
from posse.engine.intake.failed_writes import FailedWrites
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord
from posse.engine.statement import Reported
from posse.engine.storage.records import SELECTED_NODE, ClaimRecord, is_kept_for

MAX_SECONDS = 600.0


@dataclass(frozen=True, slots=True, eq=False)
class _Wait:
    placement: Placement
    group: GroupKey | None
    steps: tuple[VolumeStep, ...]
    until: float
    written: set[VolumeStep] = field(default_factory=set)
    """Steps that the cluster has shown to be done; a step that is undone has failed."""


class VolumeWaits:
    def __init__(self, knowledge: Knowledge, failed_writes: FailedWrites) -> None:
        self._knowledge = knowledge
        self._failed_writes = failed_writes
        self._book = knowledge.state.storage.book
        self.waits: dict[str, _Wait] = {}
        """By uid of the pod, in order of their time."""
        self._held: dict[GroupKey, list[Placement]] = {}
        """Members that are ready, but wait for other members' claims."""

    def next_wakeup(self) -> float | None:
        """When the first wait times out."""
        return next((wait.until for wait in self.waits.values()), None)

    def hold_back(self, decisions: list[Decision], now: float) -> list[Decision]:
        """The decisions, with unbound claims of pods bound first."""
        if not self._book.has_promises:
            return decisions
        parts = [part for decision in decisions for part in self._parts(decision, now)]
        return [part for part in parts if not self._is_premature(part)]

    def _is_premature(self, decision: Decision) -> bool:
        """A group whose members wait for claims has not started yet; it is reported once it has."""
        if not (isinstance(decision, ReportGroup) and decision.scheduled) or decision.holds_anyway:
            return False
        if decision.group not in self._held and decision.tree not in self._held:
            return False
        self._knowledge.groups.not_yet_scheduled(decision.group)
        return True

    def settle(self, now: float) -> list[Decision]:
        """Bind the pods whose claims are bound by now, and give up on those whose claims failed."""
        settled = [decision for uid in list(self.waits) for decision in self._settle(uid, now)]
        waiting = dict.fromkeys(wait.group for wait in self.waits.values())
        complete = [key for key in self._held if key not in waiting]
        return settled + [decision for key in complete for decision in self._let_go(key)]

    def _let_go(self, key: GroupKey) -> Iterator[Decision]:
        """No member waits for claims now: bind all that have a node, or none if some have given theirs up."""
        placements = [placed for placed in self._held.pop(key) if self._still_holds(placed)]
        group = root_of(self._knowledge.groups, key)
        if group is None:
            return
        for leaf in group.leaves:
            leaf.awaits_volumes = False
        self._knowledge.unsettle(key)
        if placements and group.is_whole([placed.pod.uid for placed in placements]):
            yield Bind(tuple(placements), key)
            return
        for placed in placements:
            refusal = BindRefused(placed.pod.uid, placed.node, "claims of other members were not bound")
            self._failed_writes.absorb(refusal)

    def _still_holds(self, placed: Placement) -> bool:
        record = self._knowledge.pods.get(placed.pod.uid)
        return record is not None and record.node == placed.node and not record.pod.spec.node_name

    def _parts(self, decision: Decision, now: float) -> Iterator[Decision]:
        if not isinstance(decision, Bind):
            yield decision
            return
        steps = {placed: self._knowledge.pods[placed.pod.uid].volumes for placed in decision.placements}
        ready = tuple(placed for placed in decision.placements if not steps[placed])
        if len(ready) == len(decision.placements):
            yield decision
            return
        self._hold_group(decision.group, ready)
        if ready and decision.group is None:
            yield Bind(ready)
        for placed in decision.placements:
            if steps[placed]:
                wait = _Wait(placed, decision.group, steps[placed], now + MAX_SECONDS)
                self.waits.pop(placed.pod.uid, None)
                self.waits[placed.pod.uid] = wait
                yield BindVolumes(placed.pod, placed.node, steps[placed])

    def _hold_group(self, key: GroupKey | None, ready: Sequence[Placement]) -> None:
        group = root_of(self._knowledge.groups, key) if key is not None else None
        if group is not None:
            for leaf in group.leaves:
                leaf.awaits_volumes = True
            self._held.setdefault(group.key, []).extend(ready)

    def _settle(self, uid: str, now: float) -> Iterable[Decision]:
        wait, record = self.waits[uid], self._knowledge.pods.get(uid)
        if record is None or record.node != wait.placement.node or record.pod.spec.node_name:
            del self.waits[uid]
            return ()
        claims = [self._book.claims.get(step.claim) for step in wait.steps]
        problem = self._problem(wait, claims, now)
        if problem:
            del self.waits[uid]
            return self._give_up(record, problem)
        if all(claim is not None and claim.is_bound for claim in claims):
            del self.waits[uid]
            if wait.group is None or wait.group not in self._held:
                return (Bind((wait.placement,), wait.group),)
            self._held[wait.group].append(wait.placement)
        return ()

    def _give_up(self, record: PodRecord, problem: str) -> Iterable[Decision]:
        message = f"binding volumes: {problem}"
        self._failed_writes.absorb(BindRefused(record.ref.uid, record.node, message))
        record.reported = Reported(SCHEDULER_ERROR, message, record.nominated)
        yield ReportPod(record.ref, SCHEDULER_ERROR, message, record.nominated)

    def _problem(self, wait: _Wait, claims: Iterable[ClaimRecord | None], now: float) -> str:
        node = wait.placement.node
        if node not in self._knowledge.state.nodes.row_of:
            return f'node "{node}" not found'
        for step, claim in zip(wait.steps, claims, strict=True):
            if claim is None or claim.claim.metadata.uid != step.claim_uid:
                return f'persistentvolumeclaim "{step.claim.name}" not found'
            problem = self._misfit(claim, node) if claim.is_bound else self._undone(wait, step, claim)
            if problem:
                return problem
        return f"not done after {MAX_SECONDS:.0f} seconds" if now >= wait.until else ""

    def _misfit(self, claim: ClaimRecord, node: str) -> str:
        """A message if the volume made for the claim is not accessible from the node."""
        volume = self._book.volume_of(claim)
        row = self._knowledge.state.nodes.row_of[node]
        if volume is None or self._knowledge.state.storage.reach.mask(volume.node_selector)[row]:
            return ""
        return f'pv "{volume.name}" node affinity doesn\'t match node "{node}"'

    def _undone(self, wait: _Wait, step: VolumeStep, claim: ClaimRecord) -> str:
        if self._is_written(step, claim):
            wait.written.add(step)
        elif step in wait.written:
            if isinstance(step, KeepVolume):
                return f'ClaimRef got reset for pv "{step.volume}"'
            return f'provisioning failed for PVC "{step.claim.name}"'
        return ""

    def _is_written(self, step: VolumeStep, claim: ClaimRecord) -> bool:
        if isinstance(step, KeepVolume):
            volume = self._book.volumes.get(step.volume)
            return volume is not None and is_kept_for(volume, claim)
        return claim.claim.metadata.annotations.get(SELECTED_NODE) == step.node
