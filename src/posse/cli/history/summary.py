"""One line per group or single pod: when it started, how long it waited, how often it was preempted."""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from posse.cli.history.happenings import Step, StepKind
from posse.cli.tables import aligned
from posse.kinds.machinery.durations import human_duration

HEADER = ("NAME", "PODS", "WAITED", "REFUSED", "PREEMPTED", "LAST")
WIDE_HEADER = ("KIND", "STARTED", "BY")
MAX_PODS = 3
MAX_TEXT = 160


class Record(msgspec.Struct, rename="camel", omit_defaults=True):
    namespace: str
    name: str
    kind: str
    last_seen: str = ""
    last: str = ""
    """What happened last."""
    started: str = ""
    """When pods of it were last placed."""
    placed_pods: int = 0
    waited_seconds: float = 0.0
    """The longest wait of any pod."""
    refusals: int = 0
    preempted_pods: int = 0
    preempted_by: str = ""


def records(steps: Iterable[Step]) -> list[Record]:
    """In order of what happened last; the latest at the end."""
    found: dict[tuple[str, str, str], Record] = {}
    refused: dict[tuple[str, str, str], Counter[tuple[str, ...]]] = {}
    for step in steps:
        key = (step.namespace, step.kind, step.name)
        record = found.pop(key, None) or Record(step.namespace, step.name, step.kind)
        found[key] = record
        _note(record, step)
        if step.what in {StepKind.REFUSED, StepKind.FAILED}:
            # One refusal is reported on the group and on each of its pods.
            counted = refused.setdefault(key, Counter())
            counted[step.pods] += 1
            record.refusals = counted[()] or max(counted.values())
    return list(found.values())


def _note(record: Record, step: Step) -> None:
    record.last_seen, record.last = step.time, step.what
    match step.what:
        case StepKind.STARTED:
            record.started = step.time
            record.placed_pods += len(step.pods)
            record.waited_seconds = max(record.waited_seconds, step.waited_seconds or 0.0)
        case StepKind.PREEMPTED:
            record.preempted_pods += len(step.pods)
            record.preempted_by = step.by or record.preempted_by
        case StepKind.REFUSED | StepKind.FAILED | StepKind.PREEMPTING:
            pass


def summary_lines(
    found: Sequence[Record], now: float, *, with_namespace: bool, is_wide: bool = False
) -> list[str]:
    """What fits 80 columns; `is_wide` adds the kind, the last start and the preemptor."""
    rows = [
        [
            record.namespace,
            record.name,
            str(record.placed_pods or "-"),
            human_duration(record.waited_seconds) if record.started else "-",
            str(record.refusals or "-"),
            str(record.preempted_pods or "-"),
            f"{record.last} {_ago(record.last_seen, now)}",
            *([record.kind, _ago(record.started, now), record.preempted_by or "-"] if is_wide else ()),
        ]
        for record in found
    ]
    table = [["NAMESPACE", *HEADER, *(WIDE_HEADER if is_wide else ())], *rows]
    return aligned(table if with_namespace else [row[1:] for row in table])


def timeline(steps: Iterable[Step]) -> list[str]:
    """One line per step; equal steps of several pods at one time are one line."""
    merged: dict[tuple[str, ...], list[Step]] = {}
    for step in steps:
        key = (step.time[: len("2026-01-01T00:00:00")], step.kind, step.name, step.what, step.by, step.text)
        merged.setdefault(key, []).append(step)
    rows = [
        [same[0].time, f"{same[0].kind.lower()}/{same[0].name}", same[0].what, _detail(same)]
        for same in merged.values()
    ]
    return aligned(rows) if rows else []


def _detail(same: Sequence[Step]) -> str:
    pods = [pod for step in same for pod in step.pods]
    shown = ", ".join(pods[:MAX_PODS]) + (f" and {len(pods) - MAX_PODS} more" if len(pods) > MAX_PODS else "")
    waits = [step.waited_seconds for step in same if step.waited_seconds is not None]
    waited = f"after {human_duration(max(waits))}" if waits else ""
    by = f"by {same[0].by}" if same[0].by else ""
    text = same[0].text if len(same[0].text) <= MAX_TEXT else f"{same[0].text[:MAX_TEXT]}..."
    is_alone = same[0].kind == "Pod"
    return "  ".join(filter(None, ["" if is_alone else shown, waited, by, text]))


def _ago(time: str, now: float) -> str:
    return f"{human_duration(now - Step(time, '', '', StepKind.STARTED).seconds)} ago" if time else "-"
