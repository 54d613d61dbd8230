"""The subresource scale: the size of an object, apart from everything else about it.

Objects that can be scaled keep the size they are to have in spec.replicas and the one they have in
status.replicas.
"""

from collections.abc import Iterator

from posse.kinds.machinery.kind import Json, Kind

SCALE_VERSION = "autoscaling/v1"
# What belongs to the object itself; the rest of its metadata is not part of its size.
IDENTITY = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def selector_of(obj: Json) -> str:
    """Return the label selector in the spec of an object, as it is written in a query."""
    return ",".join(_requirements((obj.get("spec") or {}).get("selector") or {}))


def selector_in_status(obj: Json) -> str:
    """For kinds whose controller says how their pods are found."""
    return str((obj.get("status") or {}).get("hpaPodSelector") or "")


def _requirements(selector: Json) -> Iterator[str]:
    for key, value in sorted((selector.get("matchLabels") or {}).items()):
        yield f"{key}={value}"
    for wanted in selector.get("matchExpressions") or ():
        key, values = wanted["key"], ",".join(wanted.get("values") or ())
        words = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}
        yield words.get(wanted["operator"], f"!{key}")


def scale_of(kind: Kind, obj: Json) -> Json:
    """Return the Scale of an object whose kind has that subresource."""
    metadata = {name: obj["metadata"][name] for name in IDENTITY if name in obj["metadata"]}
    status: Json = {"replicas": (obj.get("status") or {}).get("replicas") or 0}
    if kind.scale_selector is not None and (selector := kind.scale_selector(obj)):
        status["selector"] = selector
    spec = {"replicas": (obj.get("spec") or {}).get("replicas") or 0}
    return {
        "kind": "Scale",
        "apiVersion": SCALE_VERSION,
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


def rescaled(obj: Json, scale: Json) -> Json:
    """Return the object as it is to be, of the size that the Scale asks for, if it is still the object that
    was seen.
    """
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    metadata = obj["metadata"]
    for name in ("uid", "resourceVersion"):
        if asked := (scale.get("metadata") or {}).get(name):
            metadata = metadata | {name: asked}
    return obj | {"metadata": metadata, "spec": (obj.get("spec") or {}) | {"replicas": replicas}}
