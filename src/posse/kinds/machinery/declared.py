"""Validation that follows from the constraints on the fields of a struct (see posse.model.constraints).

With `old`, only what changed is looked at. Fields are judged in the order in which the struct has them.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from posse.kinds.machinery.checks import duplicates, formatted, immutable, share_errors, union
from posse.kinds.machinery.errors import FieldError
from posse.model.constraints import (
    FIXED_CHOICE,
    FIXED_KEYS,
    OPAQUE,
    PRESENT,
    SET_AT_CREATION,
    UNION_MEMBER,
    Constraint,
    Immutable,
    KeyedBy,
    Mark,
    MaxBytes,
    MaxDepth,
    Maximum,
    MaxItems,
    Minimum,
    OneOf,
    Required,
)
from posse.model.formats import Format
from posse.model.meta import Shape
from posse.model.structure import FieldShape, fields_of, reachable


def declared_errors(path: str, new: Shape | None, old: Shape | None = None) -> list[FieldError]:
    if new is None or new == old:
        return []
    members, fields = _constrained_fields(type(new))
    errors = union(path, new, old, members) if members else []
    for name, shape in fields:
        field = f"{path}.{name}" if path else name
        value = getattr(new, shape.attribute)
        if old is None:
            errors += _value_errors(field, shape, value, None)
        elif value != (before := getattr(old, shape.attribute)):
            errors += _change_errors(field, shape, value, before) or _value_errors(
                field, shape, value, before
            )
    return errors


@cache
def _constrained_fields(struct: type[Shape]) -> tuple[list[str], list[tuple[str, FieldShape]]]:
    """Attributes that are members of a union, and the fields of which something is to be checked."""
    shapes = fields_of(struct).items()
    members = [shape.attribute for _, shape in shapes if UNION_MEMBER in shape.constraints]
    return members, [(name, shape) for name, shape in shapes if _is_constrained(shape)]


def _is_constrained(shape: FieldShape) -> bool:
    if shape.constraints:
        return shape.constraints != (OPAQUE,)
    structs = reachable([shape.struct]) if shape.struct else []
    return any(each.constraints for struct in structs for each in fields_of(struct).values())


def _change_errors(field: str, shape: FieldShape, new: Any, old: Any) -> list[FieldError]:
    if kept := shape.constraint(Immutable):
        return [immutable(field, new if kept.shows_value else None)]
    if (new is None) == (old is None):
        return []
    if FIXED_CHOICE in shape.constraints:
        return [immutable(field)]
    if SET_AT_CREATION in shape.constraints:
        text = "field cannot be cleared once set" if new is None else "field cannot be set once created"
        return [FieldError.invalid(field, None, text)]
    return []


def _value_errors(field: str, shape: FieldShape, new: Any, old: Any) -> list[FieldError]:
    required = shape.constraint(Required)
    if required is not None and (new is None or (not new and not shape.may_be_none)):
        return [FieldError.required(field, required.detail)]
    if new is None or OPAQUE in shape.constraints:
        return []
    if shape.holds == "list":
        return _list_errors(field, shape, new, old)
    if shape.holds == "map":
        return [
            error
            for key, value in new.items()
            for each in shape.constraints
            for error in _plain_errors(f"{field}[{key}]", value, each)
        ]
    if shape.struct is not None:
        return declared_errors(field, new, old)
    may_be_empty = new == "" and not shape.may_be_none and PRESENT not in shape.constraints
    return [
        error
        for each in shape.constraints
        if not (may_be_empty and isinstance(each, Format))
        for error in _plain_errors(field, new, each)
    ]


def _plain_errors(field: str, value: Any, constraint: Constraint) -> list[FieldError]:
    errors: list[FieldError] = []
    match constraint:
        case Format():
            errors = formatted(field, value, constraint)
        case Mark.SHARE:
            errors = share_errors(field, value)
        case OneOf(values, unlisted) if value not in (*values, *unlisted):
            errors = [FieldError.not_supported(field, value, values)]
        case Minimum(least, word) if value < least:
            errors = [FieldError.invalid(field, value, f"must be greater than or equal to {word or least}")]
        case Maximum(most) if value > most:
            errors = [FieldError.invalid(field, value, f"must be less than or equal to {most}")]
        case MaxBytes(most) if len(value.encode(errors="surrogatepass")) > most:
            errors = [FieldError.too_long(field, most)]
    return errors


def _list_errors(
    field: str, shape: FieldShape, new: Sequence[Any], old: Sequence[Any] | None
) -> list[FieldError]:
    deepest, longest = shape.constraint(MaxDepth), shape.constraint(MaxItems)
    name = field.rpartition(".")[2]
    if deepest is not None and field.count(f".{name}[") >= deepest.value:
        return []
    errors = []
    if longest is not None and len(new) > longest.value:
        errors.append(FieldError.too_many(field, len(new), longest.value))
    keyed = shape.constraint(KeyedBy)
    if keyed is None or shape.struct is None:
        return errors or _items_errors(field, shape, new, [None] * len(new))
    attribute = fields_of(shape.struct)[keyed.key].attribute
    before = {getattr(item, attribute): item for item in old or ()}
    keys = [getattr(item, attribute) for item in new]
    if old is not None and FIXED_KEYS in shape.constraints:
        errors += _membership_errors(field, keys, before)
    if errors:
        return errors
    errors = duplicates(field, keys, keys if keyed.blames_key else new, f".{keyed.key}" * keyed.blames_key)
    return errors + _items_errors(field, shape, new, [before.get(key) for key in keys])


def _items_errors(field: str, shape: FieldShape, new: Sequence[Any], old: Sequence[Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, item in enumerate(new):
        if shape.struct is not None:
            errors += declared_errors(f"{field}[{index}]", item, old[index])
        else:
            for each in shape.constraints:
                errors += _plain_errors(f"{field}[{index}]", item, each)
    return errors


def _membership_errors(field: str, new: Sequence[str], old: Mapping[str, Any]) -> list[FieldError]:
    errors = [
        FieldError.forbidden(f"{field}[{index}]", "item may not be added")
        for index, key in enumerate(new)
        if key not in old
    ]
    if any(key not in new for key in old):
        errors.append(FieldError.forbidden(field, "item may not be removed"))
    return errors
