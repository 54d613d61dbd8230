"""Puts objects into a cluster that should be there: simulated nodes, examples.

What exists already is left as it is, so a restart changes nothing.
"""

import asyncio
from collections.abc import Sequence

from posse.kinds.machinery.errors import ApiError
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import NODE
from posse.kubelet.nodes import Level, missing_nodes
from posse.transport.transport import Transport

# Enough for one group commit to be worth its while, little enough to stay responsive in between.
CREATED_TOGETHER = 1000
ALREADY_EXISTS = "AlreadyExists"

# What goes where: kind, namespace ("" for none), object.
Item = tuple[Kind, str, Json]


async def ensure_nodes(transport: Transport, count: int, topology: Sequence[Level], now: float) -> None:
    """Create those of the first `count` simulated nodes that do not exist."""
    existing = [node["metadata"]["name"] for node in (await transport.list(NODE)).items]
    missing = missing_nodes(count, topology, existing, now)
    await create_missing(transport, [(NODE, "", node) for node in missing])


async def create_missing(transport: Transport, items: Sequence[Item]) -> None:
    for start in range(0, len(items), CREATED_TOGETHER):
        batch = items[start : start + CREATED_TOGETHER]
        await asyncio.gather(*(_create(transport, item) for item in batch))


async def _create(transport: Transport, item: Item) -> None:
    try:
        await transport.create(*item)
    except ApiError as error:
        if error.reason != ALREADY_EXISTS:
            raise
