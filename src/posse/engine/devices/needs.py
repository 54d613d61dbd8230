"""What a pod needs of devices: its claims, as far as they exist, or why it has to wait for them.

A claim that was made for one pod, or that no other pod uses, and that has no devices yet, counts by what it
asks for. So pods with claims of their own are of one class, however many claims there are. All other claims
count by their name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from posse.engine.devices.claims import MAX_CONSUMERS, ClaimBook, DeviceClaimRecord
from posse.engine.devices.extended import extended_claims, names_a_class
from posse.engine.devices.requests import ClaimShape
from posse.engine.keys import ClaimKey
from posse.engine.nodes.resources import effective_requests
from posse.model.pod import Pod, PodResourceClaim

_EXTENDED = " extended resources"
_MAX_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class OwnClaim:
    """A claim that no other pod uses, without devices so far."""

    position: int
    """Among the claims of the pod; -1 for a claim that does not exist yet."""
    shape: ClaimShape
    entry: str = field(compare=False)
    """The name that the pod has for it, or another of the same class."""


class NamedClaim(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A claim that others may use too, or that has devices."""

    key: ClaimKey
    uid: str


@dataclass(frozen=True, slots=True)
class ExtendedNeed:
    """The claim that is made for a pod on nodes which do not offer these extended resources."""

    resources: tuple[str, ...]
    claim: OwnClaim


class DeviceNeeds(msgspec.Struct, frozen=True, cache_hash=True):
    claims: tuple[OwnClaim | NamedClaim, ...] = ()
    """In the order of the pod's entries, each once."""
    problem: str = ""
    """Why the pod cannot be placed anywhere; empty if there is no such reason."""
    is_error: bool = False
    """Whether the problem is a fault of the claim or of a class, rather than something to wait for."""
    spans_nodes: bool = False
    """Whether devices or claims are concerned that several nodes can reach."""
    extended: tuple[ExtendedNeed, ...] = ()
    extended_amounts: tuple[tuple[str, int], ...] = ()
    """Extended resources that devices stand for, with the amounts that the pod requests."""

    def lacking(self, resources: tuple[str, ...]) -> "DeviceNeeds":
        """The needs on a node that does not offer these of the extended resources."""
        made = [one.claim for one in self.extended if one.resources == resources]
        return DeviceNeeds((*self.claims, *made), spans_nodes=self.spans_nodes)


class PodClaim(msgspec.Struct, frozen=True, gc=False):
    """One entry of a pod, and the claim that stands for it."""

    entry: PodResourceClaim
    key: ClaimKey | None
    """None while the claim has not been made."""


def pod_claims(pod: Pod) -> list[PodClaim]:
    """The claims of a pod, without entries that turned out to need none."""
    claims: list[PodClaim] = []
    made = {one.name: one.resource_claim_name for one in pod.status.resource_claim_statuses}
    for entry in pod.spec.resource_claims:
        name = entry.resource_claim_name or made.get(entry.name)
        if name:
            claims.append(PodClaim(entry, ClaimKey(pod.metadata.namespace, name)))
        elif entry.name not in made:
            claims.append(PodClaim(entry, None))
    return claims


def extended_key(pod: Pod) -> ClaimKey:
    """Stands for the claim that will be made for the extended resources of the pod."""
    return extended_key_of(pod.metadata.namespace, pod.metadata.uid)


def extended_key_of(namespace: str, uid: str) -> ClaimKey:
    return ClaimKey(namespace, f"{uid}{_EXTENDED}")


def owner_of_extended(key: ClaimKey) -> str:
    """The pod that the key was made for; empty if it is that of a claim."""
    return key.name.removesuffix(_EXTENDED) if key.name.endswith(_EXTENDED) else ""


def claim_keys(pod: Pod) -> list[ClaimKey]:
    """The claims that exist for the pod, each once, in the order of its entries."""
    return distinct_keys(pod_claims(pod))


def distinct_keys(claims: Sequence[PodClaim]) -> list[ClaimKey]:
    keys = [one.key for one in claims if one.key is not None]
    return keys if len(keys) < 2 else list(dict.fromkeys(keys))


def claim_names(pod: Pod) -> list[str]:
    """The claims of the pod as messages name them, in the order of its needs."""
    return list(map(str, claim_keys(pod)))


class NeedsReader:
    def __init__(self, book: ClaimBook) -> None:
        self._book = book
        self._known: dict[tuple[bool | ClaimShape | NamedClaim, ...], DeviceNeeds] = {}
        """By what the claims count by: pods of one class share one value, which is quick to look up."""

    def read(self, pod: Pod, listed: Sequence[PodClaim], *, spans_nodes: bool) -> DeviceNeeds:
        """The needs of a pod with these claims. `spans_nodes`: devices are there that several nodes reach."""
        claims: dict[ClaimKey, ClaimShape | NamedClaim] = {}
        for one in listed:
            if one.key is None:
                template = one.entry.resource_claim_template_name
                problem = (
                    f'waiting for the resourceclaim of "{one.entry.name}", made from template "{template}"'
                )
                return DeviceNeeds(problem=problem)
            record = self._book.claims.get(one.key)
            problem = self._problem(pod, one, record)
            if record is None or problem:
                return DeviceNeeds(problem=problem)
            shape = self._book.shape(record.claim.spec)
            if isinstance(shape, str):
                return DeviceNeeds(problem=f'resourceclaim "{one.key.name}": {shape}')
            if record.allocation is None and self._is_own(pod, record):
                claims[one.key] = shape
            else:
                claims[one.key], spans_nodes = NamedClaim(one.key, record.uid), True
        needs = self._known.get((spans_nodes, *claims.values()))
        if needs is None:
            names = {one.key: one.entry.name for one in listed}
            needs = self._remembered(claims, names, spans_nodes=spans_nodes)
        return self._with_extended(pod, needs)

    def _remembered(
        self,
        claims: Mapping[ClaimKey, ClaimShape | NamedClaim],
        names: Mapping[ClaimKey | None, str],
        *,
        spans_nodes: bool,
    ) -> DeviceNeeds:
        if len(self._known) >= _MAX_REMEMBERED:
            self._known.clear()
        found = tuple(
            OwnClaim(position, one, names[key]) if isinstance(one, ClaimShape) else one
            for position, (key, one) in enumerate(claims.items())
        )
        needs = self._known[spans_nodes, *claims.values()] = DeviceNeeds(found, spans_nodes=spans_nodes)
        return needs

    def _with_extended(self, pod: Pod, needs: DeviceNeeds) -> DeviceNeeds:
        book, made = self._book, list[ExtendedNeed]()
        if not (book.backing or names_a_class(pod)):
            return needs
        for one in extended_claims(pod, book.backing, book.classes):
            shape = book.shape(one.spec)
            if isinstance(shape, str):
                return DeviceNeeds(problem=f"extended resources: {shape}")
            made.append(ExtendedNeed(one.resources, OwnClaim(-1, shape, "for extended resources")))
        if not made:
            return needs
        if book.made_for(pod.metadata.uid) and not pod.spec.node_name:
            return DeviceNeeds(problem="the claim of an earlier attempt for its extended resources is there")
        requested = effective_requests(pod)
        amounts = tuple((name, requested[name]) for name in made[-1].resources)
        return replace(needs, extended=tuple(made), extended_amounts=amounts)

    def _is_own(self, pod: Pod, record: DeviceClaimRecord) -> bool:
        """Whether the claim was made for the pod, or by a user and no other pod uses it."""
        uid = pod.metadata.uid
        return record.owner == uid or (not record.owner and self._book.is_only_user(record.key, uid))

    def _problem(self, pod: Pod, one: PodClaim, record: DeviceClaimRecord | None) -> str:
        name = one.key.name if one.key is not None else ""
        if record is None:
            return f'resourceclaim "{name}" not found'
        if record.claim.metadata.deletion_timestamp:
            return f'resourceclaim "{name}" is being deleted'
        made = one.entry.resource_claim_template_name
        if made and record.owner != pod.metadata.uid and not _is_of_group(record):
            return (
                f'resourceclaim "{name}" was not created for pod {pod.metadata.namespace}/{pod.metadata.name}'
            )
        if len(record.consumers) < MAX_CONSUMERS or record.pod_uids is None:
            return ""
        uids = dict.fromkeys(one.uid for one in record.consumers)
        if len(uids) >= MAX_CONSUMERS and pod.metadata.uid not in uids:
            return f'resourceclaim "{name}" is reserved for {MAX_CONSUMERS} pods, and cannot be for more'
        return ""


def _is_of_group(record: DeviceClaimRecord) -> bool:
    owners = record.claim.metadata.owner_references
    return any(owner.controller and owner.kind == "PodGroup" for owner in owners)
