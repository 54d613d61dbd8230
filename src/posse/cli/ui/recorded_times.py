"""When each group of a recording was there, started and ended, for the chart over time."""

from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

from posse.cli.problems import Problem
from posse.cli.ui.document import group_id
from posse.engine.events import Observed, Vanished
from posse.engine.groups.forms import group_of
from posse.model.pod import ENDED_PHASES, Pod
from posse.model.timestamps import format_micro_timestamp, format_timestamp
from posse.recording.entries import Absorbed, DecidedRound, EngineReset, KnownObjects, event_of
from posse.recording.replay import entries_of
from posse.recording.segments import RecordingError

Json = dict[str, Any]


@dataclass(slots=True)
class _Span:
    created: float
    started: float | None = None
    ended: float | None = None
    on_nodes: set[str] = field(default_factory=set)


def recorded_times(folder: Path) -> Json:
    """Problem: the recording cannot be read."""
    spans: dict[str, _Span] = {}
    rounds: list[float] = []
    pending: list[tuple[Pod, bool]] = []
    try:
        for entry in entries_of(folder):
            if isinstance(entry, DecidedRound):
                rounds.append(entry.now)
                for pod, is_gone in pending:
                    _note(spans, pod, is_gone, entry.now)
                pending = []
            elif not isinstance(entry, EngineReset):
                pending += _pods_in(entry)
    except (RecordingError, ValueError) as error:
        raise Problem(str(error)) from error
    if not rounds:
        raise Problem(f"{folder}: nothing was decided yet")
    return {
        # Milliseconds, as a browser counts, that the first and the last round are not after.
        "from": format_micro_timestamp(ceil(rounds[0] * 1000) / 1000),
        "to": format_micro_timestamp(ceil(rounds[-1] * 1000) / 1000),
        "gangs": {name: _as_data(span) for name, span in spans.items()},
    }


def _pods_in(entry: Absorbed | KnownObjects) -> list[tuple[Pod, bool]]:
    found = []
    for one in entry.objects if isinstance(entry, KnownObjects) else (entry,):
        event = event_of(one) if one.kind == Pod.__name__ else None
        if isinstance(event, Observed | Vanished) and isinstance(event.obj, Pod):
            found.append((event.obj, isinstance(event, Vanished)))
    return found


def _note(spans: dict[str, _Span], pod: Pod, is_gone: bool, now: float) -> None:
    key = group_of(pod)
    if key is None:
        return
    span = spans.setdefault(group_id(key), _Span(now))
    if is_gone or pod.status.phase in ENDED_PHASES:
        span.on_nodes.discard(pod.metadata.uid)
        if span.started is not None and not span.on_nodes:
            span.ended = now
    elif pod.spec.node_name:
        span.on_nodes.add(pod.metadata.uid)
        span.started = now if span.started is None else span.started
        span.ended = None


def _as_data(span: _Span) -> Json:
    return {
        name: format_timestamp(time) if time is not None else ""
        for name, time in (("created", span.created), ("started", span.started), ("ended", span.ended))
    }
