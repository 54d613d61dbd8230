"""Applies an object of an installation. Server-side apply keeps fields that others have added."""

import json

from posse.client.connection import Call, Connection
from posse.client.reading import read, read_object
from posse.installation.objects import LABELS
from posse.installation.set_definitions import SETS
from posse.kinds.machinery.errors import NOT_FOUND, ApiError
from posse.kinds.machinery.kind import Json

_APPLY_PATCH = "application/apply-patch+yaml"
_APPLYING = {"fieldManager": "posse-install", "force": "true"}


async def apply_object(connection: Connection, obj: Json) -> bool:
    """Apply the object and return True, or leave it to its owner and return False."""
    if await _is_of_others(connection, obj):
        return False
    await connection.ask(Call("PATCH", path_of(obj), _APPLYING, json.dumps(obj).encode(), _APPLY_PATCH))
    return True


async def _is_of_others(connection: Connection, obj: Json) -> bool:
    """Return whether another project installed this definition; ours must not overwrite it."""
    if obj["metadata"]["name"] not in {kind.group_resource for kind in SETS}:
        return False
    try:
        found = read(await connection.ask(Call("GET", path_of(obj))), read_object)
    except ApiError as error:
        if error.code != NOT_FOUND:
            raise
        return False
    return not LABELS.items() <= (found["metadata"].get("labels") or {}).items()


def path_of(obj: Json) -> str:
    """All installed kinds form their plural with s or ies."""
    version, metadata = obj["apiVersion"], obj["metadata"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    scope = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    kind = obj["kind"].lower()
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
    return f"{root}{scope}/{plural}/{metadata['name']}"
