"""Writes the tables by which protobuf is read and written, and fields are owned: src/posse/kinds/wire/tables.

The published descriptors are the generated.proto files of the Go modules k8s.io/api and k8s.io/apimachinery.
Beside them stands types.go, which says what a descriptor leaves out: which members JSON inlines, and which
zero values it keeps. Needs Go, to download the modules. Run it for a new release of Kubernetes:

    python -m tools.wire_tables
"""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

RELEASE = "v0.37.1"
TABLES = Path(__file__).parents[1] / "src/posse/kinds/wire/tables"
# Groups that are served, or may be, with what their clients send.
API_PACKAGES = (
    *("apps/v1", "authentication/v1", "authorization/v1", "autoscaling/v1", "batch/v1", "coordination/v1"),
    *("core/v1", "discovery/v1", "events/v1", "networking/v1", "node/v1", "policy/v1", "rbac/v1"),
    *("resource/v1", "resource/v1alpha3", "resource/v1beta1", "resource/v1beta2"),
    *("scheduling/v1", "scheduling/v1alpha3", "scheduling/v1beta1", "storage/v1"),
)
META_PACKAGE = "pkg/apis/meta/v1"
# Values with a form of their own in JSON.
VALUES = {
    ".k8s.io.apimachinery.pkg.api.resource.Quantity": "Quantity",
    ".k8s.io.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
    ".k8s.io.apimachinery.pkg.runtime.RawExtension": "RawExtension",
    **{f".k8s.io.apimachinery.pkg.apis.meta.v1.{name}": name for name in ("Time", "MicroTime", "FieldsV1")},
}
SCALARS = {"string": "string", "bool": "bool", "bytes": "bytes", "int32": "int", "int64": "int"}
_MESSAGE = re.compile(r"^message (\w+) \{")
_FIELD = re.compile(r"^  (?:(optional|repeated) (\S+)|map<string, (\S+)>) (\w+) = (\d+);")
_GO_STRUCT = re.compile(r"^type (\w+) struct \{")
_GO_LIST = re.compile(r"^type (\w+) \[\]string")
_GO_FIELD = re.compile(r'^\s+(?:\w+\s+)?(\S+)\s+`json:"([^"]*)" protobuf:"\w+,(\d+)')
_MARK = re.compile(r"^\s*// \+(\w+)=(\S+)")


@dataclass
class DescribedField:
    number: int
    name: str
    holds: str
    type: str
    marks: dict[str, list[str]]


@dataclass
class DescribedMessage:
    marks: dict[str, list[str]]
    fields: list[DescribedField] = field(default_factory=list)


@dataclass(frozen=True)
class GoFields:
    """What types.go says of fields: members by struct and number, and types that are lists of texts."""

    members: dict[tuple[str, int], tuple[str, str]]
    lists: frozenset[str]


def main() -> None:
    TABLES.mkdir(exist_ok=True)
    api, machinery = _module("k8s.io/api"), _module("k8s.io/apimachinery")
    packages = {name.replace("/", "."): api / name for name in API_PACKAGES}
    packages["meta.v1"] = machinery / META_PACKAGE
    described = {name: _described(folder) for name, folder in packages.items()}
    for name, folder in packages.items():
        lines = _table(name, described, _go_fields(folder))
        (TABLES / f"{name}.txt").write_text("\n".join(lines) + "\n")
        print(f"{name}: {len(described[name])} messages")


def _module(path: str) -> Path:
    command = ["go", "mod", "download", "-json", f"{path}@{RELEASE}"]
    return Path(json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["Dir"])


def _described(folder: Path) -> dict[str, DescribedMessage]:
    messages: dict[str, DescribedMessage] = {}
    current = DescribedMessage({})
    marks: dict[str, list[str]] = {}
    for line in (folder / "generated.proto").read_text().splitlines():
        if mark := _MARK.match(line):
            marks.setdefault(mark[1], []).append(mark[2])
        elif found := _MESSAGE.match(line):
            current = messages[found[1]] = DescribedMessage(marks)
            marks = {}
        elif found := _FIELD.match(line):
            holds = "{}" if found[3] else "[]" if found[1] == "repeated" else ""
            item = found[2] or found[3]
            current.fields.append(DescribedField(int(found[5]), found[4], holds, item, marks))
            marks = {}
        elif line.strip() and not line.strip().startswith("//"):
            marks = {}
    return messages


def _go_fields(folder: Path) -> GoFields:
    members: dict[tuple[str, int], tuple[str, str]] = {}
    lists, struct = set(), ""
    for path in sorted(folder.glob("*.go")):
        if path.name.startswith(("zz_", "generated")) or path.name.endswith("_test.go"):
            continue
        for line in path.read_text().splitlines():
            if found := _GO_STRUCT.match(line):
                struct = found[1]
            elif found := _GO_LIST.match(line):
                lists.add(found[1])
            elif (found := _GO_FIELD.match(line)) and not line.strip().startswith("//"):
                members[struct, int(found[3])] = found[1], found[2]
    return GoFields(members, frozenset(lists))


def _table(package: str, described: dict[str, dict[str, DescribedMessage]], go: GoFields) -> Iterator[str]:
    for name, message in sorted(described[package].items()):
        if name in go.lists:
            yield f"{name} items"
        else:
            yield f"{name} atomic" if message.marks.get("structType") == ["atomic"] else name
        for each in sorted(message.fields, key=lambda field: field.number):
            go_type, tag = go.members.get((name, each.number), ("", each.name))
            json_name, *options = tag.split(",")
            type_name = _type_name(each.type)
            is_kept = go_type.startswith("*") or not ({"omitempty", "omitzero"} & set(options))
            kept = "!" if is_kept and not each.holds and type_name in {*SCALARS.values(), "Quantity"} else ""
            yield " ".join(
                [
                    str(each.number),
                    json_name or ".",
                    f"{each.holds}{type_name}{kept}",
                    *_topology(package, each, described),
                ]
            )


def _type_name(described: str) -> str:
    if described in SCALARS:
        return SCALARS[described]
    if described in VALUES:
        return VALUES[described]
    name = described.removeprefix(".k8s.io.apimachinery.pkg.apis.").removeprefix(".k8s.io.api.")
    return VALUES.get(f".k8s.io.apimachinery.pkg.apis.meta.v1.{name}", name)


def _topology(
    package: str, each: DescribedField, described: dict[str, dict[str, DescribedMessage]]
) -> Iterable[str]:
    """How a list or map is owned: whole, by value, or item by item with these keys and their defaults."""
    marks = each.marks
    kind = (marks.get("listType") or marks.get("mapType") or marks.get("structType") or [""])[-1]
    keys = marks.get("listMapKey", [])
    if not kind and marks.get("patchStrategy", [""])[0].startswith("merge"):
        keys = marks.get("patchMergeKey", [])
        kind = "map" if keys else "set"
    if each.holds == "[]" and kind == "map":
        home, _, name = _type_name(each.type).rpartition(".")
        item = described[home or package][name]
        return [f"map:{','.join(_key(item, key) for key in sorted(keys))}"]
    if kind == "set" or (kind == "atomic" and each.holds != "[]"):
        return [kind]
    return []


def _key(item: DescribedMessage, key: str) -> str:
    marks = next((each.marks for each in item.fields if each.name == key), {})
    default = marks.get("default", [""])[0].strip('"')
    return f"{key}={default}" if default else key


if __name__ == "__main__":
    main()
