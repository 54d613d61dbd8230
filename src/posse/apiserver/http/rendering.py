"""Stored objects as the bytes one client asked for: its version of the kind, and plain, as a Table or
metadata only.

Plain objects in the storage version, which is nearly everything, are sent as the store encoded them: nothing
is decoded or encoded again, and a list is their concatenation.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from posse.apiserver.http.negotiation import JSON, PLAIN, TABLE, Representation
from posse.apiserver.http.tables import bookmark_row, partial_metadata, row, table
from posse.apiserver.requests import ListPage
from posse.kinds.columns import SCALE_COLUMNS
from posse.kinds.machinery.conversion import to_version
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.schemas import is_of_kubernetes
from posse.store.change_log import StoreEvent
from posse.store.objects import Stored

encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class View:
    """How one request looks at one kind. `include` is what a Table's rows carry of their objects."""

    kind: Kind
    version: str
    representation: Representation
    include: str
    clock: Callable[[], float]
    takes_protobuf: bool = False
    """Whether the client would take protobuf as well, in which lists of metadata say no types."""

    @property
    def content_type(self) -> str:
        return JSON

    @property
    def stream_type(self) -> str:
        return JSON

    @property
    def _is_table(self) -> bool:
        return self.representation.form == TABLE.form

    def _table(self, rows: Iterable[Json], metadata: Json, *, headers: bool = True) -> Json:
        version = f"{TABLE.group}/{self.representation.version}"
        return table(self.kind.columns, rows, metadata, headers=headers) | {"apiVersion": version}

    def object(self, obj: Json) -> bytes:
        """Render one object in storage form (or a Status, which is the same for everyone)."""
        if obj.get("kind") == "Status":
            return encode(obj)
        return encode(self._shaped(obj))

    def stored(self, items: Iterable[Stored]) -> list[bytes]:
        if self.representation is PLAIN and self._is_stored_version():
            return [stored.encoded for stored in items]
        return [encode(self._shaped(stored.obj)) for stored in items]

    def listing(self, listing: ListPage) -> bytes:
        metadata = list_metadata(listing)
        if self._is_table:
            rows = (self._row(stored.obj) for stored in listing.stored)
            return encode(self._table(rows, metadata))
        if self.representation is PLAIN:
            head = {"kind": self.kind.list_kind, "apiVersion": self.kind.api_version_of(self.version)}
        else:
            head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
        items = self.stored(listing.stored) if self._types_items() else self._without_types(listing.stored)
        return _joined_list(head | {"metadata": metadata}, items)

    def _types_items(self) -> bool:
        """As Kubernetes: items say what they are where the kind is not one of its own."""
        if self.representation is PLAIN:
            return not is_of_kubernetes(self.kind.group)
        return not self.takes_protobuf

    def _without_types(self, items: Iterable[Stored]) -> list[bytes]:
        if self.representation is not PLAIN or not self._is_stored_version():
            return [encode(_without_type(self._shaped(stored.obj))) for stored in items]
        begin = _type_text(self.kind.api_version, self.kind.name)
        length = len(begin)
        return [
            b"{" + stored.encoded[length:]
            if stored.encoded.startswith(begin)
            else encode(_without_type(stored.obj))
            for stored in items
        ]

    def event(self, event: StoreEvent, *, headers: bool) -> bytes:
        """Render one line of a watch stream; of a Table's lines only the first needs the column headers."""
        if self._is_table:
            is_bookmark = event.type == "BOOKMARK"
            shown = bookmark_row(self.kind.columns, event.obj) if is_bookmark else self._row(event.obj)
            body = encode(self._table([shown], _version_of(event.obj), headers=headers))
        else:
            [body] = self.stored([event.stored])
        return b'{"type":"%b","object":%b}\n' % (event.type.encode(), body)

    def failure_event(self, status: Json) -> bytes:
        """Render the line by which a watch stream says that it ends."""
        return encode({"type": "ERROR", "object": status}) + b"\n"

    def scale(self, scale: Json) -> bytes:
        """Render the size of an object, which has columns of its own."""
        if not self._is_table:
            return encode(scale)
        shown = row(SCALE_COLUMNS, scale, partial_metadata(scale), self.clock())
        return encode(table(SCALE_COLUMNS, [shown], _version_of(scale)))

    def as_is(self, body: Json) -> bytes:
        """Render what has one form only, whatever the client would like best."""
        return encode(body)

    def _shaped(self, obj: Json) -> Json:
        if self._is_table:
            return self._table([self._row(obj)], _version_of(obj))
        if self.representation is PLAIN:
            return self._converted(obj)
        return partial_metadata(obj)

    def _row(self, obj: Json) -> Json:
        included: Any = None
        if self.include == "Metadata":
            included = partial_metadata(obj)
        elif self.include == "Object":
            included = self._converted(obj)
        return row(self.kind.columns, obj, included, self.clock())

    def _converted(self, obj: Json) -> Json:
        return obj if self._is_stored_version() else to_version(self.kind, obj, self.version)

    def _is_stored_version(self) -> bool:
        return self.kind.view_of is None and self.version == self.kind.storage_version


def _joined_list(head: Json, items: Iterable[bytes]) -> bytes:
    return b'%b,"items":[%b]}' % (encode(head)[:-1], b",".join(items))


def _type_text(api_version: str, kind: str) -> bytes:
    """How the text of an object begins that has its type first."""
    return encode({"apiVersion": api_version, "kind": kind})[:-1] + b","


def _without_type(obj: Json) -> Json:
    return {name: value for name, value in obj.items() if name not in ("apiVersion", "kind")}


def list_metadata(listing: ListPage) -> Json:
    metadata: Json = {"resourceVersion": listing.resource_version}
    if listing.continue_token:
        metadata["continue"] = listing.continue_token
    if listing.remaining:
        metadata["remainingItemCount"] = listing.remaining
    return metadata


def _version_of(obj: Json) -> Json:
    return {"resourceVersion": obj.get("metadata", {}).get("resourceVersion", "")}
