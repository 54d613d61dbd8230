"""Rules for amounts of resources: what containers ask for and are limited to, what nodes offer, what volumes
hold.
"""

from collections.abc import Mapping

from posse.kinds.machinery.checks import formatted
from posse.kinds.machinery.errors import FieldError
from posse.model.container import ResourceRequirements
from posse.model.formats import label_key
from posse.model.meta import Quantity
from posse.model.quantity import INT64_MAX, QuantityError, canonical, milli_value, value

CONTAINER_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
HUGE_PAGES_PREFIX = "hugepages-"
NATIVE_DOMAIN = "kubernetes.io/"


def amounts_errors(field: str, amounts: Mapping[str, Quantity]) -> list[FieldError]:
    """Valid quantities, none negative; extended resources come in whole numbers."""
    errors = []
    for name, amount in amounts.items():
        path = f"{field}[{name}]"
        try:
            thousandths = milli_value(amount)
        except QuantityError as error:
            errors.append(FieldError.invalid(path, amount, str(error)))
            continue
        if thousandths < 0:
            text = "must be greater than or equal to 0"
            errors.append(FieldError.invalid(path, canonical(amount), text))
        # What is too much to be counted in thousandths was cut, and says nothing about fractions.
        if is_extended(name) and thousandths < INT64_MAX and thousandths % 1000:
            errors.append(FieldError.invalid(path, amount, "must be an integer"))
    return errors


def requirements_errors(field: str, resources: ResourceRequirements) -> list[FieldError]:
    """Requests and limits of a container: each valid, requests within limits."""
    errors = []
    for part, amounts in (("limits", resources.limits), ("requests", resources.requests)):
        for name in amounts:
            errors += _name_errors(f"{field}.{part}[{name}]", name)
        errors += amounts_errors(f"{field}.{part}", amounts)
    return errors or _limit_errors(field, resources)


def is_extended(name: str) -> bool:
    """A resource that Kubernetes does not know, named by a domain."""
    return "/" in name and NATIVE_DOMAIN not in name


def _name_errors(path: str, name: str) -> list[FieldError]:
    errors = formatted(path, name, label_key)
    if "/" not in name and name not in CONTAINER_RESOURCES and not name.startswith(HUGE_PAGES_PREFIX):
        errors.append(FieldError.invalid(path, name, "must be a standard resource for containers"))
    return errors


def _limit_errors(field: str, resources: ResourceRequirements) -> list[FieldError]:
    errors = []
    for name, request in resources.requests.items():
        limit = resources.limits.get(name)
        exact = is_extended(name) or name.startswith(HUGE_PAGES_PREFIX)
        if limit is None:
            if exact:
                text = "Limit must be set for non overcommitable resources"
                errors.append(FieldError.required(f"{field}.limits", text))
            continue
        relation = "equal to" if exact else "less than or equal to"
        if (exact and _size(request) != _size(limit)) or _size(request) > _size(limit):
            text = f"must be {relation} {name} limit of {canonical(limit)}"
            errors.append(FieldError.invalid(f"{field}.requests", canonical(request), text))
    return errors


def _size(amount: Quantity) -> tuple[int, int]:
    """For comparison: thousandths alone would saturate long before whole units do."""
    return value(amount), milli_value(amount)
