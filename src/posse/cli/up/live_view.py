"""The live view of `posse up`: usage of nodes, state of groups, counts of the queue; cut to the screen."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from posse.engine.explain.overview import GroupSummary, Overview
from posse.engine.nodes.resources import CPU, MEMORY
from posse.runtime.embedded.usage import GPU, NodeUsage

# Lines that headers, totals and the prompt around the two tables take up.
FIXED_LINES = 10
FEWEST_ROWS = 3
GIBI = 1024**3
BAR_WIDTH = 10
SHARE_WIDTH = 8
STATE_COLOURS = {"Scheduled": "green", "Waiting": "yellow"}


def picture(nodes: Sequence[NodeUsage], scheduling: Overview, height: int) -> RenderableType:
    rows = max(FEWEST_ROWS, (height - FIXED_LINES) // 2)
    return Group(_node_table(nodes, rows), Text(), _group_table(scheduling.groups, rows), _queue(scheduling))


def _node_table(nodes: Sequence[NodeUsage], rows: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("NODE", "PODS", "CPU", "MEMORY GiB", "GPU"):
        table.add_column(name, justify="left" if name == "NODE" else "right")
    for node in nodes[:rows]:
        table.add_row(*_node_row(node.name, [node]))
    if len(nodes) > rows:
        table.add_row(*_node_row(f"and {len(nodes) - rows} more", nodes[rows:]), style="dim")
    table.add_row(*_node_row(f"all {len(nodes)}", nodes), style="bold")
    return table


def _node_row(name: str, nodes: Sequence[NodeUsage]) -> list[str]:
    pods = sum(node.pods for node in nodes)
    units = {CPU: 1000, MEMORY: GIBI, GPU: 1}
    return [name, str(pods), *(_share(nodes, resource, unit) for resource, unit in units.items())]


def _share(nodes: Sequence[NodeUsage], resource: str, unit: int) -> str:
    used = sum(node.used[resource] for node in nodes)
    total = sum(node.total[resource] for node in nodes)
    filled = round(BAR_WIDTH * min(used, total) / total) if total else 0
    share = f"{used / unit:g}/{total / unit:g}"
    return f"{share:>{SHARE_WIDTH}} {'█' * filled}{'░' * (BAR_WIDTH - filled)}"


def _group_table(groups: Sequence[GroupSummary], rows: int) -> Table:
    # Waiting groups are the interesting ones.
    shown = sorted(groups, key=lambda group: group.state == "Scheduled")[:rows]
    cells = [(str(group.key), _counts(group), group.state, group.message) for group in shown]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, name in enumerate(("POD GROUP", "PODS", "STATE")):
        # On a narrow screen only the reason is wrapped.
        table.add_column(name, no_wrap=True, min_width=max((len(row[column]) for row in cells), default=0))
    table.add_column("WHY", overflow="fold")
    for name, counts, state, message in cells:
        table.add_row(name, counts, Text(state, style=STATE_COLOURS.get(state, "red")), message)
    if len(groups) > rows:
        table.add_row(f"and {len(groups) - rows} more", style="dim")
    return table


def _counts(group: GroupSummary) -> str:
    return f"{group.attached}/{group.members}, min {group.minimum}"


def _queue(scheduling: Overview) -> Text:
    waiting = ", ".join(f"{count} {place.value}" for place, count in scheduling.queue.items() if count)
    text = f"{scheduling.pods_on_nodes} pods on nodes, {scheduling.pods_waiting} waiting"
    return Text(f"{text} (queue: {waiting})" if waiting else text)
