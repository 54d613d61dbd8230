"""Shows the cluster while `posse up` runs: a live view on a terminal, plain lines elsewhere."""

import asyncio
import time
from typing import Protocol

import typer
from rich.console import Console
from rich.live import Live

from posse.cli.up.live_view import picture
from posse.cli.up.progress import group_states, progress_lines
from posse.engine.explain.overview import Overview
from posse.runtime.embedded.usage import NodeUsage

INTERVAL_SECONDS = 0.5
# Reading a large cluster takes a while; this is the largest share of time it may take.
MAX_SHARE_OF_TIME = 0.02


class Watchable(Protocol):
    async def scheduling(self) -> Overview: ...

    def node_usage(self) -> list[NodeUsage]: ...


async def watch_cluster(cluster: Watchable) -> None:
    """Show the cluster until cancelled."""
    console = Console()
    if console.is_terminal:
        await _show_live(cluster, console)
    else:
        await _print_progress(cluster)


async def _show_live(cluster: Watchable, console: Console) -> None:
    with Live(console=console, auto_refresh=False) as live:
        while True:
            started = time.monotonic()
            scheduling = await cluster.scheduling()
            live.update(picture(cluster.node_usage(), scheduling, console.height), refresh=True)
            await _pause(time.monotonic() - started)


async def _print_progress(cluster: Watchable) -> None:
    states: dict[str, str] = {}
    while True:
        started = time.monotonic()
        overview = await cluster.scheduling()
        for line in progress_lines(states, overview):
            typer.echo(line)
        states = group_states(overview)
        await _pause(time.monotonic() - started)


async def _pause(spent_seconds: float) -> None:
    await asyncio.sleep(max(INTERVAL_SECONDS, spent_seconds / MAX_SHARE_OF_TIME))
