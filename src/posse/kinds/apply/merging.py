"""An applied configuration merged into the live object, and fields taken away that are applied no longer."""

from collections.abc import Mapping
from typing import Any

from posse.kinds.apply.field_sets import NOTHING, FieldSet, belongs, below
from posse.kinds.apply.field_types import FieldType

Json = dict[str, Any]


class DuplicateItemError(ValueError):
    """A configuration names the same item of a list twice."""

    def __init__(self, path: str, element: str) -> None:
        super().__init__(f"{path}: duplicate entries for key {element.partition(':')[2]}")


def merged(field_type: FieldType, live: Any, config: Any, path: str = "") -> Any:
    """Return the live value with all that the configuration says; live items keep their place."""
    if field_type.form in {"object", "map"} and isinstance(config, dict):
        before = live if isinstance(live, dict) else {}
        changed = {
            name: merged(field_type.member(name), before.get(name), item, f"{path}.{name}")
            for name, item in config.items()
        }
        return {**before, **changed}
    if field_type.form in {"items", "set"} and isinstance(config, list):
        return _merged_list(field_type, live if isinstance(live, list) else [], config, path)
    return config


def _merged_list(field_type: FieldType, live: list[Any], config: list[Any], path: str) -> list[Any]:
    """Items of the configuration stand in its order; the others stay before what followed them."""
    wanted: dict[str, Any] = {}
    for item in config:
        element = field_type.element(item)
        if element in wanted:
            raise DuplicateItemError(path, element)
        wanted[element] = item
    before = {field_type.element(item): item for item in live}
    result: list[Any] = []
    order = list(wanted)
    positions = {element: position for position, element in enumerate(order)}
    done = 0
    for item in live:
        position = positions.get(field_type.element(item))
        if position is None:
            result.append(item)
        elif position >= done:
            part = order[done : position + 1]
            result += [_merged_item(field_type, each, before, wanted, path) for each in part]
            done = position + 1
    return result + [_merged_item(field_type, each, before, wanted, path) for each in order[done:]]


def _merged_item(
    field_type: FieldType, element: str, before: Mapping[str, Any], wanted: Mapping[str, Any], path: str
) -> Any:
    return merged(field_type.item, before.get(element), wanted[element], f"{path}[{element[2:]}]")


def pruned(field_type: FieldType, value: Json, applied: FieldSet, owned: FieldSet) -> Json:
    """Take away what was applied before (`applied`) and is in no set any more (`owned`)."""
    result = {}
    for name, item in value.items():
        element = f"f:{name}"
        mine, others = applied.get(element), owned.get(element)
        if mine is None:
            result[name] = item
        elif others is None or (field_type.form == "map" and not belongs(others)):
            continue
        else:
            result[name] = _pruned_within(field_type.member(name), item, mine, others)
    return result


def _pruned_within(field_type: FieldType, value: Any, applied: FieldSet, owned: FieldSet) -> Any:
    mine, others = below(applied), below(owned)
    if field_type.form in {"object", "map"} and isinstance(value, dict):
        return pruned(field_type, value, mine, others)
    if field_type.form not in {"items", "set"} or not isinstance(value, list):
        return value
    kept = []
    for item in value:
        element = field_type.element(item)
        was, still = mine.get(element), others.get(element)
        if was is not None and belongs(was) and (still is None or not belongs(still)):
            continue
        if was is not None and isinstance(item, dict):
            keys = {name: item[name] for name, _ in field_type.keys if name in item}
            item = pruned(field_type.item, item, below(was), below(still or NOTHING)) | keys  # noqa: PLW2901
        kept.append(item)
    return kept
