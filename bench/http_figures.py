"""The short form of bench.http_speed, for `make bench`: the API of `posse up` over HTTP.

Where the programs of Kubernetes are built, kube-apiserver with etcd gets the same requests, all but the list.
"""

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from bench.http_servers import Server, embedded, real
from bench.http_speed import Measured, measured
from bench.measuring import Figure
from posse.control_plane.assets import MissingProgramError

PODS = 1_000
LISTED = 50_000

Start = Callable[[Path], AbstractContextManager[Server]]


def measure() -> list[Figure]:
    ours = _all(embedded, LISTED)
    try:
        theirs = {each.name: each for each in _all(real)}
    except MissingProgramError:
        theirs = {}
    return [_figure(each, theirs.get(each.name)) for each in ours]


def _all(start: Start, listed: int = 0) -> list[Measured]:
    with tempfile.TemporaryDirectory(prefix="posse-http-") as folder, start(Path(folder)) as server:
        return asyncio.run(_measured(server, listed))


async def _measured(server: Server, listed: int) -> list[Measured]:
    return [each async for each in measured(server, PODS, listed)]


def _figure(ours: Measured, theirs: Measured | None) -> Figure:
    value, unit = (ours.seconds, "s") if ours.is_one else (ours.per_second, "requests/s")
    detail = f"{ours.cpu_each:.2f} ms of CPU each"
    if theirs is not None:
        detail += f"; kube-apiserver {theirs.per_second:,.0f}, {theirs.cpu_each:.2f} ms"
    return Figure(ours.name, value, unit, detail)
