"""Equal events give equal decisions, byte for byte, also in another process with another hash seed."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.differential.recording import Recorder, replay

ROOT = Path(__file__).parents[2]


def decisions_under(hash_seed, log):
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(
        [sys.executable, "-m", "tests.differential.recording"],
        input=log,
        capture_output=True,
        check=True,
        cwd=ROOT,
        env=environment,
    ).stdout


def test_a_log_gives_the_same_decisions_under_any_hash_seed():
    lines = Recorder(seed=20260131).record(rounds=60)
    log = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    first, second = decisions_under("0", log), decisions_under("12345", log)
    assert first == second
    assert first.count(b"Bind(") > 50
    assert first.count(b"ReportGroup(") > 10


def test_a_log_written_and_read_gives_the_decisions_of_the_engine_that_wrote_it():
    recorder = Recorder(seed=4)
    lines = recorder.record(rounds=20)
    written = [json.loads(json.dumps(line)) for line in lines]
    assert list(replay(written)) == list(replay(lines))
    assert list(replay(written))


def test_a_recording_is_the_same_each_time():
    assert Recorder(seed=4).record(rounds=10) == Recorder(seed=4).record(rounds=10)
