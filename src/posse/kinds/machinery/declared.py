"""Validation that follows from the constraints on the fields of a struct (see posse.model.constraints).

With `old`, only what changed is looked at. Fields are judged in the order in which the struct has them.
What relates the fields of a struct to each other is a rule by hand, called wherever the struct occurs; those
of selectors are always among them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import inf
from operator import attrgetter
from typing import Any

import msgspec

from posse.kinds.machinery.checks import Check, duplicates, immutable, share_errors, union
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.label_selectors import SELECTOR_RULES
from posse.kinds.machinery.quantities import amounts_errors
from posse.model.constraints import (
    AMOUNTS,
    BLAMES_HOLDER,
    FIXED_CHOICE,
    FIXED_KEYS,
    OPAQUE,
    SET_AT_CREATION,
    SHARE,
    Between,
    Constraint,
    HasKey,
    Immutable,
    KeyedBy,
    Keys,
    MaxBytes,
    MaxDepth,
    Maximum,
    MaxItems,
    Minimum,
    OneOf,
    Required,
    UnionMember,
)
from posse.model.formats import Format
from posse.model.meta import IntOrString, Shape
from posse.model.structure import FieldShape, fields_of, reachable

Rules = Mapping[type[Shape], Check]
"""By struct, which has constraints or holds something that has."""

_Judge = Callable[[str, Any, Any, Rules], list[FieldError]]
"""Takes the path, what is there, what was there before (None if nothing was) and the rules by hand."""


_Guard = Callable[[str, Any, Any], list[FieldError]]
"""Takes the path, what is there and what was there before, which differ."""

# Plain tuples, since going through these is most of the work.
# What follows the path of the struct in the path of a field, and what judges the field if it has a value, if
# it is None, and if it is another empty value; None where that is fine.
_Field = tuple[str, _Judge, _Judge | None, _Judge | None]
# How structs are judged: attributes of which one may be set, what is said of them, values of the fields that
# are judged, these fields, and what guards them from changes.
_Plan = tuple[
    tuple[str, ...],
    UnionMember | None,
    Callable[[Shape], Sequence[Any]],
    tuple[_Field, ...],
    tuple[_Guard | None, ...],
]


def declared_errors(
    path: str, new: Shape | None, old: Shape | None = None, rules: Rules = SELECTOR_RULES
) -> list[FieldError]:
    if new is None or (old is not None and new == old):
        return []
    members, choice, values, fields, guards = _plan(type(new))
    errors = union(path, new, old, members, choice) if choice is not None else []
    # What is zipped has one for each field; making sure of it takes time.
    if old is None:
        for (suffix, judge, if_none, if_empty), value in zip(fields, values(new)):  # noqa: B905
            chosen = judge if value else if_none if value is None else if_empty
            if chosen is not None:
                errors += chosen(path + suffix if path else suffix[1:], value, None, rules)
    else:
        for field, guard, value, past in zip(fields, guards, values(new), values(old)):  # noqa: B905
            if value != past:
                errors += _changed_errors(path, field, guard, value, past, rules)
    if rule := rules.get(type(new)):
        errors += rule(path, new)
    return errors


def _changed_errors(
    path: str, field: _Field, guard: _Guard | None, new: Any, old: Any, rules: Rules
) -> list[FieldError]:
    suffix, judge, if_none, if_empty = field
    place = path + suffix if path else suffix[1:]
    chosen = judge if new else if_none if new is None else if_empty
    errors = guard(place, new, old) if guard is not None else []
    return errors if errors or chosen is None else chosen(place, new, old, rules)


@cache
def _plan(struct: type[Shape]) -> _Plan:
    shapes = fields_of(struct)
    members = {each.attribute: choice for each in shapes.values() if (choice := each.constraint(UnionMember))}
    judged = {name: shape for name, shape in shapes.items() if _is_constrained(shape)}
    fields = tuple(_field(name, shape) for name, shape in judged.items())
    choice = next(iter(members.values()), None)
    guards = tuple(map(_guard, judged.values()))
    return tuple(members), choice, _getter(judged.values()), fields, guards


def _getter(shapes: Iterable[FieldShape]) -> Callable[[Shape], Sequence[Any]]:
    attributes = [shape.attribute for shape in shapes]
    if len(attributes) > 1:
        return attrgetter(*attributes)
    return lambda obj: [getattr(obj, attribute) for attribute in attributes]


def _field(name: str, shape: FieldShape) -> _Field:
    required, judge = shape.constraint(Required), _judge(name, shape)
    if_none = _missing(required) if required is not None else None
    if_empty = judge if shape.judges_empty else None
    blames_struct = shape.holds == "one" and BLAMES_HOLDER in shape.constraints
    return (
        "" if blames_struct else f".{name}",
        judge,
        if_none,
        if_empty if if_none is None or shape.may_be_none else if_none,
    )


def _missing(required: Required) -> _Judge:
    if required.is_invalid:
        return lambda path, new, _old, _rules: [FieldError.invalid(path, new, required.detail)]
    return lambda path, _new, _old, _rules: [FieldError.required(path, required.detail)]


def _judge(name: str, shape: FieldShape) -> _Judge:
    checks = [check for each in shape.constraints if (check := _check(each)) is not None]
    if OPAQUE in shape.constraints:
        return lambda _path, _new, _old, _rules: []
    if shape.holds == "map":
        return _map_judge(shape, checks)
    judge = declared_errors if shape.struct is not None else _plain_judge(checks)
    return _list_judge(name, shape, judge) if shape.holds == "list" else judge


def _plain_judge(checks: Sequence[_Judge]) -> _Judge:
    if len(checks) == 1:
        return checks[0]

    def judge(path: str, new: Any, old: Any, rules: Rules) -> list[FieldError]:
        errors: list[FieldError] = []
        for check in checks:
            errors += check(path, new, old, rules)
        return errors

    return judge


def _is_constrained(shape: FieldShape) -> bool:
    if shape.constraints:
        return shape.constraints != (OPAQUE,)
    structs = reachable([shape.struct]) if shape.struct else []
    return any(each.constraints for struct in structs for each in fields_of(struct).values())


def _guard(shape: FieldShape) -> _Guard | None:
    """Return what judges the change itself; None if the field may change in any way."""
    kept = shape.constraint(Immutable)
    if kept is not None and kept.text:
        return lambda field, _new, _old: [FieldError.forbidden(field, kept.text)]
    if kept is not None:
        return lambda field, new, _old: [immutable(field, new if kept.shows_value else None)]
    if FIXED_CHOICE in shape.constraints:
        return lambda field, new, old: [] if (new is None) == (old is None) else [immutable(field)]
    return _creation_errors if SET_AT_CREATION in shape.constraints else None


def _creation_errors(field: str, new: Any, old: Any) -> list[FieldError]:
    if (new is None) == (old is None):
        return []
    text = "field cannot be cleared once set" if new is None else "field cannot be set once created"
    return [FieldError.invalid(field, None, text)]


def _check(constraint: Constraint) -> _Judge | None:
    """Return what judges a plain value by the constraint; None if it is not about plain values."""
    check: _Judge | None = None
    match constraint:
        case Format():
            check = _formatting(constraint)
        case OneOf(values, unlisted, text):
            check = _choosing((*values, *unlisted), values, text)
        case Minimum(least, text):
            check = _ranging(least, inf, text or f"must be greater than or equal to {least}")
        case Maximum(most):
            check = _ranging(-inf, most, f"must be less than or equal to {most}")
        case Between(least, most, text):
            check = _ranging(least, most, text or f"must be between {least} and {most}, inclusive")
        case MaxBytes(most):
            check = _bounding(most)
        case _ if constraint is SHARE:
            check = _sharing
    return check


def _sharing(path: str, share: IntOrString, _old: Any, _rules: Rules) -> list[FieldError]:
    return share_errors(path, share)


def _formatting(form: Format) -> _Judge:
    def check(path: str, text: str, _old: Any, _rules: Rules) -> list[FieldError]:
        problems = form.problems(text)
        return [FieldError.invalid(path, text, problem) for problem in problems] if problems else []

    return check


def _choosing(accepted: Sequence[str], named: Sequence[str], text: str) -> _Judge:
    def check(path: str, value: str, _old: Any, _rules: Rules) -> list[FieldError]:
        if value in accepted:
            return []
        return [
            FieldError.invalid(path, value, text) if text else FieldError.not_supported(path, value, named)
        ]

    return check


def _ranging(least: float, most: float, text: str) -> _Judge:
    def check(path: str, value: int, _old: Any, _rules: Rules) -> list[FieldError]:
        return [] if least <= value <= most else [FieldError.invalid(path, value, text)]

    return check


def _bounding(most: int) -> _Judge:
    def check(path: str, text: str, _old: Any, _rules: Rules) -> list[FieldError]:
        return [FieldError.too_long(path, most)] if len(text.encode(errors="surrogatepass")) > most else []

    return check


def _map_judge(shape: FieldShape, checks: Sequence[_Judge]) -> _Judge:
    keys, blames_map = shape.constraint(Keys), BLAMES_HOLDER in shape.constraints
    key_problems = keys.form.problems if keys is not None else lambda _key: ()
    are_amounts, wanted = AMOUNTS in shape.constraints, shape.constraint(HasKey)

    def judge(path: str, new: Mapping[str, Any], old: Any, rules: Rules) -> list[FieldError]:
        errors: list[FieldError] = []
        if wanted is not None and wanted.key not in new:
            errors.append(FieldError.required(f"{path}[{wanted.key}]"))
        for key, value in new.items():
            if problems := key_problems(key):
                place = path if blames_map else f"{path}[{key}]"
                errors += [FieldError.invalid(place, key, problem) for problem in problems]
            for check in checks:
                errors += check(path if blames_map else f"{path}[{key}]", value, old, rules)
        return errors + amounts_errors(path, new) if are_amounts else errors

    return judge


def _list_judge(name: str, shape: FieldShape, judge_item: _Judge) -> _Judge:
    deepest, longest, keyed = (
        shape.constraint(MaxDepth),
        shape.constraint(MaxItems),
        shape.constraint(KeyedBy),
    )
    key_of = _key_getter(shape, keyed)
    has_fixed_keys, blames_list = FIXED_KEYS in shape.constraints, BLAMES_HOLDER in shape.constraints

    def judge(path: str, new: Sequence[Any], old: Sequence[Any] | None, rules: Rules) -> list[FieldError]:
        if deepest is not None and path.count(f".{name}[") >= deepest.value:
            return []
        errors: list[FieldError] = []
        if longest is not None and len(new) > longest.value:
            errors.append(FieldError.too_many(path, len(new), longest.value))
        before = {key_of(item): item for item in old} if old else None
        if has_fixed_keys and old is not None:
            errors += _membership_errors(path, [key_of(item) for item in new], before or {})
        if errors:
            return errors
        for index, item in enumerate(new):
            past = before.get(key_of(item)) if before else None
            errors += judge_item(path if blames_list else f"{path}[{index}]", item, past, rules)
        if keyed is None or len(new) == 1:
            return errors
        repeated = _repetition_errors(path, new, [key_of(item) for item in new], keyed)
        return errors + repeated if keyed.blames_key else repeated + errors

    return judge


def _key_getter(shape: FieldShape, keyed: KeyedBy | None) -> Callable[[Any], Any]:
    """What an item is found by in the list of before: its key, or else all of it, as text."""
    if keyed is None or shape.struct is None:
        return msgspec.json.encode
    return attrgetter(fields_of(shape.struct)[keyed.key].attribute)


def _repetition_errors(
    path: str, items: Sequence[Shape], keys: Sequence[Any], keyed: KeyedBy
) -> list[FieldError]:
    if not keyed.blames_key or not items:
        return duplicates(path, keys, items)
    blames_item = BLAMES_HOLDER in fields_of(type(items[0]))[keyed.key].constraints
    return [
        FieldError.invalid(error.field, error.bad_value, keyed.text) if keyed.text else error
        for error in duplicates(path, keys, keys, "" if blames_item else f".{keyed.key}")
        if error.bad_value
    ]


def _membership_errors(field: str, new: Sequence[str], old: Mapping[str, Any]) -> list[FieldError]:
    errors = [
        FieldError.forbidden(f"{field}[{index}]", "item may not be added")
        for index, key in enumerate(new)
        if key not in old
    ]
    if any(key not in new for key in old):
        errors.append(FieldError.forbidden(field, "item may not be removed"))
    return errors
