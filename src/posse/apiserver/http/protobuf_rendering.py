"""Stored objects as protobuf, for clients that take nothing else.

A list is its items one behind the other, a watch stream a sequence of frames with their length in front.
"""

from posse.apiserver.http.negotiation import PLAIN
from posse.apiserver.http.rendering import View, list_metadata
from posse.apiserver.requests import ListPage
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.wire.messages import find_message, meta_message
from posse.kinds.wire.reading import PROTOBUF
from posse.kinds.wire.values import bytes_field
from posse.kinds.wire.writing import enveloped, write_message, write_object
from posse.store.change_log import StoreEvent

_LENGTH_BYTES = 4
_META_VERSION = "meta.k8s.io/v1"


def has_protobuf(kind: Kind, version: str) -> bool:
    return find_message(kind.api_version_of(version), kind.name) is not None


class ProtobufView(View):
    @property
    def content_type(self) -> str:
        return PROTOBUF

    @property
    def stream_type(self) -> str:
        return f"{PROTOBUF};stream=watch"

    def object(self, obj: Json) -> bytes:
        return write_object(obj if obj.get("kind") == "Status" else self._shaped(obj))

    def listing(self, listing: ListPage) -> bytes:
        api_version, kind = self.kind.api_version_of(self.version), self.kind.name
        message = find_message(api_version, kind)
        if self.representation is not PLAIN or message is None:
            api_version, kind = _META_VERSION, "PartialObjectMetadata"
            message = meta_message(kind)
        metadata = write_message(meta_message("ListMeta"), list_metadata(listing))
        items = (write_message(message, self._shaped(stored.obj)) for stored in listing.stored)
        content = [bytes_field(1, metadata), *(bytes_field(2, item) for item in items)]
        return enveloped(api_version, f"{kind}List", b"".join(content))

    def event(self, event: StoreEvent, *, headers: bool) -> bytes:
        del headers  # Of Tables only.
        return _frame(event.type, self.object(event.obj))

    def failure_event(self, status: Json) -> bytes:
        return _frame("ERROR", write_object(status))

    def scale(self, scale: Json) -> bytes:
        return write_object(scale)

    def as_is(self, body: Json) -> bytes:
        return write_object(body)


def _frame(event_type: str, obj: bytes) -> bytes:
    content = bytes_field(1, event_type.encode()) + bytes_field(2, bytes_field(1, obj))
    return len(content).to_bytes(_LENGTH_BYTES, "big") + content
