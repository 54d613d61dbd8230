"""Runs a recording again, and compares decision for decision."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from posse.engine.engine import Engine
from posse.engine.events import ClusterObject, EngineEvent, Observed, Vanished
from posse.engine.options import EngineOptions
from posse.recording.entries import (
    Absorbed,
    DecidedRound,
    EngineReset,
    Entry,
    KnownObjects,
    digest_of,
    event_of,
    outcomes_of,
)
from posse.recording.segments import RecordingError, read_entries, segments_in


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first call of `decide` whose decisions are others than in the recording."""

    now: float
    recorded: tuple[str, ...]
    replayed: tuple[str, ...]


@dataclass(slots=True)
class Replay:
    events: int = 0
    rounds: int = 0
    decisions: int = 0
    starts: int = 0
    """How often the scheduler restarted."""
    difference: FirstDifference | None = None
    is_from_the_start: bool = True
    """False if early segments were removed: queues and pauses at the beginning are not known."""
    losses: list[str] = field(default_factory=list)
    """Files that end within a write."""
    last_round: float = 0.0
    is_to_the_end: bool = True


def entries_of(folder: Path, tell: Callable[[str], None] = lambda _: None) -> Iterator[Entry]:
    """All entries. A segment may end in the middle of a frame where its process was killed."""
    segments = segments_in(folder)
    for path, following in zip_longest(segments, segments[1:]):
        was_last_of_process = following is None or _begins_a_process(following)
        yield from read_entries(path, may_be_torn=was_last_of_process, tell=tell)


def _begins_a_process(segment: Path) -> bool:
    first = next(read_entries(segment, may_be_torn=True), None)
    return first is None or isinstance(first, EngineReset)


def replay(folder: Path, options: EngineOptions, until: float | None = None) -> Replay:
    """Replay up to a time, or to the end. RecordingError: the recording cannot be read."""
    outcome, engine = Replay(), Engine(options)
    for number, entry in enumerate(entries_of(folder, outcome.losses.append)):
        if isinstance(entry, KnownObjects):
            # Only where nothing comes before it: otherwise all this was absorbed already.
            outcome.is_from_the_start &= number > 0
            for one in entry.objects if number == 0 else ():
                engine.absorb(_event(folder, one))
        elif isinstance(entry, EngineReset):
            engine = Engine(options)
            outcome.starts += 1
        elif isinstance(entry, Absorbed):
            engine.absorb(_event(folder, entry))
            outcome.events += 1
        elif until is not None and entry.now > until:
            outcome.is_to_the_end = False
            break
        else:
            outcome.last_round = entry.now
            _decide(engine, entry, outcome)
    return outcome


def objects_at(folder: Path, until: float | None = None) -> tuple[float, list[ClusterObject]]:
    """What the cluster held then, or at the end if that was earlier, and when that was. RecordingError."""
    now, objects = 0.0, dict[tuple[str, str, str], ClusterObject]()
    seen: dict[tuple[str, str, str], ClusterObject] = {}
    for entry in entries_of(folder):
        if isinstance(entry, DecidedRound):
            if until is not None and entry.now > until:
                now = until if objects else now
                break
            now, objects = entry.now, dict(seen)
        elif isinstance(entry, EngineReset):
            seen = {}
        else:
            for one in entry.objects if isinstance(entry, KnownObjects) else (entry,):
                _note(seen, _event(folder, one))
    if not objects:
        raise RecordingError(f"{folder}: nothing was decided up to that time")
    return now, list(objects.values())


def history_of(folder: Path) -> Iterator[tuple[float, EngineEvent]]:
    """Events about objects with the time of the decision that followed them. RecordingError.

    What was deleted while no scheduler ran vanishes when the next one first decides.
    """
    alive: dict[tuple[str, str, str], ClusterObject] = {}
    unseen: dict[tuple[str, str, str], ClusterObject] = {}
    waiting: list[EngineEvent] = []
    for number, entry in enumerate(entries_of(folder)):
        if isinstance(entry, DecidedRound):
            waiting += [Vanished(obj) for key, obj in unseen.items() if alive.pop(key, None) is not None]
            unseen = {}
            yield from ((entry.now, event) for event in waiting)
            waiting = []
        elif isinstance(entry, EngineReset):
            unseen = dict(alive)
        elif isinstance(entry, Absorbed) or number == 0:
            for one in entry.objects if isinstance(entry, KnownObjects) else (entry,):
                event = _event(folder, one)
                waiting.append(event)
                _note(alive, event)
                if isinstance(event, Observed | Vanished):
                    metadata = event.obj.metadata
                    unseen.pop((type(event.obj).__name__, metadata.namespace, metadata.name), None)


def _note(seen: dict[tuple[str, str, str], ClusterObject], event: EngineEvent) -> None:
    if isinstance(event, Observed | Vanished):
        metadata = event.obj.metadata
        key = (type(event.obj).__name__, metadata.namespace, metadata.name)
        if isinstance(event, Observed):
            seen[key] = event.obj
        else:
            seen.pop(key, None)


def _event(folder: Path, entry: Absorbed) -> EngineEvent:
    try:
        return event_of(entry)
    except ValueError as error:
        raise RecordingError(f"{folder}: {error}") from error


def _decide(engine: Engine, entry: DecidedRound, outcome: Replay) -> None:
    decisions = engine.decide(entry.now)
    outcome.rounds += 1
    outcome.decisions += len(decisions)
    if outcome.difference is None and digest_of(decisions) != entry.digest:
        outcome.difference = FirstDifference(entry.now, entry.outcomes, outcomes_of(decisions))
