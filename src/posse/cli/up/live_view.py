"""The live view of `posse up`: usage of nodes or racks, groups and why they wait; cut to the screen."""

import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from posse.cli.up.view_state import Tree, ViewState, trees_shown
from posse.engine.explain.overview import GroupSummary, Overview
from posse.engine.nodes.resources import CPU, MEMORY
from posse.engine.queue.backlog import QueueState
from posse.runtime.embedded.usage import GPU, NodeUsage

FIXED_LINES = 6
"""Lines of headers, totals, the queue and the keys."""
FEWEST_ROWS = 3
MAX_WHY_LINES = 3
GIBI = 1024**3
BAR_WIDTH = 10
SHARE_WIDTH = 8
STATE_COLOURS = {"Scheduled": "green", "Finished": "green", "Waiting": "yellow"}
INDENT = "    "
_QUEUE_WORDS = {
    QueueState.ACTIVE: "about to be tried",
    QueueState.IN_PROGRESS: "being tried",
    QueueState.BACKOFF: "waiting to be tried again",
    QueueState.ERROR_BACKOFF: "waiting after an error",
    QueueState.UNSCHEDULABLE: "waiting for capacity",
}


def picture(
    nodes: Sequence[NodeUsage],
    scheduling: Overview,
    height: int,
    width: int = 80,
    view: ViewState | None = None,
) -> RenderableType:
    """`view` is None where no keys can be pressed."""
    room = max(2 * FEWEST_ROWS, height - FIXED_LINES)
    usage = _node_rows(nodes, max(FEWEST_ROWS, room // 3))
    left = room - len(usage)
    keys = [Text(view.help, style="dim", no_wrap=True, overflow="ellipsis")] if view is not None else []
    groups = _group_lines(scheduling.groups, nodes, view or ViewState(), left - len(keys), width)
    return Group(_node_table(usage, nodes), Text(), *groups, _queue(scheduling), *keys)


def _node_rows(nodes: Sequence[NodeUsage], rows: int) -> list[tuple[str, Sequence[NodeUsage]]]:
    """One row per node; per rack, if there are racks and more nodes than rows."""
    by_rack: dict[str, list[NodeUsage]] = {}
    for node in nodes:
        by_rack.setdefault(node.rack or node.name, []).append(node)
    whole = [(node.name, [node]) for node in nodes]
    if len(nodes) > rows and any(node.rack for node in nodes):
        whole = [(f"{name} ({len(there)} nodes)", there) for name, there in sorted(by_rack.items())]
    if len(whole) <= rows:
        return list(whole)
    rest = [node for _, there in whole[rows - 1 :] for node in there]
    return [*whole[: rows - 1], (f"and {len(whole) - rows + 1} more", rest)]


def _node_table(rows: Sequence[tuple[str, Sequence[NodeUsage]]], nodes: Sequence[NodeUsage]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("NODE", "PODS", "CPU", "MEMORY GiB", "GPU"):
        table.add_column(name, justify="left" if name == "NODE" else "right", no_wrap=True)
    for name, there in rows:
        table.add_row(*_node_row(name, there))
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


def _group_lines(
    groups: tuple[GroupSummary, ...], nodes: Sequence[NodeUsage], view: ViewState, rows: int, width: int
) -> list[Text]:
    """As many whole paragraphs as fit, one per tree; the first is always shown."""
    racks = {node.name: node.rack for node in nodes}
    shown = trees_shown(groups, view)
    names = [str(tree[0].key) for tree in shown[:rows]]
    name_width = min(max((len(name) for name in names), default=9), max(9, width - 50))
    lines = [Text(_columns("POD GROUP", "READY", "PRIORITY", "RACK", "STATE", name_width), style="bold")]
    number = 0
    for tree in shown:
        paragraph = _paragraph(tree, racks, name_width, width)
        is_last = number == len(shown) - 1
        if number and len(lines) + len(paragraph) + (0 if is_last else 1) > rows:
            break
        lines += paragraph
        number += 1
    if number < len(shown):
        lines.append(Text(f"and {len(shown) - number} more", style="dim"))
    return lines


def _paragraph(tree: Tree, racks: dict[str, str], name_width: int, width: int) -> list[Text]:
    """The root on one line; below it its groups in one sentence, and why it waits, over the whole width."""
    root = tree[0]
    cells = (str(root.key), _ready(root), str(root.priority), _racks(tree, racks))
    first = Text(_columns(*cells, "", name_width), no_wrap=True, overflow="ellipsis")
    first.append(root.state, style=STATE_COLOURS.get(root.state, "red"))
    rest = ", ".join(f"{group.key.name} {_ready(group)} {group.state}" for group in tree[1:])
    why = next((group.message for group in tree if group.message), "")
    return [first, *_wrapped(rest, width, "dim"), *_wrapped(why, width, "yellow")]


def _wrapped(text: str, width: int, style: str) -> Iterator[Text]:
    if text:
        lines = textwrap.wrap(
            text,
            max(20, width - 1),
            initial_indent=INDENT,
            subsequent_indent=INDENT,
            max_lines=MAX_WHY_LINES,
            placeholder=" ...",
        )
        yield from (Text(line, style=style, no_wrap=True) for line in lines)


def _columns(name: str, ready: str, priority: str, rack: str, state: str, name_width: int) -> str:
    cut = name if len(name) <= name_width else f"{name[: name_width - 1]}…"
    return f"{cut:<{name_width}}  {ready:<12}  {priority:>8}  {rack:<10}  {state}"


def _ready(group: GroupSummary) -> str:
    """Pods or groups that have started, of those that must."""
    what = " groups" if group.key.is_composite else ""
    return f"{group.attached}/{group.minimum}{what}"


def _racks(tree: Tree, racks: dict[str, str]) -> str:
    found = sorted({racks.get(name, "") for group in tree for name in group.nodes} - {""})
    return found[0] if len(found) == 1 else f"{len(found)} racks" if found else "-"


def _queue(scheduling: Overview) -> Text:
    waiting = ", ".join(
        f"{count} {_QUEUE_WORDS[place]}" for place, count in scheduling.queue.items() if count
    )
    text = f"{scheduling.pods_on_nodes} pods on nodes, {scheduling.pods_waiting} waiting"
    return Text(f"{text} (groups and single pods: {waiting})" if waiting else text, no_wrap=True)
