"""What was learned outlives the scheduler."""

import asyncio
import contextlib
import json
import time

import msgspec
import pytest

from posse.engine.engine import Engine
from posse.engine.events import KnownRuns
from posse.engine.forecast.calibration import Calibration
from posse.engine.options import EngineOptions
from posse.runtime.scheduling.run_times_file import NAME, LearnedSoFar, RunTimesFile
from posse.runtime.scheduling.scheduler import SchedulerLoop

RUNS = (KnownRuns("team", {"cpu": 1000}, 2, (60.0, 90.5)), KnownRuns("", None, 0, (60.0,)))
LEARNED = LearnedSoFar(RUNS, Calibration(0.7, -0.2, 12))


def test_what_is_known_at_the_end_is_read_at_the_next_start(tmp_path):
    async def scenario():
        async def known():
            return LEARNED

        kept = asyncio.create_task(RunTimesFile(tmp_path).run(known))
        await asyncio.sleep(0)
        kept.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await kept

    asyncio.run(scenario())
    assert RunTimesFile(tmp_path).read() == LEARNED


def test_without_a_file_nothing_is_known(tmp_path, caplog):
    assert RunTimesFile(tmp_path).read() == LearnedSoFar()
    assert not caplog.records


def test_a_file_of_runs_alone_as_earlier_versions_wrote_it_is_read(tmp_path, caplog):
    (tmp_path / NAME).write_bytes(msgspec.json.encode(RUNS))
    assert RunTimesFile(tmp_path).read() == LearnedSoFar(RUNS)
    assert not caplog.records


@pytest.mark.parametrize("text", ["[{", "{", "7", '{"runs": [{"namespace": 7}]}', ""])
def test_a_file_that_cannot_be_read_costs_what_was_learned_and_no_more(tmp_path, caplog, text):
    (tmp_path / NAME).write_text(text)
    assert RunTimesFile(tmp_path).read() == LearnedSoFar()
    assert "learned run times are lost" in caplog.text


@pytest.mark.parametrize(
    "margins",
    [
        "wide",
        [1],
        {"early": "wide"},
        {"early": 7.0},
        {"late": -1e300},
        {"learned": -1},
        {"learned": 10**30},
    ],
)
def test_margins_that_make_no_sense_are_left_out_and_runs_are_kept(tmp_path, caplog, margins):
    whole = {"runs": msgspec.to_builtins(RUNS), "margins": margins}
    (tmp_path / NAME).write_text(json.dumps(whole))
    assert RunTimesFile(tmp_path).read() == LearnedSoFar(RUNS)
    assert "learned margins of forecasts are lost" in caplog.text


def test_margins_that_have_changed_are_written_again(tmp_path):
    kept = RunTimesFile(tmp_path)
    kept.write(LEARNED)
    kept.write(LearnedSoFar(RUNS, Calibration(0.8, -0.2, 13)))
    assert RunTimesFile(tmp_path).read().margins == Calibration(0.8, -0.2, 13)


def test_a_folder_that_cannot_be_written_is_told(tmp_path, caplog):
    RunTimesFile(tmp_path / "missing").write(LEARNED)
    assert "learned run times are not kept" in caplog.text


def test_a_scheduler_goes_on_with_the_margins_of_the_one_before(in_lab, tmp_path):
    RunTimesFile(tmp_path).write(LEARNED)
    scheduler = None

    async def background(lab):
        nonlocal scheduler
        scheduler = SchedulerLoop(lab.transport, Engine(EngineOptions()), time.time)
        scheduler.keep_run_times(tmp_path)
        await scheduler.run()

    async def scenario(lab):
        await lab.until(lambda: scheduler is not None and scheduler._may_decide)
        calibration = scheduler._forecasting.book.calibration
        assert calibration == LEARNED.margins
        await asyncio.sleep(0)
        calibration.learn(was_early=False, was_late=True)

    in_lab(scenario, background)
    after = RunTimesFile(tmp_path).read()
    assert after.margins.learned == LEARNED.margins.learned + 1
    assert after.margins.late > LEARNED.margins.late
    assert sorted(after.runs, key=str) == sorted(RUNS, key=str)
