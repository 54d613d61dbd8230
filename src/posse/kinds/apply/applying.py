"""Server-side apply: a configuration becomes part of an object, in the name of its manager.

The manager owns what it applies. What it applied before and does no longer is removed, unless others own it.
A field to which others gave another value is a conflict, unless the manager insists.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from posse.kinds.apply.field_sets import NOTHING, FieldSet, difference, in_order, paths, union
from posse.kinds.apply.field_types import FieldType
from posse.kinds.apply.fields import Differences, configured, differences, everything, ownable
from posse.kinds.apply.merging import merged, pruned
from posse.kinds.apply.owners import (
    APPLY,
    BEFORE_FIRST_APPLY,
    UPDATE,
    Claim,
    DifferencesIn,
    OwnedByAnother,
    arranged,
    fields_of_entry,
    own_fields,
    owned_by_others,
    without_changed,
)
from posse.kinds.machinery.errors import CONFLICT, MAX_CAUSES, ApiError

Json = dict[str, Any]
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Its objects may carry the annotation of client-side apply, which is then honoured and kept up to date.
_KUBECTL = "kubectl"
# An object has metadata even if no one owns anything in it.
_NEVER_PRUNED: FieldSet = {"f:metadata": {}}


class Application(NamedTuple):
    """A configuration to apply, in the version of the claim. `ignored` are what the request cannot write."""

    field_type: FieldType
    config: Json
    claim: Claim
    force: bool
    ignored: frozenset[str]


class Applied(NamedTuple):
    obj: Json
    entries: list[Json]


def created_entries(application: Application) -> list[Json]:
    """The entries of an object that did not exist before."""
    merged(application.field_type, {}, application.config)
    return [application.claim.entry(in_order(_claimed(application)))]


def applied(
    application: Application,
    live: Json,
    entries: Sequence[Json],
    differences_to: Callable[[Json], DifferencesIn],
) -> Applied:
    """Apply to the live object. `differences_to` compares it with a new state. ApiError 409: conflicts."""
    field_type, config, claim = application.field_type, application.config, application.claim
    entries = entries or _before_first_apply(field_type, live, claim)
    claimed, before = _claimed(application), own_fields(entries, claim)
    others = [entry for entry in entries if not claim.is_of(entry)]
    new = merged(field_type, live, config)
    if before:
        owned = union(claimed, _NEVER_PRUNED, *map(fields_of_entry, others))
        new = pruned(field_type, new, before, owned)
    differences_in = differences_to(new)
    if not application.force:
        _check(application, live, owned_by_others(others, claim, differences_in))
    is_same = claimed == before and differences_in(claim.api_version) == Differences({}, {})
    mine = (
        [entry for entry in entries if claim.is_of(entry)]
        if is_same
        else [claim.entry(in_order(claimed))] * bool(claimed)
    )
    if claim.manager == _KUBECTL and _last_applied(live):
        new = _with_last_applied(new, config)
    return Applied(new, arranged([*without_changed(others, differences_in), *mine]))


def _claimed(application: Application) -> FieldSet:
    fields = configured(application.field_type, application.config)
    return {element: node for element, node in fields.items() if element not in application.ignored}


def _before_first_apply(field_type: FieldType, live: Json, claim: Claim) -> list[Json]:
    """An object without any known owner belongs to an unknown writer."""
    fields = everything(field_type, live)
    writer = Claim(BEFORE_FIRST_APPLY, UPDATE, claim.api_version, "", claim.time)
    return [writer.entry(fields)] if fields else []


def _check(application: Application, live: Json, found: Sequence[OwnedByAnother]) -> None:
    allowed = NOTHING
    if found and application.claim.manager == _KUBECTL:
        allowed = _unchanged_since_client_side_apply(application, live)
    left = [OwnedByAnother(entry, difference(fields, allowed)) for entry, fields in found]
    conflicts = [(_named(entry), path) for entry, fields in left for path in paths(fields)]
    if conflicts:
        raise apply_conflict(conflicts)


def _unchanged_since_client_side_apply(application: Application, live: Json) -> FieldSet:
    """Fields that kubectl applied without the server: it may take them over."""
    try:
        last = msgspec.json.decode(_last_applied(live) or "{}", type=dict[str, Any])
    except msgspec.DecodeError:
        return NOTHING
    if last.get("apiVersion") != application.claim.api_version:
        return NOTHING
    found = differences(application.field_type, ownable(last), ownable(live))
    return difference(difference(configured(application.field_type, last), found.changed), found.removed)


def _last_applied(obj: Json) -> str:
    return str((obj.get("metadata", {}).get("annotations") or {}).get(LAST_APPLIED, ""))


def _with_last_applied(obj: Json, config: Json) -> Json:
    metadata = config.get("metadata", {})
    annotations = {
        name: value for name, value in (metadata.get("annotations") or {}).items() if name != LAST_APPLIED
    }
    said = {**config, "metadata": {**metadata, "annotations": annotations}}
    text = msgspec.json.encode(said, order="sorted").decode() + "\n"
    kept = {**obj["metadata"].get("annotations", {}), LAST_APPLIED: text}
    return {**obj, "metadata": {**obj["metadata"], "annotations": kept}}


def apply_conflict(conflicts: Sequence[tuple[str, str]]) -> ApiError:
    """Word pairs of an owner and the path of its field as Kubernetes does."""
    shown = conflicts[:MAX_CAUSES]
    if len(conflicts) == 1:
        [(owner, path)] = conflicts
        message = f"Apply failed with 1 conflict: conflict with {owner}: {path}"
    else:
        lines = []
        for owner in sorted({owner for owner, _ in shown}):
            lines.append(f"conflicts with {owner}:")
            lines += [f"- {path}" for each, path in shown if each == owner]
        if len(conflicts) > MAX_CAUSES:
            lines.append(f"and {len(conflicts) - MAX_CAUSES} more")
        message = f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {owner}", "field": path}
        for owner, path in shown
    ]
    return ApiError(CONFLICT, "Conflict", message, {"causes": causes})


def _named(entry: Json) -> str:
    name = f'"{entry.get("manager", "")}"'
    if entry.get("subresource"):
        name += f' with subresource "{entry["subresource"]}"'
    return f"{name} using {entry.get('apiVersion', '')}" if entry.get("operation") != APPLY else name
