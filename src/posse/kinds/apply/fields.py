"""Which fields an object has, and which differ between two states of it."""

from typing import Any, NamedTuple

from posse.kinds.apply.field_sets import ITSELF, NOTHING, FieldSet, below, node_of
from posse.kinds.apply.field_types import FieldType

Json = dict[str, Any]
# The server's own, which no one owns.
_IDENTITY = frozenset({"apiVersion", "kind"})
_SERVER_METADATA = frozenset(
    {
        *("name", "namespace", "creationTimestamp", "selfLink", "uid", "generation"),
        *("managedFields", "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"),
    }
)


class Differences(NamedTuple):
    """Fields that are new or have another value, and those that are gone."""

    changed: FieldSet
    removed: FieldSet


def ownable(obj: Json) -> Json:
    """The part of an object that can be owned; its metadata is there even if nothing is in it."""
    metadata = obj.get("metadata") or {}
    rest = {name: value for name, value in obj.items() if name not in _IDENTITY}
    return rest | {
        "metadata": {name: value for name, value in metadata.items() if name not in _SERVER_METADATA}
    }


def configured(field_type: FieldType, config: Json) -> FieldSet:
    """The fields that an applied configuration sets."""
    said = ownable(config)
    return _fields_set(field_type, said if said["metadata"] else {**said, "metadata": None})


def _fields_set(field_type: FieldType, value: Json) -> FieldSet:
    fields = {}
    for name, item in value.items():
        if item is None:
            continue
        node = _set_below(field_type.member(name), item, is_member=field_type.form == "map" or item == {})
        if node is not None:
            fields[f"f:{name}"] = node
    return fields


def _set_below(field_type: FieldType, value: Any, *, is_member: bool) -> FieldSet | None:
    if field_type.form in {"object", "map"} and isinstance(value, dict):
        return node_of(_fields_set(field_type, value), is_member=is_member)
    if field_type.form in {"items", "set"} and isinstance(value, list):
        elements = {
            field_type.element(item): _set_below(field_type.item, item, is_member=True) for item in value
        }
        return node_of({name: node or {} for name, node in elements.items()}, is_member=is_member)
    return {}


def differences(field_type: FieldType, old: Json, new: Json) -> Differences:
    changed, removed = {}, {}
    for name in {**old, **new}:
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        element, member = f"f:{name}", field_type.member(name)
        if before is None:
            changed[element] = _everything(member, after)
        elif after is None:
            removed[element] = _everything(member, before)
        else:
            within = _differences_within(member, before, after)
            if within is None:
                changed[element] = {}
                continue
            if within.changed:
                changed[element] = within.changed
            if within.removed:
                removed[element] = within.removed
    return Differences(changed, removed)


def _differences_within(field_type: FieldType, old: Any, new: Any) -> Differences | None:
    """None if the value is owned whole."""
    if field_type.form in {"object", "map"} and isinstance(old, dict) and isinstance(new, dict):
        return differences(field_type, old, new)
    if field_type.form in {"items", "set"} and isinstance(old, list) and isinstance(new, list):
        return _list_differences(field_type, old, new)
    return None


def _list_differences(field_type: FieldType, old: list[Any], new: list[Any]) -> Differences:
    before = {field_type.element(item): item for item in old}
    after = {field_type.element(item): item for item in new}
    changed, removed = {}, {}
    for element, item in after.items():
        if element not in before:
            changed[element] = _everything(field_type.item, item)
        elif before[element] != item:
            within = _differences_within(field_type.item, before[element], item)
            if within is None:
                changed[element] = {}
                continue
            if within.changed:
                changed[element] = within.changed
            if within.removed:
                removed[element] = within.removed
    removed |= {
        element: _everything(field_type.item, item)
        for element, item in before.items()
        if element not in after
    }
    return Differences(changed, removed)


def everything(field_type: FieldType, obj: Json) -> FieldSet:
    """All fields of an object that can be owned, in order; of metadata only what is in it."""
    fields = {}
    for name, value in sorted(ownable(obj).items()):
        node = _everything(field_type.member(name), value)
        if name != "metadata":
            fields[f"f:{name}"] = node
        elif node:
            fields["f:metadata"] = below(node)
    return fields


def _everything(field_type: FieldType, value: Any) -> FieldSet:
    """A value that appears or goes: it and all within, in order."""
    form = field_type.form
    if form == "whole" or not value:
        return NOTHING
    node: dict[str, FieldSet] = {ITSELF: NOTHING}
    if form in {"object", "map"} and isinstance(value, dict):
        for name in sorted(value):
            member = field_type.member(name)
            # Most fields are owned whole.
            node[f"f:{name}"] = NOTHING if member.form == "whole" else _everything(member, value[name])
        return node
    if form in {"items", "set"} and isinstance(value, list):
        elements = {field_type.element(item): item for item in value}
        for element in sorted(elements):
            node[element] = _everything(field_type.item, elements[element])
        return node
    return NOTHING
