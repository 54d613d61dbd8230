"""A few kills with SIGKILL; `make test-crash` makes many."""

import asyncio

from tests.storage.kills import replayed, run
from tests.support.effort import up_to


def test_what_was_acknowledged_survives_sigkill_and_is_decided_again_in_the_same_way(tmp_path):
    ledger, _gangs = asyncio.run(run(tmp_path / "data", kills=max(2, up_to(8)), seed=1))
    assert ledger.writes
    assert ledger.reads
    assert "all equal" in replayed(tmp_path / "data")
