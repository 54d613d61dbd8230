"""Rules that relate the device claims of a pod to references of its containers, and to its status."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from posse.kinds.machinery.errors import CauseType, FieldError
from posse.model.container import ContainerResourceClaim
from posse.model.pod import PodResourceClaim, PodResourceClaimStatus


def claim_statuses_errors(
    field: str, statuses: Sequence[PodResourceClaimStatus], claims: Sequence[PodResourceClaim]
) -> list[FieldError]:
    names = {claim.name for claim in claims}
    text = "must match the name of an entry in `spec.resourceClaims`"
    return [
        FieldError.invalid(f"{field}[{index}].name", status.name, text)
        for index, status in enumerate(statuses)
        if status.name not in names
    ]


def claim_references_errors(
    field: str, references: Sequence[ContainerResourceClaim], names: Collection[str]
) -> list[FieldError]:
    errors = []
    taken: dict[str, set[str]] = defaultdict(set)
    known = f": {', '.join(sorted(names))}" if names else " which is empty"
    for index, reference in enumerate(references):
        path = f"{field}[{index}]"
        if not reference.name:
            continue
        requests = taken[reference.name]
        # Without a request, a reference is to all of the claim.
        if requests and ("" in requests or not reference.request or reference.request in requests):
            key = filter(None, (reference.name, reference.request))
            errors.append(FieldError.duplicate(path, "/".join(key)))
        requests.add(reference.request)
        if reference.name not in names:
            text = f"must be one of the names in pod.spec.resourceClaims{known}"
            errors.append(FieldError(path, CauseType.NOT_FOUND, reference.name, text))
    return errors
