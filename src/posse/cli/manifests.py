"""Reads manifests: YAML or JSON, several documents per file, Lists; and reports what is wrong with them.

It checks apiVersion, kind and name; the server validates the rest.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from posse.apiserver.http.yaml_values import as_json, load_documents
from posse.cli.problems import Problem
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import KINDS, by_kind

Json = dict[str, Any]
STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object to send, its kind, the version it is written in, and where it stands."""

    obj: Json
    kind: Kind
    version: str
    origin: str

    @property
    def name(self) -> str:
        name: str = self.obj["metadata"].get("name") or ""
        return name

    @property
    def namespace(self) -> str:
        namespace: str = self.obj["metadata"].get("namespace") or ""
        return namespace


def read_manifests(filename: str) -> list[Manifest]:
    origin = "standard input" if filename == STANDARD_INPUT else filename
    manifests = list(parse_manifests(_text_of(filename), origin))
    if not manifests:
        raise Problem(f"{origin}: it has no objects")
    return manifests


def parse_manifests(text: str, origin: str) -> Iterator[Manifest]:
    try:
        documents = load_documents(text, aliases=True)
    except yaml.YAMLError as error:
        raise Problem(f"{_position(origin, error)}: not valid YAML: {_what(error)}") from error
    for number, document in enumerate(documents, start=1):
        if document is not None:
            where = f"{origin} (document {number})" if len(documents) > 1 else origin
            _check_plain(document, where)
            yield from _manifests_in(document, where)


def _text_of(filename: str) -> str:
    try:
        if filename == STANDARD_INPUT:
            return sys.stdin.read()
        return Path(filename).read_text("utf-8")
    except OSError as error:
        raise Problem(f"{filename}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise Problem(f"{filename}: not a text file in UTF-8 (byte {error.start})") from error


def _check_plain(document: Any, origin: str) -> None:
    try:
        as_json(document)
    except ValueError as error:
        raise Problem(f"{origin}: {error}") from error


def _manifests_in(document: Any, origin: str) -> Iterator[Manifest]:
    if not isinstance(document, dict):
        raise Problem(f"{origin}: an object with apiVersion and kind was expected, not {_word(document)}")
    if document.get("kind") != "List":
        yield _manifest(document, origin)
        return
    for index, item in enumerate(document.get("items") or []):
        yield from _manifests_in(item, f"{origin}, items[{index}]")


def _manifest(obj: Json, origin: str) -> Manifest:
    api_version, kind_name = _text_field(obj, "apiVersion", origin), _text_field(obj, "kind", origin)
    group, _, version = api_version.rpartition("/")
    kind = by_kind(group, kind_name)
    if kind is None or version not in kind.versions:
        raise Problem(f"{origin}: {_unknown_kind(api_version, kind_name)}")
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or not (metadata.get("name") or metadata.get("generateName")):
        raise Problem(f"{origin}: metadata.name is missing")
    return Manifest(obj, kind, version, origin)


def _text_field(obj: Json, field: str, origin: str) -> str:
    value = obj.get(field)
    if not isinstance(value, str) or not value:
        raise Problem(
            f"{origin}: {field} is missing" if value is None else f"{origin}: {field} is not a text"
        )
    return value


def _unknown_kind(api_version: str, kind_name: str) -> str:
    text = f'Posse does not know kind "{kind_name}" of apiVersion "{api_version}"'
    same_name = [kind for kind in KINDS if kind.name == kind_name]
    if same_name:
        offers = [kind.api_version_of(version) for kind in same_name for version in kind.versions]
        return f"{text}; use apiVersion {' or '.join(offers)}"
    names = ", ".join(dict.fromkeys(kind.name for kind in KINDS))
    return f"{text}; where the cluster serves it, use kubectl. Posse knows {names}"


def _position(origin: str, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f"{origin}:{mark.line + 1}:{mark.column + 1}" if mark else origin


def _what(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or error).splitlines()[0]


def _word(document: Any) -> str:
    return {list: "a list", str: "a text", bool: "a boolean"}.get(type(document), "a number")
