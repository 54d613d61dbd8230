"""Which objects a list, a watch or a collection delete is about, and paging through long lists.

All pages show the version of the first page, and so does a list that asks for an exact version: what changed
since is undone. Once those changes are forgotten, the version has expired.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from posse.apiserver.kind_store import resource_of
from posse.apiserver.requests import ListPage, Selection
from posse.kinds.machinery.errors import ApiError, FieldError, bad_request, expired
from posse.kinds.machinery.kind import Json, Kind
from posse.model.selectors import SelectorError, field_text, parse_field_selector, parse_label_selector
from posse.store.errors import HistoryExpired
from posse.store.objects import Stored
from posse.store.store import Place, Store

Predicate = Callable[[Json], bool]
ALWAYS_SELECTABLE = ("metadata.name", "metadata.namespace")
CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a "
    "new list without the continue parameter, or use the continue token in this response to retrieve "
    "the remainder of the results. Continuing with the provided token results in an inconsistent list - "
    "objects that were created, modified, or deleted between the time the first chunk was returned and "
    "now may show up in the list."
)
# In a token: go on behind its place, with what is there by now.
LATEST = 0


class _Token(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    version: int
    place: Place


def predicate(kind: Kind, selection: Selection) -> Predicate | None:
    """Return what objects must fulfil; None when all do."""
    if not selection.labels and not selection.fields:
        return None
    try:
        labels = parse_label_selector(selection.labels)
        fields = parse_field_selector(selection.fields)
    except SelectorError as error:
        raise bad_request(f"unable to parse requirement: {error}") from error
    selectable = (*ALWAYS_SELECTABLE, *kind.selectable_fields)
    for term in fields.terms:
        if term.path not in selectable:
            offers = ", ".join(selectable)
            raise bad_request(
                f"field label not supported: {term.path}; {kind.plural} can be selected by {offers}"
            )

    def text_of(obj: Mapping[str, Any], path: str) -> str:
        return field_text(obj, path) or kind.absent_fields.get(path, "")

    def accepts(obj: Json) -> bool:
        return labels.matches(obj["metadata"].get("labels") or {}) and fields.matches(obj, text_of)

    return accepts


def listing(store: Store, kind: Kind, namespace: str | None, selection: Selection) -> ListPage:
    accepts = predicate(kind, selection)
    _check_match(selection)
    version, after = _start(store, selection)
    try:
        found: Sequence[Stored] = store.list_at(resource_of(kind), version, namespace, after)
    except HistoryExpired as error:
        raise (_outdated(after) if after else expired(str(error))) from error
    if accepts:
        found = [stored for stored in found if accepts(stored.obj)]
    if not selection.limit or len(found) <= selection.limit:
        return ListPage(found, str(version))
    page = found[: selection.limit]
    # Kubernetes counts the rest only where no selector would have to look at all of it.
    remaining = None if accepts else len(found) - len(page)
    return ListPage(page, str(version), _token(version, _place_of(page[-1])), remaining)


def _start(store: Store, selection: Selection) -> tuple[int, Place | None]:
    """Return the version that the list shows, and the place behind which it begins."""
    if selection.continue_token:
        token = _read_token(selection.continue_token)
        if token.version > store.version:
            raise _outdated(token.place)
        return token.version or store.version, token.place
    asked = int(selection.resource_version or 0)
    if asked > store.version:
        message = f"Too large resource version: {asked}, current: {store.version}"
        causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
        raise ApiError(504, "Timeout", message, {"causes": causes, "retryAfterSeconds": 1})
    return asked if selection.resource_version_match == "Exact" else store.version, None


def _check_match(selection: Selection) -> None:
    """Refuse combinations that Kubernetes does not know."""
    match, version = selection.resource_version_match, selection.resource_version
    if not match:
        return
    if selection.continue_token:
        problem = "resourceVersionMatch is forbidden when continue is provided"
    elif not version:
        problem = "resourceVersionMatch is forbidden unless resourceVersion is provided"
    elif match == "Exact" and version == "0":
        problem = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
    else:
        return
    error = FieldError.forbidden("resourceVersionMatch", problem)
    causes = [{"reason": str(error.type), "message": error.body(), "field": error.field}]
    details = {"group": "meta.k8s.io", "kind": "ListOptions", "causes": causes}
    raise ApiError(422, "Invalid", f'ListOptions.meta.k8s.io "" is invalid: {error}', details)


def _outdated(after: Place) -> ApiError:
    """Refuse a token whose version is forgotten, with one that goes on at the same place."""
    return expired(CONTINUE_EXPIRED, continue_token=_token(LATEST, after))


def _place_of(last: Stored) -> Place:
    metadata = last.obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _token(version: int, place: Place) -> str:
    token = _Token(version, place)
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def _read_token(text: str) -> _Token:
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars="-_", validate=True)
        return msgspec.json.decode(raw, type=_Token)
    except (ValueError, msgspec.DecodeError) as error:
        raise bad_request("continue key is not valid: it must be a token from an earlier page") from error
