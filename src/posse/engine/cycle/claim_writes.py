"""Claims that are written before pods are bound: their devices, and for which pods and groups they are."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from posse.engine.cycle.claim_limits import ClaimLimits
from posse.engine.decisions import (
    SCHEDULER_ERROR,
    AllocateClaims,
    Bind,
    ClaimAllocation,
    Decision,
    ExtendedResourceClaim,
    Placement,
    ReportGroup,
)
from posse.engine.devices.allocation import allocation_of
from posse.engine.devices.claims import MAX_CONSUMERS, POD_CONSUMER, used_by
from posse.engine.devices.extended import claim_name, extended_claims
from posse.engine.devices.needs import PodClaim, extended_key, extended_key_of, pod_claims
from posse.engine.events import BindRefused
from posse.engine.intake.failed_writes import FailedWrites
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import ClaimKey, GroupKey
from posse.engine.reporting.pods import mark_pod_error
from posse.engine.state.pod_record import PodRecord
from posse.model.resource_claim import ResourceClaimConsumerReference
from posse.model.workload import PodGroup

_GROUP_CONSUMER = ("scheduling.k8s.io", "podgroups")


class ClaimsOfBindings:
    def __init__(self, knowledge: Knowledge, failed_writes: FailedWrites) -> None:
        self._knowledge = knowledge
        self._failed_writes = failed_writes
        self._devices = knowledge.state.devices
        self._taken_back: dict[GroupKey, None] = {}
        """Groups whose binding was taken back in this round."""

    def add(self, decisions: Sequence[Decision]) -> list[Decision]:
        """The decisions, with the claims that have to be written for each binding."""
        if not any(isinstance(one, Bind) and self._uses_claims(one) for one in decisions):
            return list(decisions)
        merged = self._merged([one for one in decisions if isinstance(one, Bind) and self._uses_claims(one)])
        limits = ClaimLimits(self._devices.book, self._reservations)
        self._taken_back = {}
        done: list[Decision] = []
        for decision in decisions:
            if isinstance(decision, Bind) and self._uses_claims(decision):
                together = merged.pop(decision.placements[0].pod.uid, None)
                done += self._with_claims(together, limits) if together is not None else ()
            else:
                done.append(decision)
        return [one for one in done if not self._is_untrue(one)]

    def _is_untrue(self, decision: Decision) -> bool:
        """Whether it reports the start of a group whose binding was taken back here."""
        if not (isinstance(decision, ReportGroup) and decision.scheduled) or decision.holds_anyway:
            return False
        if decision.group not in self._taken_back and decision.tree not in self._taken_back:
            return False
        self._knowledge.groups.not_yet_scheduled(decision.group)
        return True

    def _with_claims(self, bind: Bind, limits: ClaimLimits) -> Iterator[Decision]:
        if reason := self._missing(bind):
            self._take_back(bind, bind.placements, reason)
            return
        kept, beyond = limits.kept(bind)
        if kept is not None:
            yield replace(kept, claims=tuple(self._claims(kept.placements)))
        for placed, key in beyond.items():
            message = f'resourceclaim "{key.name}" cannot be reserved for more than {MAX_CONSUMERS} pods'
            self._take_back(bind, [placed], message)
            yield from mark_pod_error(self._knowledge.pods[placed.pod.uid], SCHEDULER_ERROR, message)

    def _take_back(self, bind: Bind, placements: Sequence[Placement], reason: str) -> None:
        if bind.group is not None:
            self._taken_back[bind.group] = None
        for placed in placements:
            self._failed_writes.absorb(BindRefused(placed.pod.uid, placed.node, reason))

    def _reservations(self, placed: Placement) -> list[tuple[ClaimKey, str]]:
        record = self._knowledge.pods[placed.pod.uid]
        claims = pod_claims(record.pod)
        return [(one.key, self._consumer(record, one).uid) for one in claims if one.key is not None]

    def _missing(self, bind: Bind) -> str:
        """A claim that is gone since the pod got its node, if any: bindings may have waited for volumes."""
        held, book = self._devices.held, self._devices.book
        for key in dict.fromkeys(one.key for placed in bind.placements for one in self._entries(placed)):
            record = book.claims.get(key) if key is not None else None
            if key is None or record is None or (record.allocation is None and key not in held.promises):
                return f'resourceclaim "{key.name if key is not None else ""}" not found'
        return ""

    def begin(self, decisions: Sequence[Decision]) -> None:
        """Hold the devices of claims that are written now. Each claim is written once in a round."""
        begun: dict[ClaimKey, ClaimAllocation] = {}
        for decision in decisions:
            for one in decision.claims if isinstance(decision, Bind | AllocateClaims) else ():
                begun.setdefault(one.claim, one)
        for key, one in begun.items():
            made = one.created
            holder = extended_key_of(key.namespace, made.pod.uid) if made is not None else key
            self._devices.held.write_begins(key, holder, used_by(one.allocation))

    def _uses_claims(self, bind: Bind) -> bool:
        pods = self._knowledge.pods
        return any(pods[one.pod.uid].pod_class.devices is not None for one in bind.placements)

    def _merged(self, binds: Sequence[Bind]) -> dict[str, Bind]:
        """Bindings of single pods that share a claim, as one: the claim is written once for all of them.

        By uid of the first pod.
        """
        merged: dict[str, Bind] = {}
        first_of: dict[ClaimKey, str] = {}
        for bind in binds:
            uid = bind.placements[0].pod.uid
            if bind.group is not None:
                merged[uid] = bind
                continue
            keys = [one.key for one in self._entries(bind.placements[0]) if one.key is not None]
            first = next((first_of[key] for key in keys if key in first_of), uid)
            for key in keys:
                first_of.setdefault(key, first)
            known = merged.get(first)
            merged[first] = (
                bind if known is None else replace(known, placements=known.placements + bind.placements)
            )
        return merged

    def _entries(self, placed: Placement) -> Iterable[PodClaim]:
        return pod_claims(self._knowledge.pods[placed.pod.uid].pod)

    def _claims(self, placements: Sequence[Placement]) -> Iterable[ClaimAllocation]:
        consumers: dict[ClaimKey, dict[ResourceClaimConsumerReference, None]] = {}
        records = [self._knowledge.pods[placed.pod.uid] for placed in placements]
        for record in records:
            for one in pod_claims(record.pod):
                if one.key is not None:
                    consumers.setdefault(one.key, {})[self._consumer(record, one)] = None
        for key, wanted in consumers.items():
            claim = self._claim(key, list(wanted))
            if claim is not None:
                yield claim
        for record in records:
            made = self._made(record) if _has_extended(record) else None
            if made is not None:
                yield made

    def _made(self, record: PodRecord) -> ClaimAllocation | None:
        """The claim that is made for extended resources which devices stand for on the pod's node."""
        promise, book = self._devices.held.promises.get(extended_key(record.pod)), self._devices.book
        if promise is None:
            return None
        requests = dict.fromkeys(one.wanted.name for one in promise.grants)
        for one in extended_claims(record.pod, book.backing, book.classes):
            if requests == dict.fromkeys(request.name for request in one.spec.devices.requests):
                made = ExtendedResourceClaim(record.ref, one.spec, one.mappings)
                allocation = allocation_of(promise, one.spec, record.ref.uid, book.classes)
                key = ClaimKey(record.ref.namespace, claim_name(record.pod))
                return ClaimAllocation(key, "", allocation, (_pod_consumer(record),), made)
        return None

    def _claim(
        self, key: ClaimKey, wanted: Sequence[ResourceClaimConsumerReference]
    ) -> ClaimAllocation | None:
        """None if the claim has its devices and all these reservations.

        A claim whose release was decided is written again: either write may come first.
        """
        record, book = self._devices.book.claims[key], self._devices.book
        reserved = {} if book.is_released(record) else dict.fromkeys(one.uid for one in record.consumers)
        missing = tuple(one for one in wanted if one.uid not in reserved)
        allocation = record.allocation
        if allocation is None:
            promise = self._devices.held.promises[key]
            allocation = allocation_of(promise, record.claim.spec, record.uid, book.classes)
        elif not missing:
            return None
        return ClaimAllocation(key, record.uid, allocation, missing)

    def _consumer(self, record: PodRecord, one: PodClaim) -> ResourceClaimConsumerReference:
        """The pod, unless its group names the same claim in the same way."""
        group = self._knowledge.groups.get(record.group) if record.group is not None else None
        obj = group.obj if group is not None else None
        for shared in obj.spec.resource_claims if isinstance(obj, PodGroup) else ():
            source = shared.name, shared.resource_claim_name, shared.resource_claim_template_name
            own = one.entry.name, one.entry.resource_claim_name, one.entry.resource_claim_template_name
            if obj is not None and source == own:
                api_group, resource = _GROUP_CONSUMER
                name, uid = obj.metadata.name, obj.metadata.uid
                return ResourceClaimConsumerReference(
                    api_group=api_group, resource=resource, name=name, uid=uid
                )
        return _pod_consumer(record)


def _has_extended(record: PodRecord) -> bool:
    needs = record.pod_class.devices
    return needs is not None and bool(needs.extended)


def _pod_consumer(record: PodRecord) -> ResourceClaimConsumerReference:
    api_group, resource = POD_CONSUMER
    return ResourceClaimConsumerReference(
        api_group=api_group, resource=resource, name=record.ref.name, uid=record.ref.uid
    )
