"""What happened to groups and single pods, read from events of the API or from a decision log."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from posse.cli.problems import Problem
from posse.engine.groups.forms import group_of
from posse.model.pod import Pod
from posse.model.timestamps import TimestampError, parse_timestamp
from posse.runtime.scheduling.decision_log import Line, LineOutcome

Json = dict[str, Any]


class StepKind(StrEnum):
    STARTED = "started"
    REFUSED = "refused"
    PREEMPTED = "preempted"
    PREEMPTING = "preempting"
    FAILED = "failed"


class Step(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One thing that happened to a group, or to a pod without a group."""

    time: str
    namespace: str
    name: str
    what: StepKind
    kind: str = "PodGroup"
    """PodGroup, CompositePodGroup, Workload or Pod."""
    pods: tuple[str, ...] = ()
    """The pods it happened to."""
    waited_seconds: float | None = None
    by: str = ""
    """Of a preempted group or pod: its preemptor."""
    text: str = ""

    @property
    def seconds(self) -> float:
        return parse_timestamp(self.time)


@dataclass(frozen=True, slots=True)
class _Subject:
    namespace: str
    name: str
    kind: str


_WHAT = {
    "Scheduled": StepKind.STARTED,
    "FailedScheduling": StepKind.REFUSED,
    "Preempted": StepKind.PREEMPTED,
    "Preempting": StepKind.PREEMPTING,
}


def steps_of_events(events: Iterable[Json], pods: Mapping[str, Pod]) -> list[Step]:
    """`pods` are those that still exist, by uid; events about others name only the pod."""
    found = [step for event in events if (step := _step_of_event(event, pods)) is not None]
    return sorted(_readable(found), key=lambda step: step.seconds)


def steps_of_log(lines: Iterable[str], origin: str) -> list[Step]:
    """Problem: a line is not one of a decision log."""
    read = [_line(text, number, origin) for number, text in enumerate(lines, start=1) if text.strip()]
    groups = _groups_in(read)
    steps = [step for line in read for step in _steps_of_line(line, groups)]
    return sorted(_readable(steps), key=lambda step: step.seconds)


def _readable(steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        try:
            parse_timestamp(step.time)
        except TimestampError:
            continue
        yield step


def _step_of_event(event: Json, pods: Mapping[str, Pod]) -> Step | None:
    what = _WHAT.get(event.get("reason") or "")
    involved = event.get("involvedObject") or {}
    if what is None or not involved.get("name"):
        return None
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    time = next((str(one) for one in times if one), "")
    pod = pods.get(involved.get("uid", ""))
    who = _subject(involved, pod)
    is_pod = involved.get("kind") == "Pod"
    related = event.get("related") or {}
    by = f"{related.get('kind', '').lower()}/{related['name']}" if related.get("name") else ""
    return Step(
        time,
        who.namespace,
        who.name,
        what,
        kind=who.kind,
        pods=(str(involved["name"]),) if is_pod else (),
        waited_seconds=_waited(pod, time) if what is StepKind.STARTED else None,
        by=by if what is StepKind.PREEMPTED else "",
        text="" if what is StepKind.STARTED else str(event.get("message") or "").strip(),
    )


def _subject(involved: Json, pod: Pod | None) -> _Subject:
    group = group_of(pod) if pod is not None else None
    if group is not None:
        name = "/".join(filter(None, (group.name, group.pod_group, group.replica_key)))
        return _Subject(group.namespace, name, "PodGroup")
    return _Subject(str(involved.get("namespace") or ""), str(involved["name"]), str(involved.get("kind")))


def _waited(pod: Pod | None, time: str) -> float | None:
    try:
        made = parse_timestamp(pod.metadata.creation_timestamp) if pod is not None else None
        return max(0.0, parse_timestamp(time) - made) if made is not None else None
    except TimestampError:
        return None


def _line(text: str, number: int, origin: str) -> Line:
    try:
        return msgspec.json.decode(text, type=Line)
    except msgspec.MsgspecError as error:
        raise Problem(f"{origin}:{number}: not a line of a decision log: {error}") from error


def _groups_in(lines: Iterable[Line]) -> dict[str, str]:
    """The group of each pod that was bound with one; both as namespace/name."""
    return {
        f"{line.group.partition('/')[0]}/{pod}": line.group
        for line in lines
        if line.group
        for pod in line.placements
    }


def _steps_of_line(line: Line, groups: Mapping[str, str]) -> Iterator[Step]:
    if line.outcome is LineOutcome.WOULD_BIND:
        return  # Nothing happened.
    if line.pod and line.pod in groups and line.outcome is LineOutcome.BOUND:
        return  # The line of its group says so.
    who = _named(line.group or groups.get(line.pod, ""), line.pod)
    what = {
        LineOutcome.BOUND: StepKind.STARTED,
        LineOutcome.REFUSED: StepKind.PREEMPTING if line.victims else StepKind.REFUSED,
        LineOutcome.FAILED: StepKind.FAILED,
    }[line.outcome]
    own = (line.pod.partition("/")[2],) if line.pod else tuple(line.placements)
    yield Step(
        line.time,
        who.namespace,
        who.name,
        what,
        kind=who.kind,
        pods=own,
        waited_seconds=line.queue_seconds if what is StepKind.STARTED else None,
        text=line.message,
    )
    for victim in line.victims:
        gone = _named(groups.get(victim, ""), victim)
        name = victim.partition("/")[2]
        by = f"{who.kind.lower()}/{who.name}"
        yield Step(
            line.time, gone.namespace, gone.name, StepKind.PREEMPTED, kind=gone.kind, pods=(name,), by=by
        )


def _named(group: str, pod: str) -> _Subject:
    namespace, _, name = (group or pod).partition("/")
    return _Subject(namespace, name, "PodGroup" if group else "Pod")
