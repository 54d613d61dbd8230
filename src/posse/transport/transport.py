"""The seam through which scheduler, simulated nodes and controllers reach a cluster, whichever it is.

Objects that come back are shared and must not be edited. Every refusal is an ApiError.
"""

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from posse.kinds.machinery.errors import ApiError
from posse.kinds.machinery.kind import Json, Kind
from posse.transport.objects import Listing, Page, WatchEvent
from posse.transport.patches import Patch


class PodBinding(NamedTuple):
    """That a pod shall run on a node; with a `uid` only if it is still the same pod."""

    namespace: str
    name: str
    uid: str
    node: str


class Transport(Protocol):
    async def list(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> Listing: ...

    def pages(self, kind: Kind, *, labels: str = "") -> AsyncIterator[Page]:
        """The same for lists that are too large to hold at once."""

    def watch(
        self,
        kind: Kind,
        resource_version: str,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
    ) -> AsyncIterator[Sequence[WatchEvent]]:
        """Yield changes after a version in batches, so that many at once cost one wake-up.

        It goes on for ever, over interruptions too. An ApiError ends it: what is missed then, only a list can
        tell.
        """

    async def get(self, kind: Kind, namespace: str, name: str) -> Json: ...

    async def create(self, kind: Kind, namespace: str, obj: Json) -> Json: ...

    async def update(
        self, kind: Kind, namespace: str, name: str, obj: Json, *, subresource: str = ""
    ) -> Json: ...

    async def patch(
        self, kind: Kind, namespace: str, name: str, patch: Patch, *, subresource: str = ""
    ) -> Json: ...

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        grace_seconds: int | None = None,
        uid: str = "",
        propagation: str = "",
    ) -> Json: ...

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None: ...

    async def bind_all(self, groups: Sequence[Sequence[PodBinding]]) -> Sequence[Sequence[ApiError | None]]:
        """Bind many at once; the answers stand in the order of the bindings, None for success.

        The bindings of a group are of one namespace. All of them hold or none does, as far as the cluster can
        promise that.
        """
