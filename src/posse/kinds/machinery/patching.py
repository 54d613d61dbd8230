"""The three patch formats of the Kubernetes API: JSON patch (RFC 6902), merge patch (RFC 7386), strategic
merge patch.

Pure: an object and a patch go in, a new object comes out that shares nothing with either, so that it may be
edited in place afterwards. Whether the result is a valid object is for others to judge.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import msgspec

from posse.model.meta import Shape
from posse.model.structure import FieldShape, fields_of

Json = dict[str, Any]

_OPERATIONS_MAX = 10_000
# What all copies of one patch may add; without a bound each of them could double the object.
_COPIED_BYTES_MAX = 3 * 1024 * 1024

_DIRECTIVE = "$patch"
_RETAIN = "$retainKeys"
_ORDER = "$setElementOrder/"
_DELETE_VALUES = "$deleteFromPrimitiveList/"
_UNKNOWN_FIELD = FieldShape(holds="one", struct=None, merge_key="", patch_strategy="")


class PatchError(ValueError):
    """The patch itself is malformed."""


class PatchMismatchError(PatchError):
    """The patch is well formed but does not fit the object: nothing at a path, or a test that fails."""


def copy_json(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: copy_json(item) for key, item in data.items()}
    if isinstance(data, list):
        return [copy_json(item) for item in data]
    return data


def merge_patch(obj: Json, patch: Any) -> Json:
    if not isinstance(patch, dict):
        raise PatchError("a merge patch must be an object")
    return _merge_into(copy_json(obj), patch)


def _merge_into(target: Any, patch: Json) -> Json:
    result: Json = target if isinstance(target, dict) else {}
    for name, change in patch.items():
        if change is None:
            result.pop(name, None)
        elif isinstance(change, dict):
            result[name] = _merge_into(result.get(name), change)
        else:
            result[name] = copy_json(change)
    return result


def json_patch(obj: Json, operations: Any) -> Any:
    if not isinstance(operations, list):
        raise PatchError("a JSON patch must be a list of operations")
    if len(operations) > _OPERATIONS_MAX:
        raise PatchError(
            f"a JSON patch may have at most {_OPERATIONS_MAX} operations, this one has {len(operations)}"
        )
    document = copy_json(obj)
    copied_bytes = 0
    for position, operation in enumerate(operations):
        try:
            copied_bytes += _copied_bytes(document, operation)
            if copied_bytes > _COPIED_BYTES_MAX:
                raise PatchMismatchError(f"the copies add more than {_COPIED_BYTES_MAX} bytes to the object")
            document = _apply(document, operation)
        except PatchError as error:
            raise type(error)(f"operation {position} of the JSON patch: {error}") from error
    return document


def _apply(document: Any, operation: Any) -> Any:
    if not isinstance(operation, dict):
        raise PatchError("expected an object with op and path")
    name = operation.get("op")
    apply = _OPERATIONS.get(name) if isinstance(name, str) else None
    if apply is None:
        raise PatchError(f"op is {name!r}: expected one of {', '.join(_OPERATIONS)}")
    return apply(document, _pointer(operation, "path"), operation)


def _copied_bytes(document: Any, operation: Any) -> int:
    if not isinstance(operation, dict) or operation.get("op") != "copy":
        return 0
    return len(msgspec.json.encode(_find(document, _pointer(operation, "from"))))


def _pointer(operation: Json, member: str) -> list[str]:
    text = operation.get(member)
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise PatchError(f"{member} is {text!r}: expected a pointer such as /spec/priority")
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]


def _value(operation: Json) -> Any:
    if "value" not in operation:
        raise PatchError(f"{operation['op']} needs a value")
    return copy_json(operation["value"])


def _op_add(document: Any, path: list[str], operation: Json) -> Any:
    return _insert(document, path, _value(operation))


def _op_remove(document: Any, path: list[str], _operation: Json) -> Any:
    return _remove(document, path)[0]


def _op_replace(document: Any, path: list[str], operation: Json) -> Any:
    value = _value(operation)
    if not path:
        return value
    parent = _find(document, path[:-1])
    parent[_existing_key(parent, path)] = value
    return document


def _op_move(document: Any, path: list[str], operation: Json) -> Any:
    source = _pointer(operation, "from")
    if len(source) < len(path) and path[: len(source)] == source:
        raise PatchError(f"{_spelled(source)} cannot be moved into itself")
    document, value = _remove(document, source)
    return _insert(document, path, value)


def _op_copy(document: Any, path: list[str], operation: Json) -> Any:
    return _insert(document, path, copy_json(_find(document, _pointer(operation, "from"))))


def _op_test(document: Any, path: list[str], operation: Json) -> Any:
    if not _same(_find(document, path), _value(operation)):
        raise PatchMismatchError(f"the test of {_spelled(path)} failed: the value there is another one")
    return document


_OPERATIONS: dict[str, Callable[[Any, list[str], Json], Any]] = {
    "add": _op_add,
    "remove": _op_remove,
    "replace": _op_replace,
    "move": _op_move,
    "copy": _op_copy,
    "test": _op_test,
}


def _find(document: Any, path: list[str]) -> Any:
    for depth in range(len(path)):
        document = document[_existing_key(document, path[: depth + 1])]
    return document


def _insert(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _find(document, path[:-1])
    if isinstance(parent, dict):
        parent[path[-1]] = value
    elif isinstance(parent, list):
        at = len(parent) if path[-1] == "-" else _index(path, len(parent))
        parent.insert(at, value)
    else:
        _nothing_at(path)
    return document


def _remove(document: Any, path: list[str]) -> tuple[Any, Any]:
    if not path:
        return None, document
    parent = _find(document, path[:-1])
    key = _existing_key(parent, path)
    return document, parent.pop(key)


def _existing_key(parent: Any, path: list[str]) -> Any:
    """The key or index of the last step, which must lead somewhere."""
    if isinstance(parent, list):
        return _index(path, len(parent) - 1)
    if not isinstance(parent, dict) or path[-1] not in parent:
        _nothing_at(path)
    return path[-1]


def _index(path: list[str], largest: int) -> int:
    step = path[-1]
    if not (step.isascii() and step.isdigit()) or (len(step) > 1 and step.startswith("0")):
        raise PatchError(f"{step!r} in {_spelled(path)} is not the position of a list item")
    if len(step) > 9 or int(step) > largest:
        _nothing_at(path)
    return int(step)


def _nothing_at(path: list[str]) -> NoReturn:
    raise PatchMismatchError(f"there is nothing at {_spelled(path)}")


def _spelled(path: Iterable[str]) -> str:
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in path) or "the root"


def _same(left: Any, right: Any) -> bool:
    """Equal as JSON: unlike in Python, true is not 1."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def strategic_merge_patch(struct: type[Shape], obj: Json, patch: Any) -> Json:
    """Merge by the structure of the kind: lists marked so in the struct are merged item by item.

    Fields the struct does not have are merged when they are objects and replaced otherwise.
    """
    if not isinstance(patch, dict):
        raise PatchError("a strategic merge patch must be an object")
    return _merge_object(struct, copy_json(obj), patch)


def _merge_object(struct: type[Shape] | None, target: Any, patch: Json) -> Json:
    """Merge into `target`, which is already a copy and is used up."""
    directive = patch.get(_DIRECTIVE, "merge")
    if directive == "delete":
        return {}
    if directive not in ("merge", "replace"):
        raise PatchError(f"{_DIRECTIVE} is {directive!r}: expected merge, replace or delete")
    kept = target if isinstance(target, dict) and directive == "merge" else {}
    result = _retained(kept, patch)
    shapes = fields_of(struct) if struct else {}
    for name in _changed_fields(patch):
        _merge_field(result, shapes.get(name, _UNKNOWN_FIELD), patch, name)
    return result


def _changed_fields(patch: Json) -> list[str]:
    """The fields a patch speaks of, be it only by an order or by values to delete, each once."""
    names = [name.removeprefix(_ORDER).removeprefix(_DELETE_VALUES) for name in patch]
    return [name for name in dict.fromkeys(names) if name not in (_DIRECTIVE, _RETAIN)]


def _retained(target: Json, patch: Json) -> Json:
    if _RETAIN not in patch:
        return target
    names = set(map(_identity_of_value(_RETAIN), _directive_list(patch, _RETAIN)))
    set_fields = [name for name, change in patch.items() if change is not None and not name.startswith("$")]
    if extra := [name for name in set_fields if name not in names]:
        raise PatchError(f"{_RETAIN} must list every field the patch sets; {extra[0]} is missing")
    return {name: value for name, value in target.items() if name in names}


def _directive_list(patch: Json, directive: str) -> list[Any]:
    if not isinstance(wanted := patch.get(directive, []), list):
        raise PatchError(f"{directive} must be a list")
    return wanted


def _merge_field(result: Json, shape: FieldShape, patch: Json, name: str) -> None:
    change = patch.get(name)
    if change is None and name in patch:
        result.pop(name, None)
    elif shape.patch_strategy.startswith("merge") and isinstance(change, list | None):
        # Without a change there is still an order to keep or values to delete, if there is a list at all.
        if change is not None or isinstance(result.get(name), list):
            result[name] = _merge_list(shape, result.get(name), patch, name)
    elif isinstance(change, dict):
        struct = shape.struct if shape.holds == "one" else None
        target = None if shape.patch_strategy == "replace" else result.get(name)
        result[name] = _merge_object(struct, target, change)
    elif change is not None:
        result[name] = copy_json(change)


def _merge_list(shape: FieldShape, target: Any, patch: Json, name: str) -> list[Any]:
    live = target if isinstance(target, list) else []
    change = patch.get(name) or []
    order = _directive_list(patch, _ORDER + name)
    if shape.merge_key:
        identity = _identity_by(shape.merge_key, name)
        merged = _merge_items(shape, live, change, identity)
    else:
        identity = _identity_of_value(name)
        merged = list(dict.fromkeys(map(identity, [*live, *change])))
        unwanted = set(map(identity, _directive_list(patch, _DELETE_VALUES + name)))
        merged = [value for value in merged if value not in unwanted]
    if not order:
        return merged
    wanted = list(map(identity, order))
    _check_order(wanted, [identity(item) for item in change if not _is_special(item)], name)
    return _in_order(merged, wanted, live, identity)


def _identity_by(merge_key: str, name: str) -> Callable[[Any], Any]:
    def identity(item: Any) -> Any:
        if not isinstance(item, dict) or isinstance(key := item.get(merge_key), dict | list | None):
            raise PatchError(
                f"every item of {name} must be an object with {merge_key}, by which items are paired"
            )
        return key

    return identity


def _identity_of_value(name: str) -> Callable[[Any], Any]:
    def identity(item: Any) -> Any:
        if isinstance(item, dict | list):
            raise PatchError(f"{name} must be a list of plain values")
        return item

    return identity


def _is_special(item: Any) -> bool:
    return isinstance(item, dict) and item.get(_DIRECTIVE, "merge") != "merge"


def _merge_items(
    shape: FieldShape, live: list[Any], change: list[Any], identity: Callable[[Any], Any]
) -> list[Any]:
    special = [item for item in change if _is_special(item)]
    plain = [item for item in change if not _is_special(item)]
    if any(item[_DIRECTIVE] == "replace" for item in special):
        return [_merge_object(shape.struct, None, item) for item in plain]
    if wrong := [item[_DIRECTIVE] for item in special if item[_DIRECTIVE] != "delete"]:
        raise PatchError(f"{_DIRECTIVE} is {wrong[0]!r}: expected merge, replace or delete")
    deleted = {_hashed(identity(item)) for item in special}
    merged = [item for item in live if _hashed(identity(item)) not in deleted]
    # Where an item of a key stands; of several the first.
    places = {_hashed(identity(item)): at for at, item in reversed(list(enumerate(merged)))}
    for item in plain:
        key = _hashed(identity(item))
        if key in places:
            merged[places[key]] = _merge_object(shape.struct, merged[places[key]], item)
        else:
            places[key] = len(merged)
            merged.append(_merge_object(shape.struct, None, item))
    return merged


def _hashed(value: Any) -> tuple[bool, Any]:
    """A plain JSON value as a key: unlike in Python, true is not 1."""
    return isinstance(value, bool), value


def _check_order(order: list[Any], changed: list[Any], name: str) -> None:
    remaining = iter(order)
    if misplaced := [key for key in changed if key not in remaining]:
        raise PatchError(
            f"{_ORDER}{name} must list the items of {name} in the same order; {misplaced[0]!r} is amiss"
        )


def _in_order(
    merged: list[Any], order: list[Any], live: list[Any], identity: Callable[[Any], Any]
) -> list[Any]:
    """Items named in the order stand in that order; each other one stays before what followed it in the live
    list.
    """
    rank = {key: position for position, key in reversed(list(enumerate(order)))}
    place = {identity(item): position for position, item in reversed(list(enumerate(live)))}
    listed = sorted(
        (item for item in merged if identity(item) in rank), key=lambda item: rank[identity(item)]
    )
    others = deque(item for item in merged if identity(item) not in rank)
    result: list[Any] = []
    for item in listed:
        while others and place.get(identity(others[0]), len(live)) < place.get(identity(item), -1):
            result.append(others.popleft())
        result.append(item)
    return [*result, *others]
