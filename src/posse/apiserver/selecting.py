"""Which objects a list, a watch or a collection delete is about, and paging through long lists.

Pages are cut from the present, not from a kept snapshot, yet all carry the version of the first page. A
client that then watches from there is told of everything that changed between its pages, so it ends up right.
Once the changes since the first page are forgotten that would fail, and the token has expired.
"""

import base64
from collections.abc import Callable, Sequence

import msgspec

from posse.apiserver.kind_store import resource_of
from posse.apiserver.requests import ListPage, Selection
from posse.kinds.machinery.errors import ApiError, bad_request, expired
from posse.kinds.machinery.kind import Json, Kind
from posse.model.selectors import SelectorError, field_text, parse_field_selector, parse_label_selector
from posse.store.objects import Stored
from posse.store.store import Place, Store

Predicate = Callable[[Json], bool]
ALWAYS_SELECTABLE = ("metadata.name", "metadata.namespace")
CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. "
    "You must start a new list without the continue parameter."
)


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

    def accepts(obj: Json) -> bool:
        return labels.matches(obj["metadata"].get("labels") or {}) and fields.matches(obj, field_text)

    return accepts


def listing(store: Store, kind: Kind, namespace: str | None, selection: Selection) -> ListPage:
    accepts = predicate(kind, selection)
    version, after = _start(store, kind, selection)
    found: Sequence[Stored] = store.list(resource_of(kind), namespace, after)
    if accepts:
        found = [stored for stored in found if accepts(stored.obj)]
    if not selection.limit or len(found) <= selection.limit:
        return ListPage(found, str(version))
    page = found[: selection.limit]
    # Kubernetes counts the rest only where no selector would have to look at all of it.
    remaining = None if accepts else len(found) - len(page)
    return ListPage(page, str(version), _token(version, page[-1]), remaining)


def _start(store: Store, kind: Kind, selection: Selection) -> tuple[int, Place | None]:
    if not selection.continue_token:
        _check_version(store, selection)
        return store.version, None
    token = _read_token(selection.continue_token)
    if not store.remembers(resource_of(kind), token.version):
        raise expired(CONTINUE_EXPIRED)
    return token.version, token.place


def _check_version(store: Store, selection: Selection) -> None:
    asked = int(selection.resource_version or 0)
    if asked > store.version:
        message = f"Too large resource version: {asked}, current: {store.version}"
        causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
        raise ApiError(504, "Timeout", message, {"causes": causes, "retryAfterSeconds": 1})
    if selection.resource_version_match == "Exact" and asked != store.version:
        raise expired(f"The resourceVersion for the provided list is too old: {asked} ({store.version})")


def _token(version: int, last: Stored) -> str:
    metadata = last.obj["metadata"]
    token = _Token(version, (metadata.get("namespace", ""), metadata["name"]))
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def _read_token(text: str) -> _Token:
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars="-_", validate=True)
        return msgspec.json.decode(raw, type=_Token)
    except (ValueError, msgspec.DecodeError) as error:
        raise bad_request("continue key is not valid: it must be a token from an earlier page") from error
