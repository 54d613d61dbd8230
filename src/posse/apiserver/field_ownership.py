"""Keeps metadata.managedFields: in whose name a request writes, and what its objects say afterwards.

Only writes in a name are followed. Those of Posse itself have none: they leave owners as they are, and cost
nothing more.
"""

from functools import cache
from typing import Any

from posse.apiserver.requests import WriteOptions
from posse.kinds.apply.applying import Application
from posse.kinds.apply.field_types import type_of
from posse.kinds.apply.fields import Differences, differences, everything, ownable
from posse.kinds.apply.owners import (
    APPLY,
    UPDATE,
    Claim,
    DifferencesIn,
    after_update,
    are_entries,
    is_reset,
)
from posse.kinds.machinery.conversion import to_version
from posse.kinds.machinery.kind import Json, Kind, keep_spec
from posse.model.timestamps import format_timestamp

OWNERS = "managedFields"
Owners = list[Json]


def owners_of(obj: Json) -> list[Json]:
    entries: list[Json] = obj["metadata"].get(OWNERS) or []
    return entries


def without_owners(obj: Json) -> Json:
    """The object without its entries, which may be far larger than the rest of it."""
    return {**obj, "metadata": {name: item for name, item in obj["metadata"].items() if name != OWNERS}}


def application(
    kind: Kind, version: str, config: Json, options: WriteOptions, subresource: str, now: float
) -> Application:
    claim = Claim(
        options.field_manager, APPLY, kind.api_version_of(version), subresource, format_timestamp(now)
    )
    return Application(
        type_of(kind, version), config, claim, options.force, _unwritable(kind, config, subresource)
    )


def own_created(kind: Kind, obj: Json, version: str, options: WriteOptions, now: float) -> None:
    """Give a new object to its creator."""
    if not options.field_manager:
        return
    seen = to_version(kind, obj, version) if version in kind.dialects else obj
    if kind.has_status:
        seen = {name: value for name, value in seen.items() if name != "status"}
    fields = everything(type_of(kind, version), seen)
    claim = Claim(options.field_manager, UPDATE, kind.api_version_of(version), "", format_timestamp(now))
    set_owners(obj, [claim.entry(fields)] if fields else [])


def own_replaced(kind: Kind, new: Json, old: Json, sent: Any, claim: Claim | None) -> None:
    """Follow a write of an object; `sent` are the entries in what the client sent, if any.

    Objects without owners stay without owners until they are applied.
    """
    if claim is None:
        return
    if is_reset(sent):
        set_owners(new, [])
        return
    before = owners_of(old)
    entries = sent if sent != before and are_entries(sent) else before
    if entries:
        set_owners(new, after_update(entries, claim, compared(kind, old, new)))


def update_claim(
    kind: Kind, version: str, options: WriteOptions, subresource: str, now: float
) -> Claim | None:
    if not options.field_manager:
        return None
    api_version = kind.api_version_of(version)
    return Claim(options.field_manager, UPDATE, api_version, subresource, format_timestamp(now))


def compared(kind: Kind, old: Json, new: Json) -> DifferencesIn:
    """Compare two states in storage form, as they look in any version."""

    @cache
    def within(version: str) -> Differences:
        before, after = old, new
        if version in kind.dialects:
            before, after = to_version(kind, old, version), to_version(kind, new, version)
        return differences(type_of(kind, version), ownable(before), ownable(after))

    def differences_in(api_version: str) -> Differences:
        version = api_version.rpartition("/")[2]
        return within(version if version in kind.dialects else kind.storage_version)

    return differences_in


def _unwritable(kind: Kind, obj: Json, subresource: str) -> frozenset[str]:
    """Fields of an object that a request on it, or on a subresource of it, cannot write."""
    if subresource != "status":
        return frozenset({"f:status"} if kind.has_status else ())
    written = {"status", "metadata"} if kind.rules.prepare_status_update is keep_spec else {"status"}
    return frozenset(f"f:{name}" for name in obj.keys() - written)


def set_owners(obj: Json, entries: list[Json]) -> None:
    obj["metadata"].pop(OWNERS, None)
    if entries:
        obj["metadata"][OWNERS] = entries
