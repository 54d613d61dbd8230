"""From JSON to structs, with errors that name the field and say in plain words what was expected there.

Kubernetes treats null as absent, the structs do not; so nulls are dropped, but only once plain decoding has
failed.
"""

import re
from typing import Any, TypeVar

import msgspec

from posse.model.meta import Shape
from posse.model.structure import FieldShape, fields_of

S = TypeVar("S", bound=Shape)

_WORDS = {
    "int": "an integer",
    "float": "a number",
    "str": "a string",
    "bool": "a boolean",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_KINDS = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "array": list,
    "object": dict,
}
_EXPECTED = re.compile(r"Expected `(?P<wanted>[^`]+)`(?:, got `(?P<got>[^`]+)`)?(?P<limit> [<>]=? \S+)?")
_LOCATION = re.compile(r" - at `\$(?P<path>[^`]*)`")
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+)\]|(?P<any>\[\.\.\.\])")


class ShapeError(ValueError):
    """A value of the wrong type; `path` is like `spec.containers[0].ports[1].hostPort`, empty for the whole
    object.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message


def decode(struct: type[S], data: Any) -> S:
    try:
        return msgspec.convert(data, struct)
    except msgspec.ValidationError:
        without_nulls = drop_nulls(data)
    try:
        return msgspec.convert(without_nulls, struct)
    except msgspec.ValidationError as error:
        raise _explain(error, without_nulls) from error


def drop_nulls(data: Any) -> Any:
    """A copy without the null members of objects; nulls in lists stay, as they keep other items in place."""
    if isinstance(data, dict):
        return {key: drop_nulls(item) for key, item in data.items() if item is not None}
    if isinstance(data, list):
        return [drop_nulls(item) for item in data]
    return data


def unknown_fields(struct: type[Shape], data: Any) -> list[str]:
    """Paths of members the struct does not have, in the order of the data."""
    if not isinstance(data, dict):
        return []
    shapes = fields_of(struct)
    found: list[str] = []
    for name, item in data.items():
        shape = shapes.get(name)
        if shape is None:
            found.append(name)
        elif shape.struct is not None:
            found += [name + rest for rest in _unknown_within(shape, item)]
    return found


def _unknown_within(shape: FieldShape, item: Any) -> list[str]:
    if shape.struct is None:
        return []
    if shape.holds == "one":
        return [f".{path}" for path in unknown_fields(shape.struct, item)]
    if shape.holds == "list":
        members = (
            [(f"[{index}]", member) for index, member in enumerate(item)] if isinstance(item, list) else []
        )
    else:
        members = [(f"[{key}]", member) for key, member in item.items()] if isinstance(item, dict) else []
    return [f"{prefix}.{path}" for prefix, member in members for path in unknown_fields(shape.struct, member)]


def known_part(struct: type[Shape], data: dict[str, Any]) -> dict[str, Any]:
    """A copy without the members that the struct does not have, at any depth; what it does not describe stays
    as it is.
    """
    shapes = fields_of(struct)
    return {name: _known_within(shapes[name], item) for name, item in data.items() if name in shapes}


def _known_within(shape: FieldShape, item: Any) -> Any:
    if shape.struct is None:
        return item
    if shape.holds == "one":
        return known_part(shape.struct, item) if isinstance(item, dict) else item
    if isinstance(item, list):
        return [known_part(shape.struct, member) if isinstance(member, dict) else member for member in item]
    if isinstance(item, dict):
        return {
            key: known_part(shape.struct, member) if isinstance(member, dict) else member
            for key, member in item.items()
        }
    return item


def _explain(error: msgspec.ValidationError, data: Any) -> ShapeError:
    text = str(error)
    found = _EXPECTED.match(text)
    location = _LOCATION.search(text)
    got = found["got"] if found else ""
    path = _readable_path(location["path"], data, got) if location else ""
    return ShapeError(path, _plain_words(found) if found else text)


def _plain_words(found: re.Match[str]) -> str:
    if found["limit"]:
        operator, bound = found["limit"].split()
        return f"must be {'at most' if operator.startswith('<') else 'at least'} {bound}"
    wanted = [_WORDS.get(name, name) for name in found["wanted"].split(" | ") if name != "null"]
    got = _WORDS.get(found["got"], found["got"])
    return f"expected {' or '.join(wanted)}, got {got}"


def _readable_path(path: str, data: Any, got: str | None) -> str:
    """The path msgspec gives, with `[...]` (some value of a map) replaced by the key it must have been."""
    steps = list(_STEP.finditer(path))
    spelled = _spelled(steps, data, _KINDS.get(got or "", object))
    return (path if spelled is None else spelled).removeprefix(".")


def _spelled(steps: list[re.Match[str]], data: Any, wrong: type) -> str | None:
    """None if the steps do not lead to a value of the wrong type from here."""
    if not steps:
        return "" if isinstance(data, wrong) else None
    step, rest = steps[0], steps[1:]
    if step["index"]:
        is_there = isinstance(data, list) and int(step["index"]) < len(data)
        found = _spelled(rest, data[int(step["index"])], wrong) if is_there else None
        return None if found is None else f"[{step['index']}]{found}"
    names = [step["name"]] if step["name"] else list(data) if isinstance(data, dict) else []
    for name in names:
        found = _spelled(rest, data.get(name) if isinstance(data, dict) else None, wrong)
        if found is not None:
            return f".{name}{found}"
    return None
