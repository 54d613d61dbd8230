"""Recordings: what is written is read again, damage is noticed, size is bounded, replays are equal."""

import pytest

from posse.engine.engine import Engine
from posse.engine.events import BindRefused, Observed, Vanished
from posse.engine.options import EngineOptions
from posse.recording.entries import ENTRIES_DECODER, ENTRIES_ENCODER, absorbed_entry, event_of
from posse.recording.recorder import Recorder
from posse.recording.replay import entries_of, objects_at, replay
from posse.recording.segments import RecordingError, RecordingHeader, read_header, segments_in
from posse.simulation.policies import named_policies
from tests.support.builders import changed, gang, node, pod

HEADER = RecordingHeader("0.1.0", {"schedulerNames": ["default-scheduler"]}, False, 10.0)
MEBI = 1 << 20


class RecordedEngine:
    """An engine that is driven and recorded as a scheduler does it."""

    def __init__(self, folder, max_bytes=MEBI, options=None):
        self.engine = Engine(options or EngineOptions())
        self.recorder = Recorder(folder, HEADER, max_bytes)
        self.now = 1000.0

    def absorb(self, *events):
        for event in events:
            self.recorder.absorbed(event)
            self.engine.absorb(event)

    def decide(self):
        self.now += 1
        decisions = self.engine.decide(self.now)
        self.recorder.decided(self.now, decisions)
        return decisions


def run_a_day(driver, rounds=20):
    driver.absorb(*(Observed(node(f"n{i}", cpu=str(2 + i % 3))) for i in range(6)))
    driver.absorb(Observed(gang("g", 3)), *(Observed(pod(f"g{i}", cpu="1", group="g")) for i in range(3)))
    for index in range(rounds):
        single = pod(f"p{index}", cpu=f"{500 + index}m")
        driver.absorb(Observed(single))
        driver.decide()
        if index % 3 == 2:
            driver.absorb(Vanished(single))
        if index % 5 == 4:
            driver.absorb(BindRefused(single.metadata.uid, "n1", "conflict"))
    driver.recorder.close()


def test_a_replay_is_equal(tmp_path):
    driver = RecordedEngine(tmp_path)
    run_a_day(driver)
    outcome = replay(tmp_path, EngineOptions())
    assert outcome.difference is None
    assert (outcome.rounds, outcome.starts, outcome.is_from_the_start) == (20, 1, True)
    assert outcome.decisions > 20


def test_other_rules_are_told_apart_by_their_first_decision(tmp_path):
    driver = RecordedEngine(tmp_path)
    driver.absorb(Observed(node("empty", cpu="8", **{"nvidia.com/gpu": "8"})))
    driver.absorb(Observed(node("half", cpu="8", **{"nvidia.com/gpu": "8"})))
    driver.absorb(Observed(pod("there", cpu="4", on="half", requests={"nvidia.com/gpu": "4"})))
    driver.absorb(Observed(pod("new", cpu="1", requests={"nvidia.com/gpu": "2"})))
    driver.decide()
    driver.recorder.close()
    difference = replay(tmp_path, named_policies()["packed"].options).difference
    assert difference is not None
    assert difference.recorded == ("bind pod test/new to empty",)
    assert difference.replayed == ("bind pod test/new to half",)


def test_a_restart_begins_with_an_engine_that_knows_nothing(tmp_path):
    for _ in range(2):
        run_a_day(RecordedEngine(tmp_path), rounds=3)
    outcome = replay(tmp_path, EngineOptions())
    assert (outcome.difference, outcome.starts, outcome.rounds) == (None, 2, 6)
    assert len(segments_in(tmp_path)) == 2


def test_a_torn_end_is_left_out(tmp_path):
    run_a_day(RecordedEngine(tmp_path))
    (path,) = segments_in(tmp_path)
    whole = path.read_bytes()
    complete = len(list(entries_of(tmp_path)))
    for cut in range(1, 40):
        path.write_bytes(whole[:-cut])
        assert len(list(entries_of(tmp_path))) < complete
        assert replay(tmp_path, EngineOptions()).difference is None


def test_a_process_that_was_killed_may_leave_a_torn_end_or_no_header(tmp_path):
    for _ in range(3):
        run_a_day(RecordedEngine(tmp_path), rounds=3)
    first, second, third = segments_in(tmp_path)
    first.write_bytes(first.read_bytes()[:-5])
    second.write_bytes(b'{"format"')
    outcome = replay(tmp_path, EngineOptions())
    assert (outcome.difference, outcome.starts) == (None, 2)
    assert segments_in(tmp_path) == [first, third]


def test_a_torn_end_before_a_segment_of_the_same_process_is_damage(tmp_path):
    driver = RecordedEngine(tmp_path, max_bytes=40_000)
    run_a_day(driver, rounds=60)
    first = segments_in(tmp_path)[0]
    first.write_bytes(first.read_bytes()[:-5])
    with pytest.raises(RecordingError, match="is damaged at byte"):
        list(entries_of(tmp_path))


def test_damage_in_the_middle_is_noticed(tmp_path):
    run_a_day(RecordedEngine(tmp_path))
    (path,) = segments_in(tmp_path)
    whole = bytearray(path.read_bytes())
    for position in range(whole.index(b"\n") + 1, len(whole) - 400, 37):
        damaged = bytearray(whole)
        damaged[position] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(RecordingError, match="is damaged at byte"):
            list(entries_of(tmp_path))


def test_size_is_bounded_and_the_rest_can_be_replayed(tmp_path):
    driver = RecordedEngine(tmp_path, max_bytes=40_000)
    run_a_day(driver, rounds=400)
    assert sum(path.stat().st_size for path in segments_in(tmp_path)) <= 40_000 + 10_000
    outcome = replay(tmp_path, EngineOptions())
    assert not outcome.is_from_the_start
    assert 0 < outcome.rounds < 400
    _, objects = objects_at(tmp_path)
    assert {obj.metadata.name for obj in objects} >= {"g", "g0", "g1", "g2", "n0", "n5"}


def test_the_cluster_of_an_earlier_moment_is_found(tmp_path):
    driver = RecordedEngine(tmp_path)
    driver.absorb(Observed(node("n1")))
    driver.decide()
    driver.absorb(Observed(pod("late")))
    driver.decide()
    driver.recorder.close()
    now, objects = objects_at(tmp_path, until=1001.5)
    assert (now, [obj.metadata.name for obj in objects]) == (1001.5, ["n1"])
    now, objects = objects_at(tmp_path)
    assert (now, [obj.metadata.name for obj in objects]) == (1002.0, ["n1", "late"])
    with pytest.raises(RecordingError, match="nothing was decided up to that time"):
        objects_at(tmp_path, until=1.0)


def test_objects_are_read_as_they_were_written():
    for obj in (
        node("n"),
        pod("p", cpu="1", group="g"),
        gang("g", 2),
        changed(pod("q"), spec={"node_name": "n"}),
    ):
        assert read_again(Observed(obj)) == Observed(obj)
    refused = BindRefused("uid", "n", "why")
    assert read_again(refused) == refused


def read_again(event):
    (entry,) = ENTRIES_DECODER.decode(ENTRIES_ENCODER.encode([absorbed_entry(event)]))
    return event_of(entry)


def test_what_is_no_recording_is_named(tmp_path):
    with pytest.raises(RecordingError, match="holds no recording"):
        segments_in(tmp_path / "missing")
    path = tmp_path / "00000001.rec"
    path.write_text("something else\n")
    with pytest.raises(RecordingError, match="is not a recording"):
        read_header(path)
    path.write_text('{"format": 99, "version": "9.0.0"}\n')
    with pytest.raises(RecordingError, match="has format 99, and this version reads 1"):
        read_header(path)


def test_a_full_disk_ends_the_recording_and_not_the_scheduler(tmp_path, monkeypatch):
    driver = RecordedEngine(tmp_path)

    def full(_entries):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(driver.recorder._writer, "write", full)
    run_a_day(driver, rounds=3)
    assert driver.recorder._writer is None
