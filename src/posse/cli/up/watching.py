"""Shows the cluster while `posse up` runs: a live view on a terminal, plain lines elsewhere."""

import asyncio
import contextlib
import os
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import typer
from rich.console import Console
from rich.live import Live

from posse.cli.up.live_view import picture
from posse.cli.up.progress import group_states, progress_lines
from posse.cli.up.view_state import ViewState
from posse.engine.explain.overview import Overview
from posse.model.timestamps import format_timestamp
from posse.runtime.embedded.usage import NodeUsage
from posse.runtime.process.logs import decisions_are_printed

INTERVAL_SECONDS = 0.5
# Reading a large cluster takes a while; this is the largest share of time it may take.
MAX_SHARE_OF_TIME = 0.02
_MAX_BYTES = 64
_ESCAPE = "\x1b"


@contextmanager
def watching_keys(on_key: Callable[[str], None]) -> Iterator[bool]:
    """Report each key. Whether that is possible: standard input may be no terminal."""
    if not sys.stdin.isatty():
        yield False
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    loop = asyncio.get_running_loop()
    # Ctrl-C still interrupts in this mode.
    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, lambda: _read(descriptor, on_key))
    try:
        yield True
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _read(descriptor: int, on_key: Callable[[str], None]) -> None:
    text = os.read(descriptor, _MAX_BYTES).decode(errors="replace")
    # An arrow key arrives as several characters at once.
    for key in [text] if text.startswith(_ESCAPE) else text:
        on_key(key)


class Watchable(Protocol):
    async def scheduling(self) -> Overview: ...

    def node_usage(self) -> list[NodeUsage]: ...


async def watch_cluster(cluster: Watchable) -> None:
    """Show the cluster until cancelled."""
    console = Console()
    if console.is_terminal and not decisions_are_printed():
        await _show_live(cluster, console)
    else:
        await _print_progress(cluster)


async def _show_live(cluster: Watchable, console: Console) -> None:
    view, pressed = ViewState(), asyncio.Event()

    def press(key: str) -> None:
        nonlocal view
        view = view.pressed(key)
        pressed.set()

    with Live(console=console, auto_refresh=False) as live, watching_keys(press) as has_keys:
        while True:
            started = time.monotonic()
            nodes, scheduling = cluster.node_usage(), await cluster.scheduling()
            spent = time.monotonic() - started
            deadline = time.monotonic() + _pause_seconds(spent)
            while (left := deadline - time.monotonic()) > 0:
                pressed.clear()
                shown = view if has_keys else None
                live.update(picture(nodes, scheduling, console.height, console.width, shown), refresh=True)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(pressed.wait(), left)


async def _print_progress(cluster: Watchable) -> None:
    states: dict[str, str] = {}
    while True:
        started = time.monotonic()
        overview = await cluster.scheduling()
        for line in progress_lines(states, overview):
            typer.echo(f"{format_timestamp(time.time())} {line}")
        states = group_states(overview)
        await asyncio.sleep(_pause_seconds(time.monotonic() - started))


def _pause_seconds(spent_seconds: float) -> float:
    return max(INTERVAL_SECONDS, spent_seconds / MAX_SHARE_OF_TIME)
