"""Rules for the device claims of a pod: entries of the pod, references of its containers, and its status."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from posse.kinds.machinery.checks import duplicates, formatted
from posse.kinds.machinery.errors import CauseType, FieldError
from posse.model.container import Container, ContainerResourceClaim
from posse.model.formats import dns_label, dns_subdomain
from posse.model.pod import PodResourceClaim, PodResourceClaimStatus, PodSpec

_AT_MOST_ONE = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
_ONE = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"


def pod_claims_errors(spec: PodSpec) -> list[FieldError]:
    errors = []
    seen: set[str] = set()
    for index, claim in enumerate(spec.resource_claims):
        errors += _claim_errors(f"spec.resourceClaims[{index}]", claim, seen)
        seen.add(claim.name)
    for path, container in _containers(spec):
        errors += _reference_errors(f"{path}.resources.claims", container.resources.claims, seen)
    return errors


def claim_statuses_errors(
    field: str, statuses: Sequence[PodResourceClaimStatus], claims: Sequence[PodResourceClaim]
) -> list[FieldError]:
    names = {claim.name for claim in claims}
    errors = []
    for index, status in enumerate(statuses):
        if status.name not in names:
            text = "must match the name of an entry in `spec.resourceClaims`"
            errors.append(FieldError.invalid(f"{field}[{index}].name", status.name, text))
        if status.resource_claim_name is not None:
            path = f"{field}[{index}].resourceClaimName"
            errors += formatted(path, status.resource_claim_name, dns_subdomain)
    given = [status.name for status in statuses]
    return errors + duplicates(field, given, given, ".name")


def _claim_errors(path: str, claim: PodResourceClaim, seen: set[str]) -> list[FieldError]:
    if not claim.name:
        errors = [FieldError.required(f"{path}.name")]
    elif claim.name in seen:
        errors = [FieldError.duplicate(f"{path}.name", claim.name)]
    else:
        errors = formatted(f"{path}.name", claim.name, dns_label)
    sources = {
        "resourceClaimName": claim.resource_claim_name,
        "resourceClaimTemplateName": claim.resource_claim_template_name,
    }
    given = {field: name for field, name in sources.items() if name is not None}
    if len(given) != 1:
        errors.append(FieldError.invalid(path, claim, _AT_MOST_ONE if given else _ONE))
    for field, name in given.items():
        errors += formatted(f"{path}.{field}", name, dns_subdomain)
    return errors


def _containers(spec: PodSpec) -> Iterator[tuple[str, Container]]:
    for index, container in enumerate(spec.containers):
        yield f"spec.containers[{index}]", container
    for index, container in enumerate(spec.init_containers):
        yield f"spec.initContainers[{index}]", container


def _reference_errors(
    field: str, references: Sequence[ContainerResourceClaim], names: set[str]
) -> list[FieldError]:
    errors = []
    taken: dict[str, set[str]] = defaultdict(set)
    known = f": {', '.join(sorted(names))}" if names else " which is empty"
    for index, reference in enumerate(references):
        path = f"{field}[{index}]"
        if not reference.name:
            errors.append(FieldError.required(path))
            continue
        if reference.request:
            errors += formatted(f"{path}.request", reference.request, dns_label)
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
