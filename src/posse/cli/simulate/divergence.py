"""In words: the first decision in which two policies differ."""

from collections.abc import Sequence

from posse.cli.simulate.times import gpus_text, in_time
from posse.simulation.comparison import Divergence, PolicyRun, first_divergence
from posse.simulation.record import Run

_LISTED = 3


def divergence_text(one: PolicyRun, other: PolicyRun) -> str:
    found = first_divergence(one.record, other.record)
    if found is None:
        return f"{one.policy} and {other.policy} start every job at the same moment on the same nodes."
    what = f"job {found.job.name} ({gpus_text(found.job.gpus)})"
    return (
        f"{one.policy} and {other.policy} first differ over {what}: "
        f"{_start_text(one.policy, found, found.one)}, "
        f"{_start_text(other.policy, found, found.other)}{_nodes_text(found.one, found.other)}."
    )


def _start_text(policy: str, found: Divergence, run: Run | None) -> str:
    if run is None:
        return f"{policy} does not start it again" if found.restarts else f"{policy} never starts it"
    names = set(run.nodes)
    where = run.nodes[0] if len(names) == 1 else f"{len(names)} nodes"
    starts = "starts it again" if found.restarts else "starts it"
    return f"{policy} {starts} after {in_time(run.start - found.job.submit)} on {where}"


def _nodes_text(one: Run | None, other: Run | None) -> str:
    """Which nodes the other has instead; nothing if both are on one node, whose names are there already."""
    if one is None or other is None:
        return ""
    before, after = set(one.nodes), set(other.nodes)
    if len(before) == len(after) == 1:
        return ""
    more, fewer = sorted(after - before), sorted(before - after)
    if more and fewer:
        return f", with {_names(more)} instead of {_names(fewer)}"
    if more:
        return f", with {_names(more)} as well"
    if fewer:
        return f", without {_names(fewer)}"
    return "" if one.nodes == other.nodes else ", the same, with its pods in another order"


def _names(names: Sequence[str]) -> str:
    if len(names) > _LISTED + 1:
        return f"{', '.join(names[:_LISTED])} and {len(names) - _LISTED} more"
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
