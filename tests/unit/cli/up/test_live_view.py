import asyncio
import io
from dataclasses import replace

from rich.console import Console

from posse.cli.up import watching
from posse.cli.up.live_view import picture
from posse.cli.up.progress import group_states, progress_lines
from posse.cli.up.view_state import ViewState, trees_shown
from posse.engine.explain.overview import GroupSummary, Overview
from posse.engine.keys import GroupKey
from posse.engine.nodes.resources import CPU, MEMORY
from posse.engine.queue.backlog import QueueState
from posse.runtime.embedded.usage import GPU, NodeUsage

GIBI = 1024**3


PATIENCE_SECONDS = 30.0


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


def drawn(nodes=(), groups=(), height=40, width=120, view=None):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(picture(nodes, overview(groups), height, width, view))
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
    assert lines[6].split() == ["default/b", "0/4", "0", "-", "Waiting"]
    assert lines[7].strip() == "does not fit"
    assert lines[8].split() == ["default/a", "4/4", "0", "-", "Scheduled"]
    assert lines[9] == "4 pods on nodes, 7 waiting (groups and single pods: 2 waiting for capacity)"


def test_only_what_fits_the_screen_is_drawn():
    nodes, groups = [node(n) for n in range(500)], [group(f"g{n}") for n in range(500)]
    for height in (10, 24, 60):
        text = drawn(nodes, groups, height)
        assert len(text.splitlines()) <= max(height, 16)
        assert "all 500" in text
        assert "more" in text


LONG = (
    "only 4 of the 9 pods that must start together fit; with those placed, 5 lack nvidia.com/gpu (8 each): "
    "8 nodes have none left"
)


def test_a_small_screen_shows_why_over_its_whole_width():
    groups = [group("colossus", 0, "Waiting", LONG), *(group(f"g{n}") for n in range(50))]
    lines = drawn([node(n) for n in range(64)], groups, 24, 80, ViewState()).splitlines()
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines)
    first = next(index for index, line in enumerate(lines) if line.startswith("default/colossus"))
    assert " ".join(" ".join(lines[first + 1 : first + 3]).split()) == LONG
    assert lines[-1].startswith("up/down scroll")


def tree():
    root = GroupKey("default", "serve", is_composite=True)
    return [
        GroupSummary(root, 1, 2, 2, "Waiting", "of its groups only 1 fits", 100),
        replace(group("prefill"), depth=1, nodes=("node-0001",)),
        replace(group("decode", 0, "Waiting", "not this one"), depth=1),
    ]


def test_a_tree_is_one_paragraph_and_counts_groups():
    lines = drawn([replace(node(1), rack="r1")], [group("a"), *tree()]).splitlines()
    assert lines[5].split() == [
        "default/serve",
        "(CompositePodGroup)",
        "1/2",
        "groups",
        "100",
        "r1",
        "Waiting",
    ]
    assert lines[6].strip() == "prefill 4/4 Scheduled, decode 0/4 Waiting"
    assert lines[7].strip() == "of its groups only 1 fits"
    assert lines[8].startswith("default/a")


def test_more_nodes_than_fit_are_shown_by_rack():
    nodes = [replace(node(n, 8), rack=f"r{n % 2}") for n in range(40)]
    lines = drawn(nodes, [], 24, 80).splitlines()
    assert lines[1].split()[:4] == ["r0", "(20", "nodes)", "20"]
    assert "160/160" in lines[2]


def test_keys_scroll_sort_and_filter():
    groups = (group("a"), replace(group("b"), priority=9), group("c", 0, "Waiting"), *tree())

    def names(*keys):
        view = ViewState()
        for key in keys:
            view = view.pressed(key)
        return [one[0].key.name for one in trees_shown(groups, view)]

    assert names() == ["c", "serve", "a", "b"]
    assert names("s") == ["a", "b", "c", "serve"]
    assert names("s", "s") == ["serve", "b", "a", "c"]
    assert names("j", "j") == ["a", "b"]
    assert names("\x1b[B", "\x1b[A") == names()
    assert names(*[" "] * 9) == ["b"]
    assert names("/", *"dec", "\r") == ["serve"]
    assert names("/", *"dex", "\x7f", "\r", "q") == names()
    assert names("/", *"zzz") == []
    assert "filter: dec_" in ViewState(filter="dec", is_typing=True).help


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
        task, told = asyncio.create_task(watching.watch_cluster(cluster)), ""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while "Scheduled" not in told:
                await asyncio.sleep(0.005)
                told += capsys.readouterr().out
        task.cancel()
        return told

    assert [line.split()[3] for line in asyncio.run(main()).splitlines()] == ["Waiting", "Scheduled"]


def test_on_a_terminal_there_is_a_live_view(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")

    async def main():
        task, told = asyncio.create_task(watching.watch_cluster(Cluster(overview()))), ""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while "node-0001" not in told:
                await asyncio.sleep(0.005)
                told += capsys.readouterr().out
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(main())
