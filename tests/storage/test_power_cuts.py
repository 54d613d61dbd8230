"""The power goes, the disk lies or is full: what was acknowledged is there afterwards, or its loss is found."""

import random

import pytest

from posse.store.errors import AcknowledgedWritesMissing, DataDirError
from posse.store.journal import FILE_NAME
from posse.store.store import Store
from tests.storage.disk import FULL, SYNC_FAILED, Sync, Truncate, Write, after_power_cut
from tests.storage.history import LOG, MARK, contents, recorded, write_files
from tests.storage.sqlite_files import LayerUnavailable
from tests.support.effort import up_to

HISTORIES = up_to(12)
CUTS = 25


@pytest.fixture(params=range(HISTORIES))
def seed(request):
    return request.param


def history_of(tmp_path, seed, **options):
    try:
        return recorded(tmp_path / "recorded", seed, **options)
    except LayerUnavailable:
        pytest.skip("SQLite is part of this Python, so its files cannot be spoiled")


def found(folder, files):
    write_files(folder, files)
    store = Store.open(folder)
    try:
        return contents(store)
    finally:
        store.close()


def test_a_history_has_everything_that_is_to_be_cut(tmp_path):
    """Else the tests below would show nothing."""
    history = history_of(tmp_path, 1)
    made = {(type(step), step.path) for step in history.steps}
    assert made >= {
        (Write, LOG),
        (Sync, LOG),
        (Write, FILE_NAME),
        (Sync, FILE_NAME),
        (Write, MARK),
        (Sync, MARK),
    }
    beginnings = [step for step in history.steps if step == Write(LOG, 0, getattr(step, "data", b""))]
    assert len(beginnings) > 1, "the log was begun again"


def test_after_a_power_cut_everything_acknowledged_is_there(tmp_path, seed):
    history, chance = history_of(tmp_path, seed), random.Random(seed)
    for number in range(CUTS):
        cut = chance.randrange(len(history.steps) + 1)
        files = after_power_cut(history.before, history.steps[:cut], chance)
        assert found(tmp_path / str(number), files) in history.allowed_after(cut), f"cut {number} after {cut}"


@pytest.mark.parametrize("lying", [(LOG,), (FILE_NAME, LOG)], ids=["log", "both"])
def test_a_disk_that_does_not_sync_loses_nothing_in_silence(tmp_path, seed, lying):
    history, chance = history_of(tmp_path, seed), random.Random(seed)
    for number in range(CUTS):
        cut = chance.randrange(len(history.steps) + 1)
        files = after_power_cut(history.before, history.steps[:cut], chance, ignored_syncs=lying)
        try:
            state = found(tmp_path / str(number), files)
        except DataDirError:
            continue
        assert state in history.allowed_after(cut), f"cut {number} after {cut}"


def test_a_loss_is_told_as_one(tmp_path):
    """All that the log was to hold is gone, as a disk that lies may have it."""
    history = history_of(tmp_path, 3)
    kept = [step for step in history.steps if step.path == MARK]
    files = after_power_cut(history.before, kept, random.Random(0))
    with pytest.raises(AcknowledgedWritesMissing):
        found(tmp_path / "lost", files)


@pytest.mark.parametrize("failure", [FULL, SYNC_FAILED], ids=["full", "unsynced"])
def test_a_disk_that_fails_at_any_step_keeps_what_was_acknowledged(tmp_path, failure):
    steps = len(history_of(tmp_path, 5).steps)
    for fails_at in range(0, steps, steps // up_to(40)):
        folder = tmp_path / f"{fails_at}"
        history = recorded(folder, 5, fails_at=fails_at, failure=failure)
        store = Store.open(folder)
        try:
            acknowledged = len(history.states) - (2 if history.failure else 1)
            assert contents(store) in [state for _, state in history.states[acknowledged:]], fails_at
        finally:
            store.close()


def test_a_store_that_does_not_sync_would_not_pass(tmp_path):
    """What `--no-fsync` risks, and that these tests see it."""
    history, chance = history_of(tmp_path, 2, fsync=False), random.Random(2)
    losses = 0
    for number in range(CUTS):
        cut = chance.randrange(len(history.steps) + 1)
        files = after_power_cut(history.before, history.steps[:cut], chance)
        try:
            losses += found(tmp_path / str(number), files) not in history.allowed_after(cut)
        except DataDirError:
            losses += 1
    assert losses


def test_truncations_are_among_the_steps():
    before = {"f": b"abcdef"}
    steps = [Truncate("f", 2), Sync("f"), Write("f", 4, b"x"), Sync("f")]
    assert after_power_cut(before, steps, random.Random(0)) == {"f": b"ab\0\0x"}
