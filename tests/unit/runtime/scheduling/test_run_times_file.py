"""Learned run times outlive the scheduler."""

import asyncio
import contextlib

from posse.engine.events import KnownRuns
from posse.runtime.scheduling.run_times_file import NAME, RunTimesFile

RUNS = (KnownRuns("team", {"cpu": 1000}, 2, (60.0, 90.5)), KnownRuns("", None, 0, (60.0,)))


def test_what_is_known_at_the_end_is_read_at_the_next_start(tmp_path):
    async def scenario():
        async def known():
            return RUNS

        kept = asyncio.create_task(RunTimesFile(tmp_path).run(known))
        await asyncio.sleep(0)
        kept.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await kept

    asyncio.run(scenario())
    assert RunTimesFile(tmp_path).read() == RUNS


def test_without_a_file_nothing_is_known(tmp_path, caplog):
    assert RunTimesFile(tmp_path).read() == ()
    assert not caplog.records


def test_a_file_that_cannot_be_read_costs_what_was_learned_and_no_more(tmp_path, caplog):
    (tmp_path / NAME).write_text("[{")
    assert RunTimesFile(tmp_path).read() == ()
    assert "learned run times are lost" in caplog.text


def test_a_folder_that_cannot_be_written_is_told(tmp_path, caplog):
    RunTimesFile(tmp_path / "missing").write(RUNS)
    assert "learned run times are not kept" in caplog.text
