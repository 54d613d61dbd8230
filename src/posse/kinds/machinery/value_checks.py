"""How one constraint judges a plain value (see posse.model.constraints)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import Any

from posse.kinds.machinery.checks import formatted, share_errors
from posse.kinds.machinery.errors import FieldError
from posse.model.constraints import (
    ONLY_TRUE,
    QUANTITY,
    SHARE,
    Between,
    Constraint,
    MaxBytes,
    Maximum,
    Minimum,
    OneOf,
    Parts,
    QualifiedName,
    RawObject,
)
from posse.model.device_formats import (
    DRIVER_BYTES_MAX,
    IDENTIFIER_BYTES_MAX,
    c_identifier,
    driver_name,
)
from posse.model.formats import MAX_REMEMBERED, Format
from posse.model.meta import IntOrString, Quantity
from posse.model.quantity import QuantityError, parse_quantity

ValueCheck = Callable[[str, Any, Any, Any], list[FieldError]]
"""Takes the path and the value; what was there before and rules by hand are not looked at."""


def value_check(constraint: Constraint) -> ValueCheck | None:
    """Return what judges a plain value by the constraint; None if it is not about plain values."""
    check: ValueCheck | None
    match constraint:
        case Format():
            check = _formatting(constraint)
        case OneOf(values, unlisted, text):
            check = _choosing((*values, *unlisted), values, text)
        case Minimum() | Maximum() | Between():
            check = _ranging(*_range_of(constraint))
        case MaxBytes(most):
            check = _bounding(most)
        case Parts(form):
            check = _parting(form)
        case QualifiedName(needs_domain):
            check = _qualifying(needs_domain=needs_domain)
        case RawObject(most):
            check = _enclosing(most)
        case _:
            check = _MARKS.get(constraint)
    return check


def _formatting(form: Format) -> ValueCheck:
    def check(path: str, text: str, _old: Any, _rules: Any) -> list[FieldError]:
        problems = form.problems(text)
        return [FieldError.invalid(path, text, problem) for problem in problems] if problems else []

    return check


def _choosing(accepted: Sequence[str], named: Sequence[str], text: str) -> ValueCheck:
    def check(path: str, value: str, _old: Any, _rules: Any) -> list[FieldError]:
        if value in accepted:
            return []
        return [
            FieldError.invalid(path, value, text) if text else FieldError.not_supported(path, value, named)
        ]

    return check


def _range_of(constraint: Minimum | Maximum | Between) -> tuple[float, float, str]:
    match constraint:
        case Minimum(least, text):
            return least, inf, text or f"must be greater than or equal to {least}"
        case Maximum(most):
            return -inf, most, f"must be less than or equal to {most}"
        case Between(least, most, text):
            return least, most, text or f"must be between {least} and {most}, inclusive"


def _ranging(least: float, most: float, text: str) -> ValueCheck:
    def check(path: str, value: int, _old: Any, _rules: Any) -> list[FieldError]:
        return [] if least <= value <= most else [FieldError.invalid(path, value, text)]

    return check


def _bounding(most: int) -> ValueCheck:
    def check(path: str, text: str, _old: Any, _rules: Any) -> list[FieldError]:
        size = len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
        return [FieldError.too_long(path, most)] if size > most else []

    return check


def _parting(form: Format) -> ValueCheck:
    def check(path: str, text: str, _old: Any, _rules: Any) -> list[FieldError]:
        return [error for part in text.split("/") for error in formatted(path, part, form)]

    return check


def _qualifying(*, needs_domain: bool) -> ValueCheck:
    def check(path: str, name: str, _old: Any, _rules: Any) -> list[FieldError]:
        problems = _qualification_problems(name)
        if needs_domain and "/" not in name:
            text = "a fully qualified name must be a domain and a name separated by a slash"
            problems = (*problems, FieldError.invalid("", name, text))
        return [replace(problem, field=path) for problem in problems] if problems else []

    return check


@lru_cache(MAX_REMEMBERED)
def _qualification_problems(name: str) -> tuple[FieldError, ...]:
    """The errors lack the path. The devices of a cluster have few attributes."""
    domain, slash, identifier = name.partition("/")
    if not slash:
        return (*_name_problems(name, IDENTIFIER_BYTES_MAX, c_identifier),)
    errors = _name_problems(domain, DRIVER_BYTES_MAX, driver_name) if domain else [_empty("domain")]
    if not identifier:
        return (*errors, _empty("name"))
    return (*errors, *_name_problems(identifier, IDENTIFIER_BYTES_MAX, c_identifier))


def _name_problems(text: str, most: int, form: Format) -> list[FieldError]:
    return _bounding(most)("", text, None, None) + formatted("", text, form)


def _empty(part: str) -> FieldError:
    return FieldError.invalid("", "", f"the {part} must not be empty")


def _enclosing(most: int) -> ValueCheck:
    def check(path: str, raw: Any, _old: Any, _rules: Any) -> list[FieldError]:
        if len(json.dumps(raw, separators=(",", ":"), ensure_ascii=False).encode()) > most:
            return [FieldError.too_long(path, most)]
        if not isinstance(raw, dict):
            return [FieldError.invalid(path, "<value omitted>", "must be a valid JSON object")]
        return []

    return check


def _sharing(path: str, share: IntOrString, _old: Any, _rules: Any) -> list[FieldError]:
    return share_errors(path, share)


def _measuring(path: str, amount: Quantity, _old: Any, _rules: Any) -> list[FieldError]:
    try:
        parse_quantity(amount)
    except QuantityError as error:
        return [FieldError.invalid(path, amount, str(error))]
    return []


def _affirming(path: str, value: bool, _old: Any, _rules: Any) -> list[FieldError]:
    return [] if value else [FieldError.invalid(path, value, "must be either unset or set to true")]


_MARKS: dict[Constraint, ValueCheck] = {SHARE: _sharing, QUANTITY: _measuring, ONLY_TRUE: _affirming}
