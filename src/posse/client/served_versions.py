"""The version of a kind that this cluster serves; cached, and asked for again after a failure.

Clusters are upgraded, and get custom resources, while we run.
"""

import asyncio
import time

from posse.client.connection import Call, Connection
from posse.client.reading import read, read_object, unreadable
from posse.client.repeating import repeated
from posse.kinds.discovered import GROUPS_PATH, ClusterForm, Discovered, paths_to_ask
from posse.kinds.machinery.errors import NOT_FOUND, ApiError, no_such_resource
from posse.kinds.machinery.kind import Json, Kind

ASK_AGAIN_SECONDS = 20.0


class ServedVersions:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._asking = asyncio.Lock()
        self._answer = Discovered([])
        self._asked_at = float("-inf")

    async def of(self, kind: Kind) -> str:
        """ApiError 404: it is not served, or was not a moment ago."""
        version = self._answer.version_of(kind)
        if version is None:
            version = (await self._asked()).version_of(kind)
        if version is None:
            raise no_such_resource()
        return version

    async def form(self) -> ClusterForm | None:
        return (await self._asked()).form

    def doubt(self) -> None:
        """Something was not there that should be."""
        self._answer, self._asked_at = Discovered([]), float("-inf")

    async def _asked(self) -> Discovered:
        async with self._asking:
            if time.monotonic() - self._asked_at > ASK_AGAIN_SECONDS:
                self._answer = await self._ask()
                self._asked_at = time.monotonic()
            return self._answer

    async def _ask(self) -> Discovered:
        """A proxy before a server that is down may answer 404 everywhere; that is no proof."""
        groups = await self._document(GROUPS_PATH)
        try:
            core, *others = paths_to_ask(groups or {})
            documents = await asyncio.gather(self._document(core), *map(self._document, others))
            if groups is None or documents[0] is None:
                raise unreadable(f"it has no {GROUPS_PATH} or no {core}")
            return Discovered(document for document in documents if document is not None)
        except (KeyError, TypeError, AttributeError) as error:
            raise unreadable(f"what it offers lacks {error}") from error

    async def _document(self, path: str) -> Json | None:
        """What is offered may be gone, or not there yet, when it is asked for."""

        async def ask() -> Json:
            return read(await self._connection.ask(Call("GET", path)), read_object)

        try:
            return await repeated(ask)
        except ApiError as error:
            if error.code == NOT_FOUND:
                return None
            raise
