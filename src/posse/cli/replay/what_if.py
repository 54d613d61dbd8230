"""How a recorded time would have gone with other rules, more nodes, or without some work."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path

import msgspec

from posse.cli.problems import Misuse, Problem
from posse.cli.simulate.inputs import Request, work_of
from posse.cli.simulate.run import compared
from posse.engine.options import EngineOptions
from posse.model.node import Node
from posse.simulation.comparison import Comparison, PolicyRun
from posse.simulation.jobs import TracedJob
from posse.simulation.policies import configured_policy
from posse.simulation.record import figures_of

HOSTNAME = "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The options, as they were given."""

    add_nodes: tuple[str, ...] = ()
    """As in 4=node-0001."""
    without: tuple[str, ...] = ()
    """As in team-a/training: a group or pod."""
    rules: EngineOptions | None = None

    def __bool__(self) -> bool:
        return bool(self.add_nodes or self.without or self.rules)


def what_if(folder: Path, asked: WhatIf, recorded: EngineOptions) -> Comparison:
    """The jobs of the recording in virtual time, as recorded and as asked. Misuse, Problem.

    Work that is left out is not counted in either run.
    """
    request = Request(folder)
    work = work_of(request)
    kept = _kept(work.jobs, asked.without)
    changed = replace(work, jobs=kept, nodes=[*work.nodes, *_added(work.nodes, asked.add_nodes)])
    before = compared(request, work, [configured_policy("recorded", recorded)])
    policy = configured_policy("changed", asked.rules or recorded)
    after = compared(request, changed, [policy])
    names = {job.name for job in kept}
    return replace(after, samples=((_only(before, names),), *after.samples))


def _kept(jobs: Sequence[TracedJob], without: Sequence[str]) -> list[TracedJob]:
    names = {job.name for job in jobs}
    for name in without:
        if name not in names:
            shown = ", ".join(sorted(names)[:5])
            raise Problem(f"--without: the recording has no {name!r}; it has {shown} and others")
    return [job for job in jobs if job.name not in without]


def _added(nodes: Sequence[Node], texts: Sequence[str]) -> Iterator[Node]:
    by_name = {node.metadata.name: node for node in nodes}
    numbers = {like: count(1) for like in by_name}
    for text in texts:
        number, _, like = text.partition("=")
        if not number.isdecimal() or like not in by_name:
            raise Misuse(f"--add-nodes: {text!r} is not NUMBER=NODE with a node of the recording")
        for index in islice(numbers[like], int(number)):
            name = f"{like}-new-{index}"
            metadata = by_name[like].metadata
            labels = {**metadata.labels, HOSTNAME: name}
            renamed = msgspec.structs.replace(
                metadata, name=name, uid=f"{metadata.uid}-{index}", labels=labels
            )
            yield msgspec.structs.replace(by_name[like], metadata=renamed)


def _only(comparison: Comparison, names: Collection[str]) -> PolicyRun:
    run = comparison.runs[0]
    record = replace(run.record, jobs=[one for one in run.record.jobs if one.job.name in names])
    return PolicyRun(run.policy, record, figures_of(record, comparison.gpus))
