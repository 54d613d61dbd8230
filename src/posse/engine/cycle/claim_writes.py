"""Claims that are written before pods are bound: their devices, and for which pods and groups they are."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeGuard

from msgspec.structs import replace

from posse.engine.cycle.claim_limits import ClaimLimits, ReservedClaim
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
from posse.engine.devices.needs import claim_keys, extended_key, extended_key_of, pod_claims
from posse.engine.events import BindRefused
from posse.engine.intake.failed_writes import FailedWrites
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import ClaimKey, GroupKey
from posse.engine.reporting.pods import mark_pod_error
from posse.engine.state.pod_record import PodRecord
from posse.model.pod import PodResourceClaim
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
        binds = {one.placements[0].pod.uid: one for one in decisions if self._uses_claims(one)}
        if not binds:
            return list(decisions)
        merged = self._merged(list(binds.values()))
        limits = ClaimLimits(self._devices.book)
        self._taken_back = {}
        done: list[Decision] = []
        for decision in decisions:
            uid = decision.placements[0].pod.uid if isinstance(decision, Bind) else ""
            if uid not in binds:
                done.append(decision)
            elif uid in merged:
                done += self._with_claims(merged[uid], limits)
        return [one for one in done if not self._is_untrue(one)] if self._taken_back else done

    def _is_untrue(self, decision: Decision) -> bool:
        """Whether it reports the start of a group whose binding was taken back here."""
        if not (isinstance(decision, ReportGroup) and decision.scheduled) or decision.holds_anyway:
            return False
        if decision.group not in self._taken_back and decision.tree not in self._taken_back:
            return False
        self._knowledge.groups.not_yet_scheduled(decision.group)
        return True

    def _with_claims(self, bind: Bind, limits: ClaimLimits) -> Iterator[Decision]:
        uses = [self._uses(placed) for placed in bind.placements]
        if reason := self._missing(uses):
            self._take_back(bind, bind.placements, reason)
            return
        beyond = limits.beyond(uses)
        if beyond and bind.group is not None:
            # Pods of a group are bound together or not at all.
            beyond = dict.fromkeys(range(len(uses)), next(iter(beyond.values())))
        within = [number for number in range(len(uses)) if number not in beyond]
        if within:
            placements = tuple([bind.placements[number] for number in within])
            claims = self._claims([uses[number] for number in within])
            yield Bind(placements, bind.group, (*claims, *self._claims_made(placements)))
        for number, key in beyond.items():
            placed = bind.placements[number]
            message = f'resourceclaim "{key.name}" cannot be reserved for more than {MAX_CONSUMERS} pods'
            self._take_back(bind, [placed], message)
            yield from mark_pod_error(self._knowledge.pods[placed.pod.uid], SCHEDULER_ERROR, message)

    def _take_back(self, bind: Bind, placements: Sequence[Placement], reason: str) -> None:
        if bind.group is not None:
            self._taken_back[bind.group] = None
        for placed in placements:
            self._failed_writes.absorb(BindRefused(placed.pod.uid, placed.node, reason))

    def _uses(self, placed: Placement) -> list[ReservedClaim]:
        """The claims of a pod, each with the consumer that it is reserved for."""
        record = self._knowledge.pods[placed.pod.uid]
        pod, group = _pod_consumer(record), self._group_with_claims(record)
        return [
            ReservedClaim(one.key, pod if group is None else _consumer(one.entry, pod, group))
            for one in pod_claims(record.pod)
        ]

    def _group_with_claims(self, record: PodRecord) -> PodGroup | None:
        """The group of the pod, if it names claims."""
        group = self._knowledge.groups.get(record.group) if record.group is not None else None
        return group.obj if group is not None and group.obj and group.obj.spec.resource_claims else None

    def _missing(self, uses: Iterable[Sequence[ReservedClaim]]) -> str:
        """A claim that is gone since the pod got its node, if any: bindings may have waited for volumes."""
        promises, claims = self._devices.held.promises, self._devices.book.claims
        for use in chain.from_iterable(uses):
            record = claims.get(use.key) if use.key is not None else None
            if record is None or (record.allocation is None and record.key not in promises):
                return f'resourceclaim "{use.key.name if use.key is not None else ""}" not found'
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

    def _uses_claims(self, decision: Decision) -> TypeGuard[Bind]:
        if not isinstance(decision, Bind):
            return False
        pods = self._knowledge.pods
        return any(pods[one.pod.uid].pod_class.devices is not None for one in decision.placements)

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
            keys = claim_keys(self._knowledge.pods[uid].pod)
            first = next((first_of[key] for key in keys if key in first_of), uid)
            for key in keys:
                first_of.setdefault(key, first)
            known = merged.get(first)
            merged[first] = (
                bind if known is None else replace(known, placements=known.placements + bind.placements)
            )
        return merged

    def _claims(self, uses: Iterable[Sequence[ReservedClaim]]) -> list[ClaimAllocation]:
        consumers: dict[ClaimKey, dict[ResourceClaimConsumerReference, None]] = {}
        for use in chain.from_iterable(uses):
            if use.key is not None:
                consumers.setdefault(use.key, {})[use.consumer] = None
        claims = [self._claim(key, wanted) for key, wanted in consumers.items()]
        return [one for one in claims if one is not None]

    def _claims_made(self, placements: Iterable[Placement]) -> list[ClaimAllocation]:
        records = [self._knowledge.pods[placed.pod.uid] for placed in placements]
        made = [self._made(record) for record in records if _has_extended(record)]
        return [one for one in made if one is not None]

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
        self, key: ClaimKey, wanted: Iterable[ResourceClaimConsumerReference]
    ) -> ClaimAllocation | None:
        """None if the claim has its devices and all these reservations.

        A claim whose release was decided is written again: either write may come first.
        """
        record, book = self._devices.book.claims[key], self._devices.book
        reserved = {} if book.is_released(record) else dict.fromkeys([one.uid for one in record.consumers])
        missing = tuple([one for one in wanted if one.uid not in reserved])
        allocation = record.allocation
        if allocation is None:
            promise = self._devices.held.promises[key]
            allocation = allocation_of(promise, record.claim.spec, record.uid, book.classes)
        elif not missing:
            return None
        return ClaimAllocation(key, record.uid, allocation, missing)


def _consumer(
    entry: PodResourceClaim, pod: ResourceClaimConsumerReference, group: PodGroup
) -> ResourceClaimConsumerReference:
    """The pod, unless its group names the same claim in the same way."""
    own = entry.name, entry.resource_claim_name, entry.resource_claim_template_name
    for shared in group.spec.resource_claims:
        if own == (shared.name, shared.resource_claim_name, shared.resource_claim_template_name):
            api_group, resource = _GROUP_CONSUMER
            name, uid = group.metadata.name, group.metadata.uid
            return ResourceClaimConsumerReference(api_group=api_group, resource=resource, name=name, uid=uid)
    return pod


def _has_extended(record: PodRecord) -> bool:
    needs = record.pod_class.devices
    return needs is not None and bool(needs.extended)


def _pod_consumer(record: PodRecord) -> ResourceClaimConsumerReference:
    api_group, resource = POD_CONSUMER
    return ResourceClaimConsumerReference(
        api_group=api_group, resource=resource, name=record.ref.name, uid=record.ref.uid
    )
