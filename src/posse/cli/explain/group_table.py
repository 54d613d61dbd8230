"""`posse gangs`: one line per group, waiting groups first, the oldest of them at the top."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import typer

from posse.cli.configuration_file import rules_in_force
from posse.cli.explain.forecast_words import starts_cell
from posse.cli.explain.group_line import GroupLine, in_order, lines_of, trees_of
from posse.cli.explain.preference_words import preferred_cell, protected_cell
from posse.cli.output import Output, print_data
from posse.cli.reading.cluster_reader import survey_cluster
from posse.cli.reading.forecasts import forecasts_for
from posse.cli.reading.owners import Owners
from posse.cli.reading.sources import ClusterSource
from posse.cli.session import Rules
from posse.cli.tables import aligned
from posse.engine.keys import NATIVE_FORM
from posse.kinds.machinery.durations import since
from posse.model.selectors import LabelQuery

INDENT = "  "
MAX_RACKS = 2
PAUSE_SECONDS = 2.0
# Reading a large cluster takes a while; this is the largest share of time that watching may take.
MAX_SHARE_OF_TIME = 0.1


_ORDER: dict[str, Callable[[GroupLine], Any]] = {
    "name": lambda line: (line.namespace, line.name),
    "age": lambda line: line.created,
    "priority": lambda line: -line.priority,
    "gpus": lambda line: -line.gpus,
    "rack": lambda line: (not line.racks, line.racks),
    "owner": lambda line: (not line.owner, line.owner),
    "state": lambda line: line.state,
}
"""Numbers descend, the oldest comes first."""


class GroupChoice(msgspec.Struct, frozen=True):
    """Which groups are shown, and in which order."""

    namespace: str | None
    """None: all."""
    labels: LabelQuery | None = None
    sort: str = ""


def show_groups(source: ClusterSource, choice: GroupChoice, rules: Rules, output: Output) -> None:
    lines = _read(source, choice, rules)
    if output.is_data:
        print_data(msgspec.to_builtins(lines), output)
    elif lines:
        with_namespace, wide = choice.namespace is None, output is Output.wide
        for text in table(lines, source.now(), with_namespace=with_namespace, wide=wide):
            typer.echo(text)
    else:
        where = f" in {choice.namespace} namespace" if choice.namespace else ""
        typer.echo(f"No groups found{where}.", err=True)


def watch_groups(source: ClusterSource, choice: GroupChoice, rules: Rules, output: Output) -> None:
    """Print all groups, then again those that changed, until interrupted."""
    known: list[GroupLine] = []
    while True:
        started = time.monotonic()
        lines = _read(source, choice, rules)
        for text in changes(known, lines, source.now(), choice, wide=output is Output.wide):
            typer.echo(text)
        known = lines
        time.sleep(max(PAUSE_SECONDS, (time.monotonic() - started) / MAX_SHARE_OF_TIME))


def changes(
    before: Sequence[GroupLine], lines: Sequence[GroupLine], now: float, choice: GroupChoice, *, wide: bool
) -> list[str]:
    """Rows of groups that are new or changed, and of those that are gone; a header the first time."""
    known = {(line.namespace, line.kind, line.form, line.name): line for line in before}
    there = {(line.namespace, line.kind, line.form, line.name): line for line in lines}
    changed = [line for key, line in there.items() if known.get(key) != line]
    gone = [
        msgspec.structs.replace(line, state="Gone", why="") for key, line in known.items() if key not in there
    ]
    if not changed and not gone:
        return []
    text = table([*changed, *gone], now, with_namespace=choice.namespace is None, wide=wide)
    return text if not before else text[1:]


def table(lines: Sequence[GroupLine], now: float, *, with_namespace: bool, wide: bool) -> list[str]:
    """Columns in which no group has anything are left out, unless wide."""
    columns: list[tuple[str, bool, Callable[[GroupLine], str]]] = [
        ("NAMESPACE", with_namespace, lambda line: line.namespace),
        ("NAME", True, lambda line: f"{INDENT * line.depth}{line.name}"),
        ("FORM", wide or any(line.form != NATIVE_FORM for line in lines), lambda line: line.form),
        ("STATE", True, lambda line: line.state),
        ("READY", True, _ready),
        ("MEMBERS", wide, lambda line: str(line.members)),
        ("PRIORITY", wide or any(line.priority for line in lines), lambda line: str(line.priority)),
        ("GPUS", wide or any(line.gpus for line in lines), lambda line: str(line.gpus)),
        ("RACK", wide or any(line.racks for line in lines), _racks),
        (
            "PREFERS",
            wide or any(line.preferred_topology for line in lines),
            lambda line: preferred_cell(line.preferred_topology),
        ),
        (
            "PROTECTED",
            wide or any(line.protected_until for line in lines),
            lambda line: protected_cell(line.protected_until),
        ),
        ("OWNER", wide or any(line.owner for line in lines), lambda line: line.owner or "-"),
        ("AGE", True, lambda line: since(line.created, now)),
        (
            "STARTS",
            wide or any(line.forecast is not None and line.forecast.earliest for line in lines),
            lambda line: starts_cell(line.forecast, now),
        ),
        ("WHY", True, lambda line: line.why),
    ]
    shown = [(name, cell) for name, is_shown, cell in columns if is_shown]
    return aligned([[name for name, _ in shown], *([cell(line) for _, cell in shown] for line in lines)])


def _read(source: ClusterSource, choice: GroupChoice, rules: Rules) -> list[GroupLine]:
    survey = survey_cluster(source, rules_in_force(rules, source))
    owners = Owners(survey, source, choice.namespace)
    forecasts = forecasts_for(survey, source.now())
    lines = chosen(lines_of(survey, owners, choice.namespace, forecasts=forecasts), choice)
    survey.warn_of_faults()
    return lines


def chosen(lines: Iterable[GroupLine], choice: GroupChoice) -> list[GroupLine]:
    """Trees of which any group has the labels, in the chosen order."""
    ordered = in_order(lines)
    if choice.labels is not None:
        query = choice.labels
        ordered = [
            line
            for tree in trees_of(ordered)
            if any(query.matches(one.labels) for one in tree)
            for line in tree
        ]
    if not choice.sort:
        return ordered
    order = _ORDER[choice.sort]
    trees = sorted(trees_of(ordered), key=lambda tree: order(tree[0]))
    return [line for tree in trees for line in tree]


def _ready(line: GroupLine) -> str:
    there = line.on_nodes if line.started_groups is None else line.started_groups
    ready = f"{there}/{line.minimum}" if line.policy == "Gang" else str(there)
    return ready if line.started_groups is None else f"{ready} groups"


def _racks(line: GroupLine) -> str:
    if len(line.racks) > MAX_RACKS:
        return f"{len(line.racks)} racks"
    return ",".join(line.racks) or "-"
