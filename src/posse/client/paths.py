"""Where objects are in the API of a cluster."""

from urllib.parse import quote

from posse.kinds.machinery.kind import Kind


def path_of(kind: Kind, version: str, namespace: str | None, name: str = "", subresource: str = "") -> str:
    """Return the path of an object, or of the collection without a name; namespace None means all."""
    root = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
    scope = f"/namespaces/{quote(namespace, safe='')}" if kind.namespaced and namespace else ""
    item = f"/{quote(name, safe='')}" if name else ""
    part = f"/{subresource}" if subresource else ""
    return f"{root}{scope}/{kind.plural}{item}{part}"
