"""Pods that have a node and devices, and wait until drivers have made these ready.

If that fails, or takes too long, the pods give up their nodes, and the claim its devices.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from posse.engine.cycle.claim_releases import release_of
from posse.engine.decisions import (
    SCHEDULER_ERROR,
    AllocateClaims,
    Bind,
    Decision,
    Placement,
    ReportGroup,
    ReportPod,
)
from posse.engine.devices.binding import failure, has_conditions, is_ready
from posse.engine.devices.needs import claim_keys
from posse.engine.events import BindRefused
from posse.engine.groups.tree import root_of
from posse.engine.intake.failed_writes import FailedWrites
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import ClaimKey, GroupKey
from posse.engine.statement import Reported

MAX_SECONDS = 600.0


@dataclass(frozen=True, slots=True, eq=False)
class _ClaimWait:
    bind: Bind
    keys: tuple[ClaimKey, ...]
    """Claims with conditions."""
    until: float


class ClaimWaits:
    def __init__(self, knowledge: Knowledge, failed_writes: FailedWrites) -> None:
        self._knowledge = knowledge
        self._failed_writes = failed_writes
        self._devices = knowledge.state.devices
        self._book = self._devices.book
        self._waits: list[_ClaimWait] = []
        """In order of their time."""

    def next_wakeup(self) -> float | None:
        return self._waits[0].until if self._waits else None

    def hold_back(self, decisions: Sequence[Decision], now: float) -> list[Decision]:
        """The decisions, with bindings replaced that have to wait."""
        if not (self._waits or self._devices.has_slow_devices):
            return list(decisions)
        kept = [part for decision in decisions for part in self._parts(decision, now)]
        held = dict.fromkeys(wait.bind.group for wait in self._waits if wait.bind.group is not None)
        return [one for one in kept if not self._is_premature(one, held)]

    def _parts(self, decision: Decision, now: float) -> Iterator[Decision]:
        keys = tuple(self._unready(decision)) if isinstance(decision, Bind) else ()
        if not isinstance(decision, Bind) or not keys:
            yield decision
            return
        self._waits.append(_ClaimWait(replace(decision, claims=()), keys, now + MAX_SECONDS))
        self._mark(decision.group, is_waiting=True)
        if decision.claims:
            yield AllocateClaims(decision.placements, decision.claims, decision.group)

    def _unready(self, bind: Bind) -> Iterator[ClaimKey]:
        new = {one.claim: one.allocation for one in bind.claims}
        pods = self._knowledge.pods
        for key in dict.fromkeys(key for one in bind.placements for key in claim_keys(pods[one.pod.uid].pod)):
            record = self._book.claims[key]
            allocation = record.allocation or new.get(key)
            if allocation is not None and has_conditions(allocation) and not is_ready(record):
                yield key

    def _is_premature(self, decision: Decision, held: dict[GroupKey, None]) -> bool:
        """A group whose members wait for devices has not started yet; it is reported once it has."""
        if not (isinstance(decision, ReportGroup) and decision.scheduled) or decision.holds_anyway:
            return False
        if decision.group not in held and decision.tree not in held:
            return False
        self._knowledge.groups.not_yet_scheduled(decision.group)
        return True

    def settle(self, now: float) -> list[Decision]:
        """Bind the pods whose devices are ready by now, and give up on those whose devices will not be."""
        waits, self._waits = self._waits, []
        return [decision for wait in waits for decision in self._settle(wait, now)]

    def _settle(self, wait: _ClaimWait, now: float) -> Iterator[Decision]:
        placements = wait.bind.placements
        holding = [one for one in placements if self._still_holds(one)]
        if len(holding) < len(placements):
            self._end(wait)
            self._refuse(holding, "other pods of its group gave up their nodes")
            return
        records = [self._book.claims.get(key) for key in wait.keys]
        failures = [(one, failure(one)) for one in records if one is not None]
        reason = next((f"claim {one.key}, {text}" for one, text in failures if text), "")
        slow = [key for key, one in zip(wait.keys, records, strict=True) if one is None or not is_ready(one)]
        if not reason and slow and now >= wait.until:
            reason = f"claim {slow[0]}: not ready after {MAX_SECONDS:.0f} seconds"
        if reason:
            self._end(wait)
            message = f"waiting for devices: {reason}"
            self._refuse(placements, message)
            for one in placements:
                record = self._knowledge.pods[one.pod.uid]
                record.reported = Reported(SCHEDULER_ERROR, message, record.nominated)
                yield ReportPod(record.ref, SCHEDULER_ERROR, message, record.nominated)
            for claim, text in failures:
                if (text or not is_ready(claim)) and claim.allocation is not None:
                    yield release_of(claim, self._book)
        elif not slow:
            self._end(wait)
            yield wait.bind
        else:
            self._waits.append(wait)

    def _still_holds(self, placed: Placement) -> bool:
        record = self._knowledge.pods.get(placed.pod.uid)
        return record is not None and record.node == placed.node and not record.pod.spec.node_name

    def _refuse(self, placements: Sequence[Placement], reason: str) -> None:
        for one in placements:
            self._failed_writes.absorb(BindRefused(one.pod.uid, one.node, reason))

    def _end(self, wait: _ClaimWait) -> None:
        self._mark(wait.bind.group, is_waiting=False)
        if wait.bind.group is not None:
            self._knowledge.unsettle(wait.bind.group)

    def _mark(self, key: GroupKey | None, *, is_waiting: bool) -> None:
        group = root_of(self._knowledge.groups, key) if key is not None else None
        for leaf in group.leaves if group is not None else ():
            leaf.awaits_volumes = is_waiting
