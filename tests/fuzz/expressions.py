"""Odd CEL: pieces of expressions in any order. Each is refused in words, or has a value for any device, or none."""

import contextlib

from posse.cel.device_selector import DeviceFacts, DeviceSelectorError, device_selector
from posse.cel.errors import CelError
from posse.cel.semver import parse_semver
from tests.fuzz.generation import NUMBERS

WORDS = [
    "device",
    "driver",
    "attributes",
    "capacity",
    "allowMultipleAllocations",
    "dra.example.com",
    "model",
    "memory",
    "size",
    "true",
    "false",
    "null",
    "in",
    "has",
    "quantity",
    "semver",
    "isQuantity",
    "isSemver",
    "string",
    "int",
    "uint",
    "double",
    "bool",
    "bytes",
    "duration",
    "timestamp",
    "type",
    "dyn",
    "list",
    "map",
    "exists",
    "all",
    "filter",
    "exists_one",
    "map",
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "orValue",
    "optional.of",
    "optional.none",
    "compareTo",
    "isGreaterThan",
    "isLessThan",
    "asInteger",
    "add",
    "sub",
    "sign",
    "cel.bind",
    "format.dns1123Label",
    ".",
    ".?",
    "[",
    "]",
    "[?",
    "(",
    ")",
    "{",
    "}",
    ",",
    ":",
    "?",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "&&",
    "||",
    '"',
    "'",
    "'''",
    'r"',
    'b"',
    "\\",
    "\x00",
    "//",
    "x",
    "e",
    "0",
    "1",
    "-1",
    "9223372036854775808",
    "1u",
    "1.5",
    "1e400",
    "0x",
]
SHAPES = (
    'device.attributes["dra.example.com"].{}',
    'device.capacity["dra.example.com"].{}',
    "device.driver.{}",
    "[1, 2].exists(x, {})",
    "[{0}, {0}].all(x, {0})",
    "{} == true",
    "({})",
    "{0} && {0}",
    "has({})",
    "quantity({})",
    "{}",
)
FACTS = (
    DeviceFacts("dra.example.com"),
    DeviceFacts(
        "dra.example.com",
        allow_multiple=True,
        attributes={"model": "x", "size": 1, "big": True, "version": parse_semver("1.2.3")},
        capacity={"memory": "10Gi"},
    ),
)


def expressions(maker):
    chance = maker.chance
    words = chance.choices(WORDS, k=chance.randrange(1, 12))
    text = chance.choice(["", " "]).join(map(str, words))
    for _ in range(chance.randrange(3)):
        text = chance.choice(SHAPES).format(text)
    if chance.random() < 0.1:
        text = chance.choice(
            [maker.text(), str(chance.choice(NUMBERS)), "(" * 5000 + text, "!" * 5000 + "true"]
        )
    try:
        selector = device_selector(text)
    except CelError:
        return
    for facts in FACTS:
        with contextlib.suppress(DeviceSelectorError):
            assert selector.matches(facts) in {True, False}
