import asyncio
import io

from rich.console import Console

from posse.cli.up import watching
from posse.cli.up.live_view import picture
from posse.cli.up.progress import group_states, progress_lines
from posse.engine.explain.overview import GroupSummary, Overview
from posse.engine.keys import GroupKey
from posse.engine.nodes.resources import CPU, MEMORY
from posse.engine.queue.backlog import QueueState
from posse.runtime.embedded.usage import GPU, NodeUsage

GIBI = 1024**3


def node(number, gpus=0):
    total = {CPU: 32_000, MEMORY: 256 * GIBI, GPU: 8}
    return NodeUsage(f"node-{number:04d}", 1 if gpus else 0, {CPU: 1500, MEMORY: 0, GPU: gpus}, total)


def group(name, attached=4, state="Scheduled", message=""):
    return GroupSummary(GroupKey("default", name), attached, 4, 4, state, message)


def overview(groups=()):
    return Overview(2, 4, 7, {QueueState.ACTIVE: 0, QueueState.UNSCHEDULABLE: 2}, tuple(groups))


class Cluster:
    """Shows one overview after the other, the last one for ever."""

    def __init__(self, *overviews):
        self.overviews = list(overviews)

    async def scheduling(self):
        return self.overviews.pop(0) if len(self.overviews) > 1 else self.overviews[0]

    def node_usage(self):
        return [node(1)]


def drawn(nodes=(), groups=(), height=40):
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(picture(nodes, overview(groups), height))
    return console.export_text()


def test_the_picture_tells_nodes_groups_and_queue():
    text = drawn([node(1, 8), node(2)], [group("a"), group("b", 0, "Waiting", "does not fit")])
    lines = text.splitlines()
    assert lines[1].split()[:2] == ["node-0001", "1"]
    assert "8/8 ██████████" in lines[1]
    assert "0/8 ░░░░░░░░░░" in lines[2]
    assert lines[3].startswith("all 2")
    assert "3/64" in lines[3]
    assert "8/16 █████░░░░░" in lines[3]
    # What waits comes first.
    assert lines[6].split()[:4] == ["default/b", "0/4,", "min", "4"]
    assert "does not fit" in lines[6]
    assert lines[7].startswith("default/a")
    assert lines[8].strip() == "4 pods on nodes, 7 waiting (queue: 2 unschedulable)"


def test_only_what_fits_the_screen_is_drawn():
    nodes, groups = [node(n) for n in range(500)], [group(f"g{n}") for n in range(500)]
    for height in (10, 24, 60):
        text = drawn(nodes, groups, height)
        assert len(text.splitlines()) <= max(height, 16)
        assert "all 500" in text
        assert "more" in text


def test_an_empty_cluster_can_be_drawn():
    assert "all 0" in drawn()


def test_progress_says_what_changed_and_nothing_else():
    before = overview([group("a", 0, "Waiting", "too big"), group("b"), group("c")])
    after = overview([group("a"), group("b")])
    assert progress_lines({}, before)[0] == (
        "podgroup default/a: Waiting (0 of 4 pods have a node, 4 needed): too big"
    )
    assert progress_lines(group_states(before), after) == [
        "podgroup default/a: Scheduled (4 of 4 pods have a node, 4 needed)",
        "podgroup default/c: gone",
    ]
    assert progress_lines(group_states(after), after) == []


def test_without_a_terminal_changes_come_as_lines(monkeypatch, capsys):
    monkeypatch.setattr(watching, "INTERVAL_SECONDS", 0.001)
    cluster = Cluster(overview(), overview([group("a", 0, "Waiting")]), overview([group("a")]))

    async def main():
        task = asyncio.create_task(watching.watch_cluster(cluster))
        await asyncio.sleep(0.1)
        task.cancel()

    asyncio.run(main())
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()] == ["Waiting", "Scheduled"]


def test_on_a_terminal_there_is_a_live_view(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")

    async def main():
        task = asyncio.create_task(watching.watch_cluster(Cluster(overview())))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(main())
    assert "node-0001" in capsys.readouterr().out
