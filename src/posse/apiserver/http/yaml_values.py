"""YAML read into JSON values, for request bodies and manifests alike. A fault is a yaml.YAMLError that knows
its place.

The parser recurses in C for every level and would overflow its stack, so the structure is looked at first,
event by event. Aliases are the other way to be small as text and endless as a value.
"""

import json
from typing import Any

import yaml

from posse.apiserver.incoming import NESTING_MAX


class _JsonLoader(yaml.CSafeLoader):
    """A timestamp stays the text that was written, as JSON has none."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the base class declares it as an instance table
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError) as error:
            problem = f"this cannot be read as {node.tag.rpartition(':')[2]}"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from error


def load_documents(text: str | bytes, *, aliases: bool) -> list[Any]:
    """Return the documents in a text; with `aliases` one part of a document may repeat another."""
    _check_structure(text, aliases=aliases)
    return list(yaml.load_all(text, _JsonLoader))


def as_json(document: Any) -> bytes:
    """Return the document as JSON. ValueError: YAML can say what JSON cannot, such as sets, bytes and
    infinity.
    """
    try:
        return json.dumps(document, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"cannot be said in JSON: {error}") from error


def _check_structure(text: str | bytes, *, aliases: bool) -> None:
    depth = 0
    for event in yaml.parse(text, _JsonLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        problem = ""
        if depth > NESTING_MAX:
            problem = f"nested more than {NESTING_MAX} levels deep"
        elif isinstance(event, yaml.AliasEvent) and not aliases:
            problem = "aliases are not taken, write the value out"
        if problem:
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
