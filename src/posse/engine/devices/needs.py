"""What a pod needs of devices: its claims, as far as they exist, or why it has to wait for them.

A claim that was made for one pod, and has no devices yet, counts by what it asks for. So pods with claims of
their own are of one class, however many claims there are. All other claims count by their name.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from posse.engine.devices.claims import ClaimBook, DeviceClaimRecord
from posse.engine.devices.requests import ClaimShape
from posse.engine.keys import ClaimKey
from posse.model.pod import Pod, PodResourceClaim


@dataclass(frozen=True, slots=True)
class OwnClaim:
    """A claim that no other pod uses, without devices so far."""

    entry: str
    shape: ClaimShape


@dataclass(frozen=True, slots=True)
class NamedClaim:
    """A claim that others may use too, or that has devices."""

    key: ClaimKey
    uid: str


@dataclass(frozen=True, slots=True)
class DeviceNeeds:
    claims: tuple[OwnClaim | NamedClaim, ...] = ()
    """In the order of the pod's entries, each once."""
    problem: str = ""
    """Why the pod cannot be placed anywhere; empty if there is no such reason."""
    is_error: bool = False
    """Whether the problem is a fault of the claim or of a class, rather than something to wait for."""
    spans_nodes: bool = False
    """Whether devices or claims are concerned that several nodes can reach."""


@dataclass(frozen=True, slots=True)
class PodClaim:
    """One entry of a pod, and the claim that stands for it."""

    entry: PodResourceClaim
    key: ClaimKey | None
    """None while the claim has not been made."""


def pod_claims(pod: Pod) -> Iterator[PodClaim]:
    """The claims of a pod, without entries that turned out to need none."""
    made = {one.name: one.resource_claim_name for one in pod.status.resource_claim_statuses}
    for entry in pod.spec.resource_claims:
        if entry.resource_claim_name:
            yield PodClaim(entry, ClaimKey(pod.metadata.namespace, entry.resource_claim_name))
        elif entry.name not in made:
            yield PodClaim(entry, None)
        else:
            name = made[entry.name]
            if name:
                yield PodClaim(entry, ClaimKey(pod.metadata.namespace, name))


def claim_keys(pod: Pod) -> list[ClaimKey]:
    """The claims that exist for the pod, each once, in the order of its entries."""
    return list(dict.fromkeys(one.key for one in pod_claims(pod) if one.key is not None))


class NeedsReader:
    def __init__(self, book: ClaimBook) -> None:
        self._book = book

    def read(self, pod: Pod, *, spans_nodes: bool) -> DeviceNeeds:
        """The needs of a pod that names claims. `spans_nodes`: devices are there that several nodes reach."""
        claims: dict[ClaimKey, OwnClaim | NamedClaim] = {}
        for one in pod_claims(pod):
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
            if record.owner == pod.metadata.uid and record.allocation is None:
                claims[one.key] = OwnClaim(one.entry.name, shape)
            else:
                claims[one.key] = NamedClaim(one.key, record.uid)
        listed = tuple(claims.values())
        is_named = any(isinstance(claim, NamedClaim) for claim in listed)
        return DeviceNeeds(listed, spans_nodes=spans_nodes or is_named)

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
        return ""


def _is_of_group(record: DeviceClaimRecord) -> bool:
    owners = record.claim.metadata.owner_references
    return any(owner.controller and owner.kind == "PodGroup" for owner in owners)
