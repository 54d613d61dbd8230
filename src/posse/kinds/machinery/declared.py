"""Validation that follows from the constraints on the fields of a struct (see posse.model.constraints).

With `old`, only what changed is looked at. Fields are judged in the order in which the struct has them.
What relates the fields of a struct to each other is a rule by hand, called wherever the struct occurs, after
its fields or around them (`Whole`); those of selectors are always among them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

import msgspec

from posse.kinds.machinery.checks import Check, duplicates, immutable, union
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.label_selectors import SELECTOR_RULES
from posse.kinds.machinery.quantities import amounts_errors
from posse.kinds.machinery.value_checks import ValueCheck, value_check
from posse.model.constraints import (
    AMOUNTS,
    BLAMES_HOLDER,
    FIXED_CHOICE,
    FIXED_KEYS,
    OPAQUE,
    SET_AT_CREATION,
    UNION_MEMBER,
    UNIQUE,
    HasKey,
    Immutable,
    KeyedBy,
    Keys,
    MaxDepth,
    MaxItems,
    NotEmpty,
    Required,
    UnionMember,
)
from posse.model.meta import Shape
from posse.model.structure import FieldShape, fields_of, reachable


@dataclass(frozen=True, slots=True)
class Whole:
    """A rule that stands for all of the struct, since what relates its fields comes between them.

    It takes the path, the struct and the rules, and has `fields_errors` judge the fields that it names. It
    looks at all of a struct that has changed.
    """

    check: Callable[[str, Any, "Rules"], list[FieldError]]


Rules = Mapping[type[Shape], Check | Whole]
"""By struct, which has constraints or holds something that has."""

_Judge = Callable[[str, Any, Any, Rules], list[FieldError]]
"""Takes the path, what is there, what was there before (None if nothing was) and the rules by hand."""


_Guard = Callable[[str, Any, Any], list[FieldError]]
"""Takes the path, what is there and what was there before, which differ."""

_Values = Callable[[Shape], Sequence[Any]]

# Plain tuples, since going through these is most of the work.
# What follows the path of the struct in the path of a field, and what judges the field if it has a value, if
# it is None, and if it is another empty value; None where that is fine.
_Field = tuple[str, _Judge, _Judge | None, _Judge | None]
# How structs are judged: what judges a union, values of the fields that are judged, these fields, and what
# guards them from changes.
_Plan = tuple[_Guard | None, _Values, tuple[_Field, ...], tuple[_Guard | None, ...]]


def declared_errors(
    path: str, new: Shape | None, old: Shape | None = None, rules: Rules = SELECTOR_RULES
) -> list[FieldError]:
    if new is None or (old is not None and new == old):
        return []
    rule = rules.get(type(new))
    if rule is not None and isinstance(rule, Whole):
        return rule.check(path, new, rules)
    judge_choice, values, fields, guards = _plan(type(new))
    errors = judge_choice(path, new, old) if judge_choice is not None else []
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
    if rule is not None:
        errors += rule(path, new)
    return errors


def fields_errors(path: str, new: Shape, rules: Rules, *names: str) -> list[FieldError]:
    """Judge only these fields (JSON names) of a new struct, in this order."""
    values, fields = _part(type(new), names)
    errors: list[FieldError] = []
    for (suffix, judge, if_none, if_empty), value in zip(fields, values(new)):  # noqa: B905
        chosen = judge if value else if_none if value is None else if_empty
        if chosen is not None:
            errors += chosen(path + suffix if path else suffix[1:], value, None, rules)
    return errors


def fixed_errors(path: str, new: Shape, old: Shape) -> list[FieldError]:
    """Judge only changes of what is immutable, whatever it has become."""
    _, values, fields, guards = _plan(type(new))
    errors: list[FieldError] = []
    for (suffix, *_), guard, value, past in zip(fields, guards, values(new), values(old)):  # noqa: B905
        place = path + suffix if path else suffix[1:]
        if guard is not None:
            errors += guard(place, value, past) if value != past else []
        elif isinstance(value, Shape) and isinstance(past, Shape):
            errors += fixed_errors(place, value, past)
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
    members = {name: shape for name, shape in shapes.items() if shape.constraint(UnionMember)}
    judged = {name: shape for name, shape in shapes.items() if _is_constrained(shape)}
    fields = tuple(_field(name, shape) for name, shape in judged.items())
    guards = tuple(map(_guard, judged.values()))
    judge_choice = _union_judge(members) if members else None
    return judge_choice, _getter(judged.values()), fields, guards


def _union_judge(members: Mapping[str, FieldShape]) -> _Guard:
    values = _getter(members.values())
    names = tuple(shape.attribute for shape in members.values())
    choice = next(shape.constraint(UnionMember) for shape in members.values()) or UNION_MEMBER

    def judge(path: str, new: Shape, old: Shape | None) -> list[FieldError]:
        given = values(new)
        is_one = len(given) - given.count(None) - given.count(()) == 1
        return [] if is_one else union(path, new, old, names, choice)

    return judge


@cache
def _part(struct: type[Shape], names: tuple[str, ...]) -> tuple[_Values, tuple[_Field, ...]]:
    shapes = {name: fields_of(struct)[name] for name in names}
    return _getter(shapes.values()), tuple(_field(name, shape) for name, shape in shapes.items())


def _getter(shapes: Iterable[FieldShape]) -> _Values:
    attributes = [shape.attribute for shape in shapes]
    if not attributes:
        return lambda _obj: ()
    get = attrgetter(*attributes)
    return get if len(attributes) > 1 else lambda obj: (get(obj),)


def _field(name: str, shape: FieldShape) -> _Field:
    required, judge = shape.constraint(Required), _judge(name, shape)
    if_none = _missing(required) if required is not None else None
    if_empty = judge if shape.judges_empty else None
    if filled := shape.constraint(NotEmpty):
        if_empty = _missing(Required(filled.text, is_invalid=bool(filled.text)))
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
    checks = [check for each in shape.constraints if (check := value_check(each)) is not None]
    if OPAQUE in shape.constraints:
        return lambda _path, _new, _old, _rules: []
    if shape.holds == "map":
        return _map_judge(shape, checks)
    judge = declared_errors if shape.struct is not None else _plain_judge(checks)
    return _list_judge(name, shape, judge) if shape.holds == "list" else judge


def _plain_judge(checks: Sequence[ValueCheck]) -> _Judge:
    if len(checks) == 1:
        return checks[0]

    def judge(path: str, new: Any, old: Any, rules: Rules) -> list[FieldError]:
        errors: list[FieldError] = []
        for check in checks:
            errors += check(path, new, old, rules)
        return errors

    return judge


def _is_constrained(shape: FieldShape) -> bool:
    constraints = shape.constraints
    if shape.struct is None:
        # The choice itself is judged with the struct.
        constraints = tuple(each for each in constraints if not isinstance(each, UnionMember))
    if constraints:
        return constraints != (OPAQUE,)
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


def _map_judge(shape: FieldShape, checks: Sequence[ValueCheck]) -> _Judge:
    blames_map, are_amounts = BLAMES_HOLDER in shape.constraints, AMOUNTS in shape.constraints
    keys, wanted, longest = shape.constraint(Keys), shape.constraint(HasKey), shape.constraint(MaxItems)
    check_key = value_check(keys.form) if keys is not None else None
    keys_blame_map = blames_map or (keys is not None and keys.blames_map)
    judge_value = declared_errors if shape.struct is not None else _plain_judge(checks) if checks else None

    def judge(path: str, new: Mapping[str, Any], old: Any, rules: Rules) -> list[FieldError]:
        if longest is not None and len(new) > longest.value:
            return [FieldError.too_many(path, len(new), longest.value)]
        errors: list[FieldError] = []
        if wanted is not None and wanted.key not in new:
            errors.append(FieldError.required(f"{path}[{wanted.key}]"))
        for key, value in new.items():
            if check_key is not None:
                errors += check_key(path if keys_blame_map else f"{path}[{key}]", key, None, rules)
            if judge_value is not None:
                past = old.get(key) if old else None
                errors += judge_value(path if blames_map else f"{path}[{key}]", value, past, rules)
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
    may_repeat = keyed is None and UNIQUE not in shape.constraints
    repeats_last = keyed is not None and (keyed.blames_key or keyed.is_last)

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
        if may_repeat or len(new) == 1:
            return errors
        repeated = _repetition_errors(path, new, [key_of(item) for item in new], keyed)
        return errors + repeated if repeats_last else repeated + errors

    return judge


def _key_getter(shape: FieldShape, keyed: KeyedBy | None) -> Callable[[Any], Any]:
    """What an item is found by in the list of before: its key, or else all of it, as text."""
    if UNIQUE in shape.constraints:
        return lambda item: item
    if keyed is None or shape.struct is None:
        return msgspec.json.encode
    return attrgetter(fields_of(shape.struct)[keyed.key].attribute)


def _repetition_errors(
    path: str, items: Sequence[Shape], keys: Sequence[Any], keyed: KeyedBy | None
) -> list[FieldError]:
    if keyed is None or not keyed.blames_key or not items:
        return duplicates(path, keys, keys if keyed is not None and keyed.shows_key else items)
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
