"""Jobs that were created together: equal pods in equal number, of one namespace, in the same hour.

Users submit many alike, which mostly run for equally long. The first that end say more about the others than
all earlier runs; and until then, the others take at least as long as the first has run.
Memory is bounded in batches and in runs of each.
"""

from dataclasses import dataclass, field

from posse.engine.queue.backlog import Key
from posse.engine.queue.run_history import LEAST_RUNS, Learned, RunKind, Runs
from posse.engine.state.pod_record import PodRecord

MAX_BATCHES = 4096
_HOUR = len("2026-01-31T12")

_BatchKey = tuple[str, tuple[tuple[str, int], ...], int, str]


@dataclass(slots=True)
class _Batch:
    runs: Runs = field(default_factory=Runs)
    """Those that have ended."""
    running: dict[Key, PodRecord] = field(default_factory=dict)
    """One pod of each job that was started, the first job first."""


class Batches:
    def __init__(self) -> None:
        self._batches: dict[_BatchKey, _Batch] = {}
        """The batch that changed last comes last."""
        self._batch_of: dict[Key, _BatchKey] = {}
        """Of jobs that run."""

    def started(self, kind: RunKind, record: PodRecord) -> None:
        entry = _entry(record)
        self._remove(entry)
        self._changed(kind, record).running[entry] = record
        self._batch_of[entry] = _key(kind, record)

    def left(self, record: PodRecord) -> None:
        """The pod has left its node, for whatever reason."""
        entry = _entry(record)
        key = self._batch_of.get(entry)
        if key is not None and self._batches[key].running[entry] is record:
            self._remove(entry)

    def ended(self, kind: RunKind, record: PodRecord, seconds: float) -> None:
        self._changed(kind, record).runs.add(seconds)

    def expected(self, kind: RunKind, record: PodRecord, age: float) -> Learned | None:
        """How long it takes in all, by those of its batch that took longer than `age`; None if none did."""
        batch = self._batches.get(_key(kind, record))
        if batch is None or len(batch.runs.ordered) < LEAST_RUNS:
            return None
        usual, safe = batch.runs.usual_and_safe(age)
        if usual is None or safe is None:
            return None
        return Learned(usual, safe, len(batch.runs.ordered), "equal pods created in the same hour")

    def least(self, kind: RunKind, record: PodRecord, now: float) -> float:
        """For how long the first of its batch has run, while few have ended."""
        batch = self._batches.get(_key(kind, record))
        if batch is None or len(batch.runs.ordered) >= LEAST_RUNS:
            return 0.0
        return next((now - one.placed_at for one in batch.running.values() if one.node), 0.0)

    def _remove(self, entry: Key) -> None:
        key = self._batch_of.pop(entry, None)
        if key is not None:
            del self._batches[key].running[entry]

    def _changed(self, kind: RunKind, record: PodRecord) -> _Batch:
        key = _key(kind, record)
        batch = self._batches.pop(key) if key in self._batches else _Batch()
        self._batches[key] = batch
        while len(self._batches) > MAX_BATCHES:
            oldest = self._batches.pop(next(iter(self._batches)))
            for entry in oldest.running:
                del self._batch_of[entry]
        return batch


def _key(kind: RunKind, record: PodRecord) -> _BatchKey:
    return (kind.namespace, kind.template.amounts, kind.pods, record.created[:_HOUR])


def _entry(record: PodRecord) -> Key:
    return record.group if record.group is not None else record.ref.uid
