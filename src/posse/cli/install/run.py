"""Asks a cluster which form its groups have, and applies the objects of `posse install` one by one.

Server-side apply keeps fields that others have added.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from posse.cli.problems import Problem
from posse.client.connection import Call, Connection
from posse.client.credentials import CredentialsError, find_credentials
from posse.client.reading import read, read_object
from posse.client.served_versions import ServedVersions
from posse.installation.objects import LABELS
from posse.installation.set_definitions import SETS
from posse.kinds.discovered import ClusterForm
from posse.kinds.machinery.errors import NOT_FOUND, ApiError

Json = dict[str, Any]

ANSWER_SECONDS = 5.0
_APPLY_PATCH = "application/apply-patch+yaml"
_APPLYING = {"fieldManager": "posse-install", "force": "true"}


class NoClusterError(Problem):
    """No cluster is configured, or it does not answer."""


def form_of_cluster(kubeconfig: Path | None, context: str | None) -> ClusterForm:
    """NoClusterError: the cluster cannot be asked."""

    async def ask() -> ClusterForm:
        async with _connected(kubeconfig, context) as connection:
            return await form_over(connection)

    return asyncio.run(ask())


def apply_objects(
    kubeconfig: Path | None, context: str | None, objects: Iterable[Json], tell: Callable[[str], None]
) -> None:
    async def act() -> None:
        async with _connected(kubeconfig, context) as connection:
            await apply_over(connection, objects, tell)

    asyncio.run(act())


async def form_over(connection: Connection) -> ClusterForm:
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await ServedVersions(connection).form() or ClusterForm.CRD
    except TimeoutError as error:
        silence = f"no answer from {connection.server} within {ANSWER_SECONDS:.0f} seconds"
        raise NoClusterError(connection.trouble or silence) from error
    except ApiError as error:
        raise NoClusterError(str(error)) from error


async def apply_over(connection: Connection, objects: Iterable[Json], tell: Callable[[str], None]) -> None:
    for obj in objects:
        name = f"{obj['kind'].lower()}/{obj['metadata']['name']}"
        try:
            is_ours = await _apply(connection, obj)
        except ApiError as error:
            absent = f"the cluster has no {obj['kind']} of {obj['apiVersion']}"
            raise Problem(f"{name}: {absent if error.code == NOT_FOUND else error}") from error
        tell(f"{name} applied" if is_ours else f"{name} was installed by others; unchanged")


async def _apply(connection: Connection, obj: Json) -> bool:
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


@asynccontextmanager
async def _connected(kubeconfig: Path | None, context: str | None) -> AsyncIterator[Connection]:
    connection = Connection(find_credentials(kubeconfig, context))
    try:
        await connection.open()
    except CredentialsError as error:
        raise NoClusterError(str(error)) from error
    try:
        yield connection
    finally:
        await connection.close()


def path_of(obj: Json) -> str:
    """All installed kinds form their plural with s or ies."""
    version, metadata = obj["apiVersion"], obj["metadata"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    scope = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    kind = obj["kind"].lower()
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
    return f"{root}{scope}/{plural}/{metadata['name']}"
