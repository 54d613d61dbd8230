"""Which resource a request path means.

Kubernetes paths are regular enough to be read by splitting them: /api/VERSION or /apis/GROUP/VERSION, then
optionally namespaces/NAMESPACE, then PLURAL[/NAME[/SUBRESOURCE]]. Whether the object exists is not known
here.
"""

from dataclasses import dataclass
from urllib.parse import unquote

from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import find


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """A path below a served resource; `name` is empty for a collection, `namespace` for all or none."""

    kind: Kind
    version: str
    namespace: str
    name: str
    subresource: str


def parse_resource_path(raw_path: str) -> ResourcePath | None:
    """Read a percent-encoded path; nothing when it is not below a served resource."""
    segments = raw_path.strip("/").split("/")
    if "%" in raw_path:
        segments = [unquote(segment) for segment in segments]
    if segments[0] == "api" and len(segments) > 2:
        return _below_version("", segments[1], segments[2:])
    if segments[0] == "apis" and len(segments) > 3:
        return _below_version(segments[1], segments[2], segments[3:])
    return None


def _below_version(group: str, version: str, rest: list[str]) -> ResourcePath | None:
    if "" in rest:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and not _is_namespace_subresource(group, version, rest):
        namespace, rest = rest[1], rest[2:]
    kind = find(group, version, rest[0])
    if kind is None or len(rest) > 3:
        return None
    name, subresource = (*rest[1:], "", "")[:2]
    if not _scope_fits(kind, namespace, name) or not _is_served(kind, subresource):
        return None
    return ResourcePath(kind, version, namespace, name, subresource)


def _is_namespace_subresource(group: str, version: str, rest: list[str]) -> bool:
    """Tell /namespaces/NAME/status (of a namespace) from /namespaces/NAME/pods (in a namespace)."""
    kind = find(group, version, "namespaces")
    return kind is not None and len(rest) == 3 and _is_served(kind, rest[2])


def _scope_fits(kind: Kind, namespace: str, name: str) -> bool:
    if namespace:
        return kind.namespaced
    # Without a namespace, namespaced objects can be listed (over all namespaces) but not named.
    return not (kind.namespaced and name)


def _is_served(kind: Kind, subresource: str) -> bool:
    if not subresource:
        return True
    return (subresource == "status" and kind.has_status) or subresource in kind.subresources
