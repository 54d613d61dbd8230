"""What the client wants to read, from its Accept header: plain objects, a Table, or metadata only.

Clients list alternatives in order of preference. Objects are kept as JSON, so that is what all get who list
it in any place; protobuf is for those who take nothing else.
"""

from dataclasses import dataclass
from functools import lru_cache

from posse.kinds.wire.reading import PROTOBUF

JSON = "application/json"
_JSON_RANGES = frozenset({JSON, "application/*", "*/*"})
_PROTOBUF_RANGES = frozenset({PROTOBUF})


@dataclass(frozen=True, slots=True)
class Representation:
    """`form` is the kind to answer with (`Table`, ...), empty for the object itself."""

    form: str
    group: str
    version: str

    @property
    def content_type(self) -> str:
        if self.form == "APIGroupDiscoveryList":
            return f"{JSON};g={self.group};v={self.version};as={self.form}"
        return JSON


PLAIN = Representation("", "", "")
TABLE = Representation("Table", "meta.k8s.io", "v1")
# As clients before Kubernetes 1.15 ask for it.
TABLE_BETA = Representation("Table", "meta.k8s.io", "v1beta1")
METADATA = Representation("PartialObjectMetadata", "meta.k8s.io", "v1")
METADATA_LIST = Representation("PartialObjectMetadataList", "meta.k8s.io", "v1")
DISCOVERY = Representation("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2")


@lru_cache(maxsize=256)
def negotiate(accept: str, offered: tuple[Representation, ...]) -> Representation | None:
    """Return the first accepted one of PLAIN and those offered, as the very object; nothing when none is."""
    return _first(accept, offered, _JSON_RANGES) if accept else PLAIN


@lru_cache(maxsize=256)
def negotiate_protobuf(accept: str, offered: tuple[Representation, ...]) -> Representation | None:
    return _first(accept, offered, _PROTOBUF_RANGES)


def _first(accept: str, offered: tuple[Representation, ...], ranges: frozenset[str]) -> Representation | None:
    for alternative in accept.split(","):
        media_type, _, parameters = alternative.strip().partition(";")
        if media_type.strip().lower() not in ranges:
            continue
        wanted = _representation(parameters)
        for representation in (PLAIN, *offered):
            if wanted == representation:
                return representation
    return None


def _representation(parameters: str) -> Representation:
    pairs = (item.partition("=") for item in parameters.split(";"))
    named = {key.strip().lower(): value.strip() for key, _, value in pairs}
    if "as" not in named:
        return PLAIN
    return Representation(named["as"], named.get("g", ""), named.get("v", ""))
