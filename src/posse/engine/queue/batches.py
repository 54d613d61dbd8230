"""Jobs that were created together: equal pods in equal number, of one namespace, in the same hour.

Users submit many alike, which mostly run for equally long. The first that end say more about the others than
all earlier runs; and until then, the others take at least as long as the first has run.
Memory is bounded in batches, and in runs and running jobs of each.
"""

from dataclasses import dataclass, field

from posse.engine.events import KnownRuns
from posse.engine.queue.backlog import Key
from posse.engine.queue.run_history import LEAST_RUNS, MAX_RUNS, Precedents, RunKind, Runs
from posse.engine.state.pod_record import PodRecord

MAX_BATCHES = 4096
MAX_KEPT = 512
"""Batches that outlive a scheduler, those that changed last."""
MAX_RUNNING = 4
"""Running jobs of a batch that are known; only the first counts while it runs."""
_HOUR = len("2026-01-31T12")

_BatchKey = tuple[str, tuple[tuple[str, int], ...], int, str]


@dataclass(slots=True)
class _Batch:
    runs: Runs = field(default_factory=Runs)
    """Those that have ended."""
    running: dict[Key, PodRecord] = field(default_factory=dict)
    """One pod of each of the first jobs that were started; it may have left its node."""

    def forget_gone(self) -> None:
        self.running = {key: record for key, record in self.running.items() if record.node}


class Batches:
    """`created` is the time at which a job was created; without one, a job belongs to no batch."""

    def __init__(self) -> None:
        self._batches: dict[_BatchKey, _Batch] = {}
        """The batch that changed last comes last."""

    def started(self, kind: RunKind, created: str, record: PodRecord) -> None:
        """A pod of the job was placed; what was known of the job before stays, while that pod runs."""
        if len(created) < _HOUR:
            return
        batch = self._changed(_key(kind, created))
        batch.forget_gone()
        if len(batch.running) < MAX_RUNNING:
            batch.running.setdefault(_entry(record), record)

    def ended(self, kind: RunKind, created: str, seconds: float) -> None:
        if len(created) >= _HOUR:
            self._changed(_key(kind, created)).runs.add(seconds)

    def precedents(self, kind: RunKind, created: str, age: float) -> Precedents | None:
        """Those of its batch that have ended; None if they are few, or none took longer than `age`."""
        batch = self._batches.get(_key(kind, created))
        if batch is None or len(batch.runs.ordered) < LEAST_RUNS or batch.runs.ordered[-1] <= age:
            return None
        return Precedents(batch.runs, "equal pods created in the same hour")

    def least(self, kind: RunKind, created: str, now: float) -> float:
        """For how long the first of its batch has run, while few have ended."""
        batch = self._batches.get(_key(kind, created))
        if batch is None or len(batch.runs.ordered) >= LEAST_RUNS:
            return 0.0
        return next((now - one.placed_at for one in batch.running.values() if one.node), 0.0)

    def known(self) -> tuple[KnownRuns, ...]:
        """The runs that have ended; those of batches that changed last come last."""
        ended = [(key, one.runs.latest) for key, one in self._batches.items() if one.runs.latest]
        return tuple(
            KnownRuns(namespace, dict(requests), pods, tuple(runs), created=hour)
            for (namespace, requests, pods, hour), runs in ended[-MAX_KEPT:]
        )

    def remember(self, known: KnownRuns) -> None:
        """Know what an earlier scheduler knew of a batch."""
        if known.requests is not None and len(known.created) == _HOUR and not known.limit:
            requests = tuple(sorted(known.requests.items()))
            batch = self._changed((known.namespace, requests, known.pods, known.created))
            for seconds in known.seconds[-MAX_RUNS:]:
                batch.runs.add(seconds)

    def _changed(self, key: _BatchKey) -> _Batch:
        batch = self._batches.pop(key) if key in self._batches else _Batch()
        self._batches[key] = batch
        while len(self._batches) > MAX_BATCHES:
            del self._batches[next(iter(self._batches))]
        return batch


def _key(kind: RunKind, created: str) -> _BatchKey:
    return (kind.namespace, kind.template.amounts, kind.pods, created[:_HOUR])


def _entry(record: PodRecord) -> Key:
    return record.group if record.group is not None else record.ref.uid
