"""In words: jobs of a trace that are not simulated, and why."""

from collections.abc import Iterator, Sequence

from posse.cli.simulate.times import gpus_text
from posse.simulation.jobs import TracedJob
from posse.simulation.trace_reading import LeftOut

_LISTED = 5


def oversized_text(jobs: Sequence[TracedJob]) -> str:
    names = ", ".join(f"{job.name} ({gpus_text(job.gpus)})" for job in jobs[:_LISTED])
    more = "" if len(jobs) <= _LISTED else f", and {len(jobs) - _LISTED} more"
    what = "1 job does not fit" if len(jobs) == 1 else f"{len(jobs)} jobs do not fit"
    return f"{what} on the empty cluster, and {'is' if len(jobs) == 1 else 'are'} left out: {names}{more}"


def left_out_lines(jobs: Sequence[LeftOut]) -> Iterator[str]:
    """One line for each reason."""
    for reason in sorted({one.reason for one in jobs}):
        lines = [one.line for one in jobs if one.reason == reason]
        shown = ", ".join(str(line) for line in lines[:_LISTED])
        more = "" if len(lines) <= _LISTED else f" and {len(lines) - _LISTED} more"
        if len(lines) == 1:
            yield f"1 job {reason} is left out: line {shown}"
        else:
            yield f"{len(lines)} jobs {reason} are left out: lines {shown}{more}"


def nothing_to_run(
    jobs: Sequence[TracedJob], left_out: Sequence[LeftOut], cluster: tuple[int, int], window: str
) -> str:
    """Why no job can be simulated. `cluster` has so many nodes, and GPUs in all."""
    nodes, gpus = cluster
    if not nodes:
        return "there are no nodes to run it on"
    if jobs:
        least = min(job.gpus for job in jobs)
        on = f"{nodes} nodes with {gpus_text(gpus)}" if nodes > 1 else f"1 node with {gpus_text(gpus)}"
        return f"no job fits on the cluster of {on}; the smallest asks for {gpus_text(least)}"
    if left_out:
        return f"no job is left: {'; '.join(left_out_lines(left_out))}"
    if window:
        return f"no job arrives in --window {window}"
    return "there are no jobs in it"
