"""Snapshots of clusters: one file of compressed lines of JSON, a header and then one object per line."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from posse.cli.problems import Problem
from posse.kinds.machinery.kind import Kind
from posse.model.timestamps import TimestampError, format_timestamp, parse_timestamp
from posse.version import VERSION

Json = dict[str, Any]

FORMAT = "posse-snapshot"
FORMAT_VERSION = 1


class Header(msgspec.Struct, frozen=True, rename="camel"):
    format: str
    format_version: int
    posse: str
    """The version of Posse that wrote the file."""
    time: str
    default_namespace: str
    objects: int
    """How many follow."""
    kinds: tuple[str, ...]
    """Resources that the cluster served, as in pods or jobs.batch."""
    settings: tuple[dict[str, Any], ...] = ()
    """The rules that running schedulers published."""
    is_anonymised: bool = False


class Listed(NamedTuple):
    resource: str
    obj: Json


class SnapshotSource:
    """A cluster as it was when the snapshot was taken."""

    def __init__(self, header: Header, objects: dict[str, list[Json]]) -> None:
        self.header = header
        self._objects = objects

    @property
    def default_namespace(self) -> str:
        return self.header.default_namespace

    def now(self) -> float:
        return parse_timestamp(self.header.time)

    def settings(self) -> list[Json]:
        return list(self.header.settings)

    def serves(self, kind: Kind) -> bool:
        return kind.group_resource in self.header.kinds

    def with_objects(self, kind: Kind, objects: list[Json]) -> "SnapshotSource":
        """The same cluster with these objects of a kind."""
        return SnapshotSource(self.header, self._objects | {kind.group_resource: objects})

    def objects(self, kind: Kind, namespace: str | None, _tell: Callable[[str], None]) -> Iterator[Json]:
        for obj in self._objects.get(kind.group_resource, ()):
            if namespace is None or not kind.namespaced or obj["metadata"].get("namespace") == namespace:
                yield obj


def new_header(namespace: str, now: float, kinds: Iterable[Kind], settings: Iterable[Json]) -> Header:
    served = tuple(kind.group_resource for kind in kinds)
    return Header(
        FORMAT, FORMAT_VERSION, VERSION, format_timestamp(now), namespace, 0, served, tuple(settings)
    )


def write_snapshot(path: Path, header: Header, objects: list[Listed]) -> None:
    """Problem: the file cannot be written. It is there as a whole, or not at all."""
    counted = msgspec.structs.replace(header, objects=len(objects))
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with gzip.open(unfinished, "wb") as file:
            file.write(msgspec.json.encode(counted) + b"\n")
            for listed in objects:
                file.write(msgspec.json.encode({"resource": listed.resource, "object": listed.obj}) + b"\n")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise Problem(f"{path}: {(error.strerror or str(error)).lower()}") from error


def read_snapshot(path: Path) -> SnapshotSource:
    """Problem: the file is none, is cut off, or of a format that is not known here."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return _read(path, file)
    except (EOFError, gzip.BadGzipFile, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Problem(f"{path}: not a complete snapshot: {error}") from error
    except OSError as error:
        raise Problem(f"{path}: {(error.strerror or str(error)).lower()}") from error


def _read(path: Path, lines: Iterable[str]) -> SnapshotSource:
    reader = iter(lines)
    header = _header(path, next(reader, ""))
    objects: dict[str, list[Json]] = {}
    number = 0
    for number, line in enumerate(reader, start=1):
        found = json.loads(line)
        if not isinstance(found, dict) or "resource" not in found or "object" not in found:
            raise Problem(f"{path}:{number + 1}: not an object of a snapshot: resource or object is missing")
        objects.setdefault(found["resource"], []).append(found["object"])
    if number != header.objects:
        raise Problem(f"{path}: not a complete snapshot: {number} of {header.objects} objects are there")
    return SnapshotSource(header, objects)


def _header(path: Path, line: str) -> Header:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise Problem(f"{path}: not a snapshot; `posse snapshot FILE` makes one")
    version = found.get("formatVersion")
    if version != FORMAT_VERSION:
        raise Problem(
            f"{path}: formatVersion {version} is not known to this Posse, which reads {FORMAT_VERSION}; "
            f"it was written by Posse {found.get('posse')}"
        )
    try:
        header = msgspec.convert(found, Header)
        parse_timestamp(header.time)
    except (msgspec.ValidationError, TimestampError) as error:
        raise Problem(f"{path}:1: the header of the snapshot is invalid: {error}") from error
    return header
