"""Items added to lists of an object in protobuf, while every other byte of it stays as it is.

An API server compares opaque parameters of claims byte by byte. To read them as JSON and write them back
changes spaces and the order of keys, so a claim can only be updated in the form in which it is stored.
"""

from typing import Any

from posse.kinds.wire.messages import WireMessage
from posse.kinds.wire.reading import MAGIC, read_object
from posse.kinds.wire.values import bytes_field, content_of, parts_of, wire_fields
from posse.kinds.wire.writing import enveloped, message_of, write_message


def appended(body: bytes, patch: dict[str, Any]) -> bytes | None:
    """Return the object with the list items that the patch adds; None if it changes anything else."""
    obj = read_object(body)
    items = _missing_items(obj, patch)
    message = message_of(obj["apiVersion"], obj["kind"])
    if items is None or message is None:
        return None
    content = content_of(parts_of(body, len(MAGIC)).get(2, b""))
    return enveloped(obj["apiVersion"], obj["kind"], _with_items(message, content, items))


def _with_items(message: WireMessage, content: bytes, items: dict[str, Any]) -> bytes:
    """Items of a list may stand anywhere in its message, so they come last."""
    for field in message.fields:
        if field.name in items and not field.holds and field.message is not None:
            begin, end = _place_of(field.number, content)
            before = content[begin:end]
            after = _with_items(field.message, before, items[field.name])
            # The number and the length of a field stand before its content.
            start = end - len(bytes_field(field.number, before)) if begin <= end else end
            content = content[:start] + bytes_field(field.number, after) + content[end:]
    lists = {name: value for name, value in items.items() if isinstance(value, list)}
    return content + write_message(message, lists)


def _place_of(number: int, content: bytes) -> tuple[int, int]:
    """Where the content of the field begins and ends; behind everything if it is not there."""
    places = (value for found, value in wire_fields(content, 0, len(content)) if found == number)
    return next(places, (len(content) + 1, len(content)))


def _missing_items(obj: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any] | None:
    missing: dict[str, Any] = {}
    for name, wanted in patch.items():
        found = obj.get(name)
        if isinstance(wanted, dict) and isinstance(found, dict | None):
            inner = _missing_items(found or {}, wanted)
            if inner is None:
                return None
            if inner:
                missing[name] = inner
        elif isinstance(wanted, list):
            items = [item for item in wanted if item not in (found or ())]
            if any(isinstance(item, dict) and "$patch" in item for item in items):
                return None
            if items:
                missing[name] = items
        elif wanted != found:
            return None
    return missing
