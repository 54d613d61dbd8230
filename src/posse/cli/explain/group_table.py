"""`posse gangs`: one line per group, waiting groups first, the oldest of them at the top."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import typer

from posse.cli.client import ApiClient
from posse.cli.configuration_file import engine_options
from posse.cli.explain.cluster_reader import Survey, survey_cluster
from posse.cli.explain.group_words import FINISHED, cause, shown_state
from posse.cli.explain.targets import short_name
from posse.cli.session import Rules
from posse.cli.tables import aligned
from posse.engine.explain.group_status import State
from posse.kinds.machinery.durations import since

HEADER = ("NAMESPACE", "NAME", "FORM", "STATE", "READY", "MEMBERS", "AGE", "WHY")
INDENT = "  "
_AT_REST = (State.SCHEDULED, FINISHED)


class GroupLine(msgspec.Struct, frozen=True, rename="camel"):
    namespace: str
    name: str
    form: str
    state: str
    policy: str
    """Gang or Basic; empty while no object describes the group."""
    on_nodes: int
    minimum: int
    """Of pods, or of groups for a group of groups."""
    members: int
    created: str
    why: str
    kind: str = "PodGroup"
    depth: int = 0
    """How many groups of groups are above it."""
    started_groups: int | None = None
    """Of a group of groups: those directly below it that have started."""

    def order(self) -> tuple[bool, str, str, str, str]:
        return self.state in _AT_REST, self.created, self.namespace, self.name, self.form


def show_groups(client: ApiClient, namespace: str | None, rules: Rules, *, as_json: bool) -> None:
    survey = survey_cluster(client, engine_options(rules))
    lines = _in_order(_lines(survey, namespace))
    survey.warn_of_faults()
    if as_json:
        typer.echo(json.dumps(msgspec.to_builtins(lines), indent=4))
    elif lines:
        for text in _table(lines, time.time(), with_namespace=namespace is None):
            typer.echo(text)
    else:
        typer.echo(f"No groups found{f' in {namespace} namespace' if namespace else ''}.", err=True)


def _in_order(lines: Iterable[GroupLine]) -> list[GroupLine]:
    """Sort by root; the groups of a tree stay together."""
    trees: list[list[GroupLine]] = []
    for line in lines:
        if line.depth and trees:
            trees[-1].append(line)
        else:
            trees.append([line])
    return [line for tree in sorted(trees, key=lambda tree: tree[0].order()) for line in tree]


def _lines(survey: Survey, namespace: str | None) -> Iterator[GroupLine]:
    for now in survey.situations():
        if namespace in {None, now.key.namespace}:
            fates = survey.fates(now.key)
            yield GroupLine(
                now.key.namespace,
                short_name(now.key),
                now.key.form,
                shown_state(now, fates),
                now.policy,
                now.counts.on_nodes,
                now.minimum,
                now.counts.members,
                survey.created(now.key),
                cause(now, fates),
                kind="CompositePodGroup" if now.key.is_composite else "PodGroup",
                depth=now.depth,
                started_groups=now.groups.started if now.groups is not None else None,
            )


def _table(lines: Sequence[GroupLine], now: float, *, with_namespace: bool) -> list[str]:
    rows = [HEADER, *(_row(line, now) for line in lines)]
    return aligned(rows if with_namespace else [row[1:] for row in rows])


def _row(line: GroupLine, now: float) -> tuple[str, ...]:
    there = line.on_nodes if line.started_groups is None else line.started_groups
    ready = f"{there}/{line.minimum}" if line.policy == "Gang" else str(there)
    if line.started_groups is not None:
        ready += " groups"
    name, age = f"{INDENT * line.depth}{line.name}", since(line.created, now)
    return line.namespace, name, line.form, line.state, ready, str(line.members), age, line.why
