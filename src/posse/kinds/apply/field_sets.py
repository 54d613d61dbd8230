"""Sets of fields in the form of managedFields: {"f:spec": {"f:replicas": {}}}.

A node without content is a field that belongs to the set. One with content belongs to it if it has the member
".". The values are shared, never edited.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

FieldSet = Mapping[str, Any]
NOTHING: FieldSet = {}
ITSELF = "."


def belongs(node: FieldSet) -> bool:
    """Whether the field of a node is in the set itself, not only fields below it."""
    return not node or ITSELF in node


def below(node: FieldSet) -> FieldSet:
    if ITSELF not in node:
        return node
    return {element: child for element, child in node.items() if element != ITSELF}


def node_of(children: FieldSet, *, is_member: bool) -> dict[str, Any] | None:
    """A node with these fields below it; None if there is nothing to it."""
    if not children:
        return {} if is_member else None
    return {ITSELF: {}, **children} if is_member else dict(children)


def union(*sets: FieldSet) -> FieldSet:
    """What is in any of the sets. Each of them is walked through once, however many there are."""
    nodes: dict[str, list[FieldSet]] = {}
    for one in sets:
        for element, node in one.items():
            nodes.setdefault(element, []).append(node)
    return {element: found[0] if len(found) == 1 else _joined(found) for element, found in nodes.items()}


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is in the left set, below its root, and not in the right one. The right one may be far larger."""
    if not right:
        return below(left)
    result = {}
    for element, node in left.items():
        if element == ITSELF:
            continue
        other = right.get(element)
        if other is None:
            result[element] = node
            continue
        rest = difference(node, other)
        kept = node_of(rest, is_member=belongs(node) and not belongs(other))
        if kept is not None:
            result[element] = kept
    return result


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is in both sets, below their roots. The right one may be far larger."""
    result = {}
    for element, node in left.items():
        other = right.get(element)
        if other is None or element == ITSELF:
            continue
        shared = intersection(node, other)
        kept = node_of(shared, is_member=belongs(node) and belongs(other))
        if kept is not None:
            result[element] = kept
    return result


def in_order(fields: FieldSet) -> FieldSet:
    """Return the same fields sorted, as Kubernetes writes them: clients compare the text."""
    return {key: in_order(fields[key]) for key in sorted(fields)}


def paths(fields: FieldSet, prefix: str = "") -> Iterator[str]:
    """The fields as Kubernetes words them: .spec.containers[name="a"].image."""
    for element, node in sorted(fields.items()):
        path = prefix + _spelled(element)
        if belongs(node):
            yield path
        yield from paths(below(node), path)


def _joined(nodes: Sequence[FieldSet]) -> FieldSet:
    joined = node_of(union(*map(below, nodes)), is_member=any(map(belongs, nodes)))
    return NOTHING if joined is None else joined


def _spelled(element: str) -> str:
    kind, _, text = element.partition(":")
    if kind == "f":
        return f".{text}"
    if kind == "v":
        return f"[={text}]"
    if kind == "k":
        # {"name":"a","port":80} becomes [name="a",port=80].
        return "[" + ",".join(f"{name}={value}" for name, value in _key_texts(text)) + "]"
    return f"[{text}]"


def _key_texts(text: str) -> Iterator[tuple[str, str]]:
    try:
        keys = msgspec.json.decode(text.encode(), type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:  # Clients may write entries too.
        keys = {text: msgspec.Raw(b"")}
    for name, value in keys.items():
        yield name, bytes(value).decode()
