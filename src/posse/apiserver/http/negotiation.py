"""What the client wants to read, from its Accept header: plain objects, a Table, or metadata only.

Clients list alternatives in order of preference and expect the first one the server knows. Only JSON is
spoken: protobuf is passed over where JSON is listed too, and refused where it is not.
"""

from dataclasses import dataclass
from functools import lru_cache

JSON = "application/json"
_JSON_RANGES = frozenset({JSON, "application/*", "*/*"})


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
METADATA = Representation("PartialObjectMetadata", "meta.k8s.io", "v1")
METADATA_LIST = Representation("PartialObjectMetadataList", "meta.k8s.io", "v1")
DISCOVERY = Representation("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2")


@lru_cache(maxsize=256)
def negotiate(accept: str, offered: tuple[Representation, ...]) -> Representation | None:
    """Return the first accepted one of PLAIN and those offered, as the very object; nothing when none is."""
    if not accept:
        return PLAIN
    for alternative in accept.split(","):
        media_type, _, parameters = alternative.strip().partition(";")
        if media_type.strip().lower() not in _JSON_RANGES:
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
