"""Runs `posse history`: reads events or a decision log, and prints a table or the steps of one group."""

import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import typer

from posse.cli.history.happenings import Step, steps_of_events, steps_of_log
from posse.cli.history.summary import records, summary_lines, timeline
from posse.cli.output import Output, print_data
from posse.cli.problems import Misuse, Problem
from posse.cli.reading.sources import ClusterSource
from posse.kinds.registry import EVENT, POD
from posse.model.decoding import ShapeError, decode
from posse.model.pod import Pod

STANDARD_INPUT = "-"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class HistoryChoice:
    """Which steps are shown."""

    name: str = ""
    """A group or a pod, perhaps with its kind; empty: all."""
    namespace: str | None = None
    """None: all."""
    age_limit: float | None = None
    """In seconds."""

    def takes(self, step: Step, now: float) -> bool:
        kind, _, name = self.name.rpartition("/") if "/" in self.name else ("", "", self.name)
        is_named = (
            not self.name
            or self.name == step.name
            or (name == step.name and kind.lower() in {step.kind.lower(), _SHORT.get(step.kind, "")})
        )
        is_here = self.namespace in {None, step.namespace}
        is_young = self.age_limit is None or now - step.seconds <= self.age_limit
        return is_named and is_here and is_young


_SHORT = {"PodGroup": "pg", "CompositePodGroup": "cpg", "Pod": "po"}


def age_limit(text: str) -> float | None:
    """None without a text. Misuse: it is no duration."""
    if not text:
        return None
    found = re.fullmatch(r"(\d+)([smhd])", text)
    if found is None:
        raise Misuse(f"--since: {text!r} is no duration such as 90s, 30m, 2h or 1d")
    return float(found[1]) * _UNITS[found[2]]


def show_log(path: str, choice: HistoryChoice, output: Output) -> None:
    with _opened(path) as lines:
        steps = steps_of_log(lines, path)
    # The ages in a log of last week are relative to its end.
    show(steps, choice, steps[-1].seconds if steps else time.time(), output)


def show_events(source: ClusterSource, choice: HistoryChoice, output: Output) -> None:
    pods = dict(_pods(source, choice.namespace))
    events = source.objects(EVENT, choice.namespace, lambda _: None)
    show(steps_of_events(events, pods), choice, source.now(), output)


def show(steps: Iterable[Step], choice: HistoryChoice, now: float, output: Output) -> None:
    chosen = [step for step in steps if choice.takes(step, now)]
    if output.is_data:
        print_data(msgspec.to_builtins(chosen if choice.name else records(chosen)), output)
    elif not chosen:
        typer.echo(f"Nothing is known{f' of {choice.name}' if choice.name else ''}.", err=True)
    elif choice.name:
        typer.echo("\n".join(timeline(chosen)))
    else:
        lines = summary_lines(
            records(chosen),
            now,
            with_namespace=choice.namespace is None,
            is_wide=output is Output.wide,
        )
        typer.echo("\n".join(lines))


def _pods(source: ClusterSource, namespace: str | None) -> Iterator[tuple[str, Pod]]:
    for obj in source.objects(POD, namespace, lambda _: None):
        try:
            pod = decode(Pod, obj)
        except ShapeError:
            continue
        yield pod.metadata.uid, pod


@contextmanager
def _opened(path: str) -> Iterator[Iterable[str]]:
    if path == STANDARD_INPUT:
        yield sys.stdin
        return
    try:
        with Path(path).open(encoding="utf-8") as file:
            yield file
    except UnicodeDecodeError as error:
        raise Problem(f"{path}: not a text file in UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise Problem(f"--from: {path}: {(error.strerror or str(error)).lower()}") from error
