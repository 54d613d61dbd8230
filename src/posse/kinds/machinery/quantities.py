"""Rules for amounts of resources: what containers ask for and are limited to, what nodes offer, what volumes
hold.
"""

from collections.abc import Mapping

from posse.kinds.machinery.errors import FieldError
from posse.model.container import ResourceRequirements
from posse.model.formats import HUGE_PAGES_PREFIX, is_extended
from posse.model.meta import Quantity
from posse.model.quantity import INT64_MAX, QuantityError, canonical, milli_value, value


def amounts_errors(field: str, amounts: Mapping[str, Quantity]) -> list[FieldError]:
    """Valid quantities, none negative; extended resources come in whole numbers."""
    errors = []
    for name, amount in amounts.items():
        try:
            thousandths = milli_value(amount)
        except QuantityError as error:
            errors.append(FieldError.invalid(f"{field}[{name}]", amount, str(error)))
            continue
        if thousandths < 0:
            text = "must be greater than or equal to 0"
            errors.append(FieldError.invalid(f"{field}[{name}]", canonical(amount), text))
        # What is too much to be counted in thousandths was cut, and says nothing about fractions.
        if thousandths % 1000 and thousandths < INT64_MAX and is_extended(name):
            errors.append(FieldError.invalid(f"{field}[{name}]", amount, "must be an integer"))
    return errors


def limit_errors(field: str, resources: ResourceRequirements) -> list[FieldError]:
    """Requests of a container are within its limits. What is no valid amount is told by itself."""
    errors = []
    for name, request in resources.requests.items():
        limit = resources.limits.get(name)
        exact = is_extended(name) or name.startswith(HUGE_PAGES_PREFIX)
        if limit is None:
            if exact:
                text = "Limit must be set for non overcommitable resources"
                errors.append(FieldError.required(f"{field}.limits", text))
            continue
        try:
            asked, most = _size(request), _size(limit)
        except QuantityError:
            continue
        if is_extended(name) and (asked[0] % 1000 or most[0] % 1000):
            continue
        if asked > most or (exact and asked != most):
            relation = "equal to" if exact else "less than or equal to"
            text = f"must be {relation} {name} limit of {canonical(limit)}"
            errors.append(FieldError.invalid(f"{field}.requests", canonical(request), text))
    return errors


def _size(amount: Quantity) -> tuple[int, int]:
    """For comparison: thousandths alone saturate long before whole units do."""
    thousandths = milli_value(amount)
    return thousandths, value(amount) if abs(thousandths) >= INT64_MAX else 0
