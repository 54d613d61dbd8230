"""YAML read into JSON values, for request bodies and manifests alike. A fault is a yaml.YAMLError that knows
its place.

The parser recurses in C for every level and would overflow its stack, so the structure is looked at first,
event by event. Aliases are the other way to be small as text and endless as a value.
"""

import json
from typing import Any

import yaml

from posse.apiserver.incoming import NESTING_MAX

MAX_VALUES = 1_000_000
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_NUMBER_MAX = 400
"""Characters of a number; those written with colons take time in the square of their length."""


class _JsonLoader(yaml.CSafeLoader):
    """A timestamp stays the text that was written, as JSON has none."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the base class declares it as an instance table
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            _check_number(node)
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError) as error:
            problem = f"this cannot be read as {node.tag.rpartition(':')[2]}"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from error


def _check_number(node: yaml.Node) -> None:
    if node.tag in _NUMBERS and len(node.value) > _NUMBER_MAX:
        problem = f"more than {_NUMBER_MAX} characters"
        raise ValueError(problem)


def load_documents(text: str | bytes, *, aliases: bool, max_values: int = MAX_VALUES) -> list[Any]:
    """Return the documents in a text; with `aliases` one part of a document may repeat another.

    Keys count as values.
    """
    _check_structure(text, aliases=aliases, max_values=max_values)
    return list(yaml.load_all(text, _JsonLoader))


def as_json(document: Any) -> bytes:
    """Return the document as JSON. ValueError: YAML can say what JSON cannot, such as sets, bytes and
    infinity.
    """
    try:
        return json.dumps(document, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"cannot be said in JSON: {error}") from error


def _check_structure(text: str | bytes, *, aliases: bool, max_values: int) -> None:
    written_out = _WrittenOut()
    for event in yaml.parse(text, _JsonLoader):
        written_out.add(event)
        problem = ""
        if written_out.depth > NESTING_MAX:
            problem = f"nested more than {NESTING_MAX} levels deep"
        elif written_out.size > max_values:
            problem = f"more than {max_values} values once its aliases are written out"
        elif isinstance(event, yaml.AliasEvent) and not aliases:
            problem = "aliases are not taken, write the value out"
        if problem:
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)


class _WrittenOut:
    """How many values a text has once every alias is replaced by what it stands for."""

    def __init__(self) -> None:
        self.size = 0
        self._anchored: dict[str, int] = {}
        self._open: list[tuple[str | None, int]] = []
        """Collections that have begun: anchor, and the size before."""

    @property
    def depth(self) -> int:
        return len(self._open)

    def add(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent):
            self.size += self._anchored.get(str(event.anchor), 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open.append((event.anchor, self.size))
            self.size += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = self._open.pop()
            if anchor:
                self._anchored[anchor] = self.size - before
        elif isinstance(event, yaml.ScalarEvent):
            self.size += 1
            if event.anchor:
                self._anchored[event.anchor] = 1
