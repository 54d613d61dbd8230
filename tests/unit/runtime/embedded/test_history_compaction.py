import asyncio
import contextlib

import pytest

from posse.runtime.embedded.history_compaction import compact_history
from posse.store.change_log import Interest
from posse.store.errors import HistoryExpired
from posse.store.objects import Key
from posse.store.store import ABSENT, Store


def test_past_states_are_forgotten_once_they_are_old():
    asyncio.run(_follow_the_compaction(Store()))


async def _follow_the_compaction(store):
    before = store.version
    store.put(Key("pods", "default", "a"), {"metadata": {"name": "a"}}, ABSENT)
    store.commit_pending()
    store.publish_committed()
    compaction = asyncio.create_task(compact_history(store, kept_seconds=0.2))
    assert len(store.watch(Interest("pods"), before).drain()) == 1
    await asyncio.wait([compaction], timeout=1)
    compaction.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await compaction
    with pytest.raises(HistoryExpired):
        store.watch(Interest("pods"), before)
