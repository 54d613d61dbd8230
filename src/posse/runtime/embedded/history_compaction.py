"""Past states are kept for five minutes, as etcd does for kube-apiserver, and their memory is returned."""

import asyncio
from collections import deque

from posse.runtime.process.memory_return import LARGE_SERVER_BYTES, return_memory
from posse.store.store import Store

KEPT_SECONDS = 300.0
_COMPACTIONS = 10
"""While a state is kept."""


async def compact_history(store: Store, kept_seconds: float = KEPT_SECONDS) -> None:
    """Forget what is older, again and again."""
    versions = deque([store.version])
    while True:
        await asyncio.sleep(kept_seconds / _COMPACTIONS)
        versions.append(store.version)
        if len(versions) > _COMPACTIONS and store.compact(versions.popleft()):
            await asyncio.to_thread(return_memory, LARGE_SERVER_BYTES)
