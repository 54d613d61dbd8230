"""What the fields of a struct hold, by JSON name: a nested struct, a list or map of them, or a plain value.

Read once per struct from its annotations. Decoding, patching, validation and schemas all walk objects by
this table.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec

from posse.model.constraints import FIXED_KEYS, PRESENT, Constraint, HasKey, Minimum, OneOf, Required
from posse.model.meta import Shape

C = TypeVar("C")

Holds = Literal["one", "list", "map"]


class FieldShape(NamedTuple):
    holds: Holds
    # The struct of the value, of the list's items or of the map's values; None when these are plain or
    # opaque.
    struct: type[Shape] | None
    # The field by which a strategic merge patch pairs the items of a list of objects.
    merge_key: str
    # "", "merge", "replace" or "merge,retainKeys", as Kubernetes marks its fields.
    patch_strategy: str
    attribute: str = ""
    may_be_none: bool = True
    constraints: tuple[Constraint, ...] = ()

    def constraint(self, kind: type[C]) -> C | None:
        return next((each for each in self.constraints if isinstance(each, kind)), None)

    @property
    def judges_empty(self) -> bool:
        """Whether constraints are about an empty text, 0 or an empty list, too; else these mean absent."""
        always = (PRESENT, FIXED_KEYS)
        if self.may_be_none or any(
            isinstance(each, Required | HasKey) or each in always for each in self.constraints
        ):
            return True
        least, choice = self.constraint(Minimum), self.constraint(OneOf)
        return self.holds == "one" and (
            (least is not None and least.value > 0)
            or (choice is not None and "" not in (*choice.values, *choice.unlisted))
        )


@cache
def fields_of(struct: type[Shape]) -> Mapping[str, FieldShape]:
    return {field.encode_name: _shape_of(field.name, field.type) for field in msgspec.structs.fields(struct)}


def _shape_of(attribute: str, annotation: Any) -> FieldShape:
    marks: dict[str, Any] = {}
    metadata = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    for meta in metadata:
        marks |= (meta.extra_json_schema or {}) if isinstance(meta, msgspec.Meta) else {}
    holds, item = _container(_bare(annotation))
    inner = _bare(item)
    is_struct = isinstance(inner, type) and issubclass(inner, Shape)
    return FieldShape(
        attribute=attribute,
        holds=holds,
        struct=inner if is_struct else None,
        merge_key=marks.get("x-kubernetes-patch-merge-key", ""),
        patch_strategy=marks.get("x-kubernetes-patch-strategy", ""),
        may_be_none=_may_be_none(annotation),
        constraints=tuple(each for each in metadata if isinstance(each, Constraint)),
    )


def reachable(structs: Iterable[type[Shape]]) -> list[type[Shape]]:
    """The structs and all they are made of, each once."""
    found = dict.fromkeys(structs)
    waiting = list(found)
    while waiting:
        for shape in fields_of(waiting.pop()).values():
            if shape.struct is not None and shape.struct not in found:
                found[shape.struct] = None
                waiting.append(shape.struct)
    return list(found)


def _may_be_none(annotation: Any) -> bool:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return NoneType in get_args(annotation)


def _bare(annotation: Any) -> Any:
    """Without Annotated and without the None of an optional."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in {Union, UnionType}:
        present = [arm for arm in get_args(annotation) if arm is not NoneType]
        return _bare(present[0]) if len(present) == 1 else annotation
    return annotation


def _container(annotation: Any) -> tuple[Holds, Any]:
    origin = get_origin(annotation)
    if origin is tuple:
        return "list", get_args(annotation)[0]
    if origin is dict:
        return "map", get_args(annotation)[1]
    return "one", annotation
