"""The entries of metadata.managedFields: who owns which fields, and how a write changes that.

Writers take over what they change. Several may own a field as long as they agree on its value.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from posse.kinds.apply.field_sets import NOTHING, FieldSet, difference, in_order, intersection, union
from posse.kinds.apply.fields import Differences

Json = dict[str, Any]
APPLY, UPDATE = "Apply", "Update"
BEFORE_FIRST_APPLY = "before-first-apply"
# More entries of updates are joined, the oldest first, as Kubernetes does.
MAX_UPDATES = 10
_ANCIENT = "ancient-changes"


class Claim(NamedTuple):
    """In whose name a write is made, and how."""

    manager: str
    operation: str
    api_version: str
    subresource: str
    time: str

    def is_of(self, entry: Json) -> bool:
        """Whether an entry is the writer's own; that of an apply is so in whichever version."""
        return (
            entry.get("manager") == self.manager
            and entry.get("operation") == self.operation
            and entry.get("subresource", "") == self.subresource
            and (self.operation == APPLY or entry.get("apiVersion") == self.api_version)
        )

    def entry(self, fields: FieldSet) -> Json:
        """The fields are in order."""
        entry = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        }
        return entry | ({"subresource": self.subresource} if self.subresource else {})


class OwnedByAnother(NamedTuple):
    """Fields of an entry to which a write would give another value."""

    entry: Json
    fields: FieldSet


DifferencesIn = Callable[[str], Differences]
"""What a write changes, as the object looks in an apiVersion."""


def fields_of_entry(entry: Json) -> FieldSet:
    fields: FieldSet = entry.get("fieldsV1") or NOTHING
    return fields


def own_fields(entries: Iterable[Json], claim: Claim) -> FieldSet:
    return next((fields_of_entry(entry) for entry in entries if claim.is_of(entry)), NOTHING)


def after_update(entries: Sequence[Json], claim: Claim, differences_in: DifferencesIn) -> list[Json]:
    """Return the entries after a write that takes over all that it changes."""
    changed = differences_in(claim.api_version).changed
    others = without_changed((each for each in entries if not claim.is_of(each)), differences_in)
    mine = [each for each in entries if claim.is_of(each)]
    kept = difference(own_fields(mine, claim), differences_in(claim.api_version).removed)
    if changed:
        return arranged([*others, claim.entry(in_order(union(kept, changed)))])
    return arranged([*others, *({**each, "fieldsV1": in_order(kept)} for each in mine if kept)])


def without_changed(entries: Iterable[Json], differences_in: DifferencesIn) -> list[Json]:
    """Return the entries of others without what was changed or removed; empty ones go."""
    result = []
    for entry in entries:
        found = differences_in(entry.get("apiVersion", ""))
        before = fields_of_entry(entry)
        if before and not found.changed and not found.removed:
            result.append(entry)
            continue
        fields = difference(difference(before, found.changed), found.removed)
        if fields:
            result.append(entry if fields == before else {**entry, "fieldsV1": in_order(fields)})
    return result


def owned_by_others(
    entries: Iterable[Json], claim: Claim, differences_in: DifferencesIn
) -> list[OwnedByAnother]:
    found = []
    for entry in entries:
        if not claim.is_of(entry):
            changed = differences_in(entry.get("apiVersion", "")).changed
            if fields := intersection(fields_of_entry(entry), changed):
                found.append(OwnedByAnother(entry, fields))
    return found


def arranged(entries: Sequence[Json]) -> list[Json]:
    """Order entries as Kubernetes does, and join the oldest where there are too many updates."""
    ordered = sorted(
        entries,
        key=lambda entry: (entry["operation"], entry.get("time", ""), entry.get("manager", "")),
    )
    updates = [entry for entry in ordered if entry["operation"] == UPDATE]
    surplus = updates[: max(0, len(updates) - MAX_UPDATES + 1)] if len(updates) > MAX_UPDATES else []
    if not surplus:
        return ordered
    # Entries of updates follow those of applies, the oldest first.
    applies, kept = ordered[: len(ordered) - len(updates)], updates[len(surplus) :]
    by_version: dict[str, list[Json]] = {}
    for entry in surplus:
        by_version.setdefault(entry.get("apiVersion", ""), []).append(entry)
    ancient = [_ancient(version, joined) for version, joined in by_version.items()]
    return [*applies, *ancient, *kept]


def _ancient(api_version: str, entries: Sequence[Json]) -> Json:
    """One entry in place of several, which are sorted by time."""
    claim = Claim(_ANCIENT, UPDATE, api_version, "", entries[-1].get("time", ""))
    return claim.entry(in_order(union(*map(fields_of_entry, entries))))


def is_reset(sent: Any) -> bool:
    """Whether a client asks to forget all owners: by an empty list, or one empty entry."""
    return sent in ([], [{}])


def are_entries(sent: Any) -> bool:
    """Whether what a client sent can be taken as the entries of an object."""
    return isinstance(sent, list) and bool(sent) and all(_is_entry(entry) for entry in sent)


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("operation") in (APPLY, UPDATE)
        and all(
            isinstance(entry.get(name, ""), str) for name in ("manager", "apiVersion", "subresource", "time")
        )
        and _is_field_set(entry.get("fieldsV1", {}))
    )


def _is_field_set(node: Any) -> bool:
    return isinstance(node, dict) and all(
        (name == "." or name[:2] in {"f:", "k:", "v:", "i:"}) and _is_field_set(below)
        for name, below in node.items()
    )
