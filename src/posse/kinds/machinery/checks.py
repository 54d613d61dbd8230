"""The small vocabulary in which the rules of all kinds are written: formats, enumerations, unions,
immutability.

Every function names the field it looks at and returns errors, [] when all is well. `old` is what the field
was before an update; a rule that judges new objects never sees it.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from posse.kinds.machinery.errors import FieldError
from posse.model.constraints import UnionMember
from posse.model.formats import Format, percent
from posse.model.meta import IntOrString, Shape

Check = Callable[[str, Any], list[FieldError]]


class HasName(Protocol):
    @property
    def name(self) -> str: ...


def formatted(field: str, text: str, form: Format) -> list[FieldError]:
    problems = form.problems(text)
    return [FieldError.invalid(field, text, problem) for problem in problems] if problems else []


def one_of(*supported: str) -> Check:
    """A check for an optional value out of a fixed set."""

    def check(field: str, text: str | None) -> list[FieldError]:
        if text is None or text in supported:
            return []
        return [FieldError.not_supported(field, text, supported)]

    return check


def not_negative(field: str, number: int | None) -> list[FieldError]:
    if number is None or number >= 0:
        return []
    return [FieldError.invalid(field, number, "must be greater than or equal to 0")]


def share_errors(field: str, share: IntOrString | None) -> list[FieldError]:
    """So many pods, or such a part of them."""
    if share is None or isinstance(share, int):
        return not_negative(field, share)
    if problems := percent(share):
        return [FieldError.invalid(field, share, problem) for problem in problems]
    if len(share) > 4 or int(share[:-1]) > 100:
        return [FieldError.invalid(field, share, "must not be greater than 100%")]
    return []


def union(
    field: str, shape: Shape, old: Shape | None, members: Collection[str], choice: UnionMember
) -> list[FieldError]:
    """One of the members (attribute names) is set. Looked at again only when membership changes."""
    chosen = _chosen(shape, members)
    if len(chosen) == 1 or (old is not None and chosen == _chosen(old, members)):
        return []
    if not chosen and choice.is_optional:
        return []
    if text := choice.several_text if chosen else choice.none_text:
        shown = shape if choice.shows_value else "" if choice.shows_empty_text else None
        return [FieldError.invalid(field, shown, text)]
    names = ", ".join(f"`{json_name(shape, member)}`" for member in members)
    if not chosen:
        return [FieldError.invalid(field, "", f"must specify one of: {names}")]
    several = ", ".join(json_name(shape, member) for member in chosen)
    return [FieldError.invalid(field, f"{{{several}}}", f"must specify exactly one of: {names}")]


def immutable(field: str, value: Any = None) -> FieldError:
    return FieldError.invalid(field, value, "field is immutable")


def duplicate_names(field: str, items: Sequence[HasName]) -> list[FieldError]:
    return duplicates(field, [item.name for item in items], items)


def duplicates(field: str, keys: Sequence[Any], shown: Sequence[Any], suffix: str = "") -> list[FieldError]:
    """Items of a list whose key occurred before; `suffix` follows the index in the path of the error."""
    seen: set[Any] = set()
    errors = []
    for index, key in enumerate(keys):
        if key in seen:
            errors.append(FieldError.duplicate(f"{field}[{index}]{suffix}", shown[index]))
        seen.add(key)
    return errors


def _chosen(shape: Shape, members: Collection[str]) -> list[str]:
    return [member for member in members if getattr(shape, member) not in (None, ())]


def json_name(shape: Shape | type[Shape], attribute: str) -> str:
    position = shape.__struct_fields__.index(attribute)
    return shape.__struct_encode_fields__[position]
