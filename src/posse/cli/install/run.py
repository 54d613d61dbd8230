"""Asks a cluster which form its groups have, and applies the objects of `posse install` one by one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from posse.cli.problems import Problem
from posse.client.cluster_access import CredentialsError
from posse.client.connection import Connection
from posse.client.credentials import find_credentials
from posse.client.served_versions import ServedVersions
from posse.kinds.discovered import ClusterForm
from posse.kinds.machinery.errors import NOT_FOUND, ApiError
from posse.runtime.remote.applying import apply_object

Json = dict[str, Any]

ANSWER_SECONDS = 5.0


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
            is_ours = await apply_object(connection, obj)
        except ApiError as error:
            absent = f"the cluster has no {obj['kind']} of {obj['apiVersion']}"
            raise Problem(f"{name}: {absent if error.code == NOT_FOUND else error}") from error
        tell(f"{name} applied" if is_ours else f"{name} was installed by others; unchanged")


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
