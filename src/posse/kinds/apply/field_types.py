"""How the fields of a kind are owned: whole, member by member, or item by item of a list.

Kinds of Kubernetes are described by the tables of their messages, which know the keys of every list;
others by their structs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import msgspec

from posse.kinds.machinery.kind import Kind
from posse.kinds.wire.messages import INLINED, WireField, WireMessage, find_message, package_messages
from posse.model.meta import Shape
from posse.model.structure import FieldShape, fields_of

Form = Literal["whole", "object", "map", "items", "set"]

# Parts of other kinds that are described by Kubernetes.
_SHARED = {
    "JobTemplateSpec": "batch.v1",
    "LabelSelector": "meta.v1",
    "ObjectMeta": "meta.v1",
    "PodTemplateSpec": "core.v1",
}


@dataclass(frozen=True, eq=False)
class FieldType:
    """`keys` name the items of a list of form items; each has the value that an absent key stands for."""

    form: Form = "whole"
    source: WireMessage | type[Shape] | None = None
    keys: tuple[tuple[str, str], ...] = ()

    @cached_property
    def fields(self) -> Mapping[str, "FieldType"]:
        """Members of an object, by name."""
        if isinstance(self.source, WireMessage):
            return dict(_wire_members(self.source))
        if self.source is not None:
            return {name: _of_shape(shape) for name, shape in fields_of(self.source).items()}
        return {}

    @cached_property
    def item(self) -> "FieldType":
        """What a map or list holds."""
        return _object(self.source)

    def member(self, name: str) -> "FieldType":
        """The type of a member; what is not described is owned whole."""
        if self.form == "map":
            return self.item
        return self.fields.get(name, WHOLE)

    def element(self, item: Any) -> str:
        """By what an item of a list is told apart, as managedFields write it."""
        if self.form == "set":
            return "v:" + _text(item)
        if not isinstance(item, dict):
            return "k:{}"
        named = {name: item.get(name, default) for name, default in self.keys}
        return "k:" + _text({name: value for name, value in named.items() if value != ""})


WHOLE = FieldType()
_encode = msgspec.json.Encoder(order="sorted").encode


@lru_cache(maxsize=256)
def type_of(kind: Kind, version: str) -> FieldType:
    message = find_message(kind.api_version_of(version), kind.name)
    return _object(message or kind.struct_of(version))


def _text(value: Any) -> str:
    return _encode(value).decode()


def _object(source: WireMessage | type[Shape] | None) -> FieldType:
    if isinstance(source, WireMessage):
        return WHOLE if source.is_atomic or source.is_list else _described(source)
    if source is not None and source.__name__ in _SHARED:
        return _object(package_messages(_SHARED[source.__name__])[source.__name__])
    return WHOLE if source is None else _described(source)


@lru_cache(maxsize=4096)
def _described(source: WireMessage | type[Shape]) -> FieldType:
    return FieldType("object", source)


def _wire_members(message: WireMessage) -> list[tuple[str, FieldType]]:
    members: list[tuple[str, FieldType]] = []
    for field in message.fields:
        if field.name == INLINED and field.message is not None:
            members += _wire_members(field.message)
        else:
            members.append((field.name, _of_wire(field)))
    return members


def _of_wire(field: WireField) -> FieldType:
    if field.topology == "atomic":
        return WHOLE
    if field.holds == "{}":
        return FieldType("map", field.message)
    if field.holds == "[]":
        if field.topology == "set":
            return FieldType("set")
        _, _, keys = field.topology.partition("map:")
        return FieldType("items", field.message, tuple(map(_key, keys.split(",")))) if keys else WHOLE
    return _object(field.message)


def _key(text: str) -> tuple[str, str]:
    name, _, default = text.partition("=")
    return name, default


def _of_shape(shape: FieldShape) -> FieldType:
    if shape.holds == "map":
        return FieldType("map", shape.struct)
    if shape.holds == "list":
        if not shape.patch_strategy.startswith("merge"):
            return WHOLE
        return (
            FieldType("items", shape.struct, ((shape.merge_key, ""),))
            if shape.merge_key
            else FieldType("set")
        )
    return _object(shape.struct)
