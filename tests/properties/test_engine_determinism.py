"""Equal events give equal decisions, byte for byte, also in another process with another hash seed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.differential.recorder import Recorder
from tests.differential.recording import replay
from tests.support.effort import PROFILE

ROOT = Path(__file__).parents[2]
ROUNDS = 50 if PROFILE == "quick" else 80
"""The last rounds take longest."""
PLACED = re.compile(r"Placement\(pod=PodRef\(namespace='test', name='p\d+-(\w+)'")


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


@pytest.fixture(scope="module")
def lines():
    return Recorder(seed=20260131).record(rounds=ROUNDS)


@pytest.fixture(scope="module")
def decided(lines):
    """Return the decisions under two hash seeds."""
    log = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    return decisions_under("0", log), decisions_under("12345", log)


def test_a_log_gives_the_same_decisions_under_any_hash_seed(decided):
    first, second = decided
    assert first == second


def test_the_log_is_about_everything_that_could_differ(lines, decided):
    text = decided[0].decode()
    placed = PLACED.findall(text)
    assert text.count("Bind(") > 50
    assert text.count("ReportGroup(") > 10
    assert min(placed.count(what) for what in ("member", "near", "far", "spread")) > 2
    assert text.count("Evict(") > 5
    assert len(re.findall(r"nominated_node='n\d+'", text)) > 5
    told = [json.dumps(line) for line in lines]
    assert sum('"refused"' in line for line in told) > 5
    assert any('"spared"' in line for line in told) or PROFILE == "quick"
    assert any('"PodDisruptionBudget"' in line for line in told)


def test_a_log_written_and_read_gives_the_decisions_of_the_engine_that_wrote_it():
    recorder = Recorder(seed=4)
    lines = recorder.record(rounds=20)
    written = [json.loads(json.dumps(line)) for line in lines]
    assert list(replay(written)) == list(replay(lines))
    assert list(replay(written))


def test_a_recording_is_the_same_each_time():
    assert Recorder(seed=4).record(rounds=10) == Recorder(seed=4).record(rounds=10)
