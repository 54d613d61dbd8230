"""Protobuf as Kubernetes clients send it, read into the JSON that Go would write for the same object.

Fields that no table knows are skipped, as kube-apiserver does: they belong to a newer release.
"""

from typing import Any

from posse.kinds.wire.messages import INLINED, WireField, WireMessage, find_message, meta_message
from posse.kinds.wire.values import READERS, ProtobufError, content_of, parts_of, signed, text_of, wire_fields
from posse.model.limits import MAX_VALUES

PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
NESTING_MAX = 100
MAX_FIELDS = 3 * MAX_VALUES
"""Of all messages together. Go also writes fields that are empty, which JSON leaves out."""
# Clients send these in the group and version of whatever the request is about.
OF_EVERY_GROUP = frozenset({"DeleteOptions", "Status"})


def read_object(body: bytes) -> dict[str, Any]:
    """Return the JSON form of an object in the envelope that Kubernetes puts around each."""
    if not body.startswith(MAGIC):
        raise ProtobufError("it does not start with the Kubernetes protobuf prefix")
    parts = parts_of(body, len(MAGIC))
    if parts.get(3) or parts.get(4):
        raise ProtobufError("its content is encoded once more")
    names = parts_of(content_of(parts.get(1, b"")))
    api_version, kind = (text_of(content_of(names.get(number, b""))) for number in (1, 2))
    message = meta_message(kind) if kind in OF_EVERY_GROUP else find_message(api_version, kind)
    if message is None:
        raise ProtobufError(f"{kind} of {api_version} has no protobuf form")
    content = content_of(parts.get(2, b""))
    return {"apiVersion": api_version, "kind": kind} | read_message(message, content, 0, len(content))


def read_message(message: WireMessage, data: bytes, start: int, end: int) -> dict[str, Any]:
    return _Reader(data).message(message, start, end)


class _Reader:
    """Reads the messages in a text of bytes, within bounds."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._fields_left = MAX_FIELDS

    def message(self, message: WireMessage, start: int, end: int, depth: int = 0) -> dict[str, Any]:
        if depth > NESTING_MAX:
            raise ProtobufError(f"it is nested more than {NESTING_MAX} levels deep")
        obj: dict[str, Any] = {}
        fields, count = message.by_number, 0
        for count, (number, value) in enumerate(wire_fields(self._data, start, end), 1):
            if count > self._fields_left:
                raise ProtobufError(f"it has more than {MAX_FIELDS} fields")
            field = fields.get(number)
            if field is None:
                continue
            holds = field.holds
            if not holds:
                content = self._value(field, value, depth)
                if field.name == INLINED:
                    obj |= content
                elif content or field.keeps_zero or field.type == "IntOrString" or isinstance(content, dict):
                    obj[field.name] = content
            elif holds == "[]":
                obj.setdefault(field.name, []).append(self._value(field, value, depth))
            else:
                key, content = self._entry(field, value, depth)
                obj.setdefault(field.name, {})[key] = content
        self._fields_left -= count
        return obj

    def _value(self, field: WireField, value: Any, depth: int) -> Any:
        kind = field.type
        if kind == "int":
            return signed(value)
        if kind == "bool":
            return bool(signed(value))
        if isinstance(value, int):
            raise ProtobufError("a number stands where a text or message should")
        message = field.message
        if message is None:
            return READERS[kind](self._data[value[0] : value[1]])
        content = self.message(message, value[0], value[1], depth + 1)
        return content.get("items", []) if message.is_list else content

    def _entry(self, field: WireField, value: Any, depth: int) -> tuple[str, Any]:
        if isinstance(value, int):
            raise ProtobufError("a number stands where a text or message should")
        parts = dict(wire_fields(self._data, *value))
        key = parts.get(1, (0, 0))
        if isinstance(key, int):
            raise ProtobufError("the key of a map in it is not a text")
        absent = 0 if field.type in {"int", "bool"} else (0, 0)
        return text_of(self._data[key[0] : key[1]]), self._value(field, parts.get(2, absent), depth)
