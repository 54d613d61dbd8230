"""The messages of the Kubernetes API, by package and name, from the tables beside this module.

`tools/wire_tables.py` writes the tables. A line is a message, or a field of the message above it: its number,
its name in JSON, its type, and how a list or map is owned. `[]` is a list, `{}` a map from texts, `!` keeps a
zero value that JSON shows, and a field named `.` is inlined. A package is read when it is first asked for.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

SCALARS = frozenset({"string", "bytes", "int", "bool"})
VALUES = frozenset({"Time", "MicroTime", "Quantity", "IntOrString", "RawExtension", "FieldsV1"})
INLINED = "."


@dataclass(frozen=True, eq=False)
class WireField:
    """`topology` is "", set, atomic, or the keys of a list of objects as `map:port,protocol=TCP`."""

    package: str
    number: int
    name: str
    holds: str
    type: str
    keeps_zero: bool
    topology: str

    @cached_property
    def message(self) -> "WireMessage | None":
        """The message that it holds; None for plain values."""
        if self.type in SCALARS or self.type in VALUES:
            return None
        package, _, name = self.type.rpartition(".")
        return package_messages(package or self.package)[name]


@dataclass(frozen=True, eq=False)
class WireMessage:
    name: str
    fields: tuple[WireField, ...]
    is_atomic: bool = False
    is_list: bool = False
    """Whether JSON has just the list that the message wraps."""

    @cached_property
    def by_number(self) -> dict[int, WireField]:
        return {field.number: field for field in self.fields}


def find_message(api_version: str, kind: str) -> WireMessage | None:
    """The message of a kind of Kubernetes; None for kinds that have none."""
    group, _, version = api_version.rpartition("/")
    if group and "." in group and not group.endswith(".k8s.io"):
        return None
    package = f"{group.partition('.')[0] or 'core'}.{version}"
    return package_messages(package).get(kind)


def meta_message(name: str) -> WireMessage:
    return package_messages("meta.v1")[name]


@cache
def package_messages(package: str) -> dict[str, WireMessage]:
    if package not in _packages():
        return {}
    table = files(__package__).joinpath("tables", f"{package}.txt").read_text("utf-8")
    messages: dict[str, WireMessage] = {}
    heading, fields = "", list[WireField]()
    for line in [*table.splitlines(), ""]:
        if line[:1].isdigit():
            fields.append(_field(package, line))
            continue
        if heading:
            name, *marks = heading.split(" ")
            messages[name] = WireMessage(name, tuple(fields), "atomic" in marks, "items" in marks)
        heading, fields = line, []
    return messages


@cache
def _packages() -> frozenset[str]:
    folder = files(__package__).joinpath("tables")
    return frozenset(entry.name.removesuffix(".txt") for entry in folder.iterdir())


def _field(package: str, line: str) -> WireField:
    number, name, kind, *topology = line.split(" ")
    holds = kind[:2] if kind[:2] in {"[]", "{}"} else ""
    type_name = kind.removeprefix(holds)
    return WireField(
        package=package,
        number=int(number),
        name=name,
        holds=holds,
        type=type_name.removesuffix("!"),
        keeps_zero=type_name.endswith("!"),
        topology=topology[0] if topology else "",
    )
