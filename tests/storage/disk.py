"""A disk that forgets: everything written to it in order, and what may be left of that when the power goes.

Until a file is synced, each of its writes may be there, missing, or there in part, whatever came later. A sector
is written as a whole or not at all.
"""

from dataclasses import dataclass

SECTOR = 512
FULL, SYNC_FAILED = 13, 1034
"""SQLITE_FULL and SQLITE_IOERR_FSYNC."""


@dataclass(frozen=True, slots=True)
class Write:
    path: str
    at: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncate:
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Sync:
    path: str


class Disk:
    """`fails_at` is the number of the step that fails, and all after it, with the code `failure`."""

    def __init__(self, fails_at=None, failure=FULL):
        self.steps = []
        self.is_recording = False
        self._fails_at = fails_at
        self._failure = failure

    def write(self, path, at, data):
        return self._take(Write(path, at, data))

    def truncate(self, path, size):
        return self._take(Truncate(path, size))

    def sync(self, path):
        return self._take(Sync(path))

    def _take(self, step):
        if not self.is_recording or step.path.endswith("-shm"):
            return 0
        # A disk that is full can be synced, and one that cannot be synced can be written.
        is_hit = isinstance(step, Write if self._failure == FULL else Sync)
        if is_hit and self._fails_at is not None and len(self.steps) >= self._fails_at:
            return self._failure
        self.steps.append(step)
        return 0


def after_power_cut(before, steps, chance, ignored_syncs=()):
    """Return what files hold, by name, if the power goes after these steps.

    Syncs of the files `ignored_syncs` are acknowledged by the disk and not done.
    """
    files = {path: bytearray(data) for path, data in before.items()}
    for path in {step.path for step in steps}:
        own = [step for step in steps if step.path == path]
        syncs = [] if path in ignored_syncs else [n for n, step in enumerate(own) if isinstance(step, Sync)]
        durable = syncs[-1] if syncs else 0
        content = files.setdefault(path, bytearray())
        for step in own[:durable]:
            _apply(content, step)
        unsure = [step for step in own[durable:] if not isinstance(step, Sync)]
        # Often nothing or all of it is there, which a fair coin for each would hardly ever show.
        share = chance.choice([0.0, 0.5, 0.9, 1.0])
        kept = [step for step in unsure if chance.random() < share]
        if chance.random() < 0.5:
            chance.shuffle(kept)
        for step in kept:
            _apply(content, _torn(step, chance) if chance.random() < 0.2 else step)
    return {path: bytes(content) for path, content in files.items()}


def _torn(step, chance):
    """Some sectors at the beginning, or at the end, of a write."""
    if not isinstance(step, Write) or len(step.data) <= SECTOR:
        return step
    cut = chance.randrange(1, len(step.data) // SECTOR + 1) * SECTOR
    if chance.random() < 0.5:
        return Write(step.path, step.at, step.data[:cut])
    return Write(step.path, step.at + cut, step.data[cut:])


def _apply(content, step):
    if isinstance(step, Truncate):
        del content[step.size :]
    elif isinstance(step, Write):
        if len(content) < step.at:
            content.extend(bytes(step.at - len(content)))
        content[step.at : step.at + len(step.data)] = step.data
