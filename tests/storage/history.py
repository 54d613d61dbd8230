"""A store at work on a disk that is recorded: which steps it made, and what was acknowledged after which of them."""

import os
import random
from contextlib import contextmanager
from types import SimpleNamespace

from posse.store import commit_mark
from posse.store.errors import CommitFailed
from posse.store.journal import FILE_NAME
from posse.store.objects import Key
from posse.store.store import ABSENT, Store
from tests.storage.disk import FULL, Disk
from tests.storage.sqlite_files import FileLayer

LOG = f"{FILE_NAME}-wal"
MARK = commit_mark.FILE_NAME
FILES = (FILE_NAME, LOG, MARK)
# Often enough for a short history to have the log moved into the file, and begun again, a few times.
PAGES_UNTIL_CHECKPOINT = 20


class History:
    """`states` are what the store held after each commit, with the number of steps made until it was acknowledged."""

    def __init__(self, before, steps, states, failure=None):
        self.before = before
        self.steps = steps
        self.states = states
        self.failure = failure

    def allowed_after(self, steps):
        """What may be found if the power goes after so many steps: the last that was acknowledged, or the next."""
        acknowledged = max(n for n, (made, _) in enumerate(self.states) if made <= steps)
        return [state for _, state in self.states[acknowledged : acknowledged + 2]]


def recorded(folder, seed, commits=12, fails_at=None, failure=FULL, *, fsync=True):
    chance = random.Random(seed)
    disk = Disk(fails_at, failure)
    with FileLayer(disk), _mark_on(disk):
        store = Store.open(folder, fsync=fsync)
        try:
            store._journal._connection.execute(f"PRAGMA wal_autocheckpoint={PAGES_UNTIL_CHECKPOINT}")
            before = read_files(folder)
            disk.is_recording = True
            states, broke = [(0, {})], None
            for _ in range(commits):
                for _ in range(chance.randrange(1, 4)):
                    _change(store, chance)
                written = contents(store)
                try:
                    store.commit_pending()
                except CommitFailed as error:
                    # What was under way may be there afterwards, although it was not acknowledged.
                    states.append((len(disk.steps) + 1, written))
                    broke = error
                    break
                states.append((len(disk.steps), written))
            disk.is_recording = False
            return History(before, list(disk.steps), states, broke)
        finally:
            store.close()


def _change(store, chance):
    name = f"pod-{chance.randrange(12)}"
    key = Key("pods", "default", name)
    old = store.get(key)
    if old is not None and chance.random() < 0.2:
        store.delete(key, old.version)
        return
    obj = {"metadata": {"name": name}, "text": chance.choice("xyz") * chance.randrange(1, 9000)}
    store.put(key, obj, old.version if old else ABSENT)


def contents(store):
    """By name, without the version: a restart moves it on."""
    return {stored.obj["metadata"]["name"]: stored.obj["text"] for stored in store.list("pods")}


def read_files(folder):
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


def write_files(folder, files):
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


@contextmanager
def _mark_on(disk):
    """The commit mark is written by Python, not by SQLite."""

    def checked(code):
        if code:
            raise OSError(28, "No space left on device")

    def pwrite(descriptor, data, at):
        checked(disk.write(MARK, at, data))
        return os.pwrite(descriptor, data, at)

    def fdatasync(descriptor):
        checked(disk.sync(MARK))
        os.fdatasync(descriptor)

    usual = commit_mark.os
    commit_mark.os = SimpleNamespace(pread=os.pread, close=os.close, pwrite=pwrite, fdatasync=fdatasync)
    try:
        yield
    finally:
        commit_mark.os = usual
