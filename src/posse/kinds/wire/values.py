"""Single values between protobuf and JSON: numbers, texts, times, quantities, and JSON within protobuf."""

import binascii
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from posse.model.timestamps import (
    TimestampError,
    format_micro_timestamp,
    format_timestamp,
    parse_timestamp,
)

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED_LENGTHS = {FIXED64: 8, FIXED32: 4}
_MASK = 0xFFFF_FFFF_FFFF_FFFF


class ProtobufError(Exception):
    """The bytes are no message, or a value does not fit its field."""


def read_varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    result = 0
    for shift in range(0, 70, 7):
        if position >= end:
            raise ProtobufError("it ends within a number")
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & _MASK, position
    raise ProtobufError("a number in it is too long")


def write_varint(value: int) -> bytes:
    value &= _MASK
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def wire_fields(data: bytes, position: int, end: int) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each field: an integer, or begin and end of the bytes."""
    while position < end:
        tag = data[position]
        position += 1
        if tag >= 0x80:
            tag, position = read_varint(data, position - 1, end)
        wire_type = tag & 7
        if wire_type == BYTES:
            # Nearly all lengths fit into one byte, and most of the time goes into this loop.
            length = data[position] if position < end else 0x80
            position += 1
            if length >= 0x80:
                length, position = read_varint(data, position - 1, end)
            if position + length > end:
                raise ProtobufError(f"it ends within field {tag >> 3}")
            yield tag >> 3, (position, position + length)
            position += length
        elif wire_type == VARINT:
            value, position = read_varint(data, position, end)
            yield tag >> 3, value
        elif wire_type in _FIXED_LENGTHS:
            position += _FIXED_LENGTHS[wire_type]
        else:
            raise ProtobufError(f"field {tag >> 3} has wire type {wire_type}, which is not used here")


def bytes_field(number: int, content: bytes) -> bytes:
    return write_varint(number << 3 | BYTES) + write_varint(len(content)) + content


def integer_field(number: int, value: int) -> bytes:
    return write_varint(number << 3) + write_varint(value)


def signed(value: Any) -> int:
    if not isinstance(value, int):
        raise ProtobufError("a number in it is not a number")
    # Negative numbers travel as their two's complement in 64 bits.
    return value - (1 << 64) if value >= 1 << 63 else value


def text_of(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ProtobufError("a text in it is not UTF-8") from error


def parts_of(content: bytes, start: int = 0) -> dict[int, Any]:
    """The fields by number: an integer, or the bytes."""
    return {
        number: value if isinstance(value, int) else content[value[0] : value[1]]
        for number, value in wire_fields(content, start, len(content))
    }


def _base64(content: bytes) -> str:
    return binascii.b2a_base64(content, newline=False).decode()


def _time(content: bytes) -> str | None:
    """The zero time, which Go writes for none, becomes none."""
    seconds = signed(parts_of(content).get(1, 0))
    return _formatted(format_timestamp, seconds) if seconds else None


def _micro_time(content: bytes) -> str | None:
    parts = parts_of(content)
    seconds, nanos = signed(parts.get(1, 0)), signed(parts.get(2, 0))
    return _formatted(format_micro_timestamp, seconds + nanos // 1000 / 1e6) if seconds or nanos else None


def _formatted(form: Callable[[float], str], seconds: float) -> str:
    try:
        return form(seconds)
    except OverflowError as error:
        raise ProtobufError("a time in it lies outside of all calendars") from error


def _quantity(content: bytes) -> str:
    return text_of(content_of(parts_of(content).get(1, b"")))


def _int_or_string(content: bytes) -> int | str:
    parts = parts_of(content)
    return text_of(content_of(parts.get(3, b""))) if parts.get(1) else signed(parts.get(2, 0))


def _json(content: bytes) -> Any:
    raw = content_of(parts_of(content).get(1, b""))
    try:
        return msgspec.json.decode(raw) if raw else {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtobufError("something in it that should be JSON is not") from error


def content_of(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise ProtobufError("a number stands where a text or message should")
    return value


READERS: dict[str, Callable[[bytes], Any]] = {
    "string": text_of,
    "bytes": _base64,
    "Time": _time,
    "MicroTime": _micro_time,
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
    "RawExtension": _json,
    "FieldsV1": _json,
}
"""What the content of a field becomes in JSON; numbers and messages are read elsewhere."""


def _write_base64(value: Any) -> bytes:
    return binascii.a2b_base64(str(value))


def _write_time(value: Any) -> bytes:
    micros = round(parse_timestamp(str(value)) * 1_000_000)
    return integer_field(1, micros // 1_000_000) + integer_field(2, micros % 1_000_000 * 1000)


def _write_quantity(value: Any) -> bytes:
    return bytes_field(1, _number_text(value).encode())


def _number_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _write_int_or_string(value: Any) -> bytes:
    if isinstance(value, str):
        return integer_field(1, 1) + integer_field(2, 0) + bytes_field(3, value.encode())
    return integer_field(1, 0) + integer_field(2, int(value)) + bytes_field(3, b"")


def _write_json(value: Any) -> bytes:
    return bytes_field(1, msgspec.json.encode(value))


_WRITERS: dict[str, Callable[[Any], bytes]] = {
    "string": lambda value: str(value).encode(),
    "bytes": _write_base64,
    "Time": _write_time,
    "MicroTime": _write_time,
    "Quantity": _write_quantity,
    "IntOrString": _write_int_or_string,
    "RawExtension": _write_json,
    "FieldsV1": _write_json,
}


def written_value(type_name: str, value: Any) -> bytes:
    try:
        return _WRITERS[type_name](value)
    except (ValueError, TypeError, TimestampError) as error:
        raise ProtobufError(f"{str(value)[:64]!r} is no {type_name}") from error
