"""Many JobSets created at once on `posse up`: time until all their gangs run, over HTTPS on simulated nodes.

API server, JobSet and Job controllers, scheduler and nodes run in one process. A client in another process
creates the JobSets and reads their status every second. With `--open-pages 20`, as many pages are open meanwhile.
"""

import argparse
import asyncio
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

import aiohttp

from bench.measuring import Figure
from posse.client.connection import Connection
from posse.client.credentials import find_credentials
from posse.client.http_transport import HttpTransport
from posse.client.write_priorities import RequestLimits
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import JOB_SET

REPLICATED_JOBS = 4
PODS_PER_JOB = 16
ASK_SECONDS = 1.0
PATIENCE_SECONDS = 600.0


class Size(NamedTuple):
    jobsets: int = 200
    nodes: int = 2_000
    open_pages: int = 0


FULL = Size()


def measure(size: Size = FULL) -> list[Figure]:
    pods = size.jobsets * REPLICATED_JOBS * PODS_PER_JOB
    with (
        tempfile.TemporaryDirectory(prefix="posse-bench-") as folder,
        cluster(Path(folder), size) as kubeconfig,
    ):
        page = _page_of(kubeconfig.with_name("log")) if size.open_pages else ("", "")
        seconds = asyncio.run(_seconds(kubeconfig, size, *page))
    # Whatever else the machine does, it costs the cluster as much; with its start and its end.
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    gangs = f"{REPLICATED_JOBS} gangs of {PODS_PER_JOB} pods"
    name = f"{size.jobsets} JobSets of {gangs}, {size.nodes:,} nodes, all running"
    return [
        Figure(
            name,
            seconds,
            "s",
            f"{pods:,} pods, {pods / seconds:,.0f} pods/s, {used.ru_utime + used.ru_stime:.0f} s of CPU time",
        )
    ]


@contextmanager
def cluster(folder: Path, size: Size) -> Iterator[Path]:
    """A running cluster, by its kubeconfig."""
    kubeconfig = folder / "kubeconfig"
    words = ["up", "--nodes", str(size.nodes), "--port", "0", "--data-dir", str(folder / "data")]
    environment = os.environ | {"XDG_DATA_HOME": str(folder)}
    with (folder / "log").open("w") as log:
        command = [sys.executable, "-m", "posse", *words, "--kubeconfig", str(kubeconfig)]
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)  # noqa: S603 - ours
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not kubeconfig.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((folder / "log").read_text())
            time.sleep(0.1)
        yield kubeconfig
    finally:
        process.terminate()
        process.wait()


def _page_of(log: Path) -> tuple[str, str]:
    """Address and token of the page, as the cluster prints them once it is ready."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := re.search(r"(http://[^/\s]+)/#token=(\S+)", log.read_text())) is None:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{log} names no page")
        time.sleep(0.1)
    return found[1], found[2]


async def _seconds(kubeconfig: Path, size: Size, page: str, token: str) -> float:
    connection, count = Connection(find_credentials(kubeconfig, None)), size.jobsets
    await connection.open()
    try:
        async with _open_pages(page, token, size.open_pages):
            return await _run_all(connection, count)
    finally:
        await connection.close()


@asynccontextmanager
async def _open_pages(page: str, token: str, count: int) -> AsyncIterator[None]:
    """Read the events of so many pages; each has the state of the cluster before anything is created."""
    if not count:
        yield
        return
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0)) as session:
        ready = [asyncio.Event() for _ in range(count)]
        pages = [asyncio.create_task(_read_page(session, f"{page}/api/events", one)) for one in ready]
        await asyncio.gather(*(one.wait() for one in ready))
        yield
        if any(task.done() for task in pages):
            raise RuntimeError("a page was closed")
        for task in pages:
            task.cancel()
        await asyncio.wait(pages)


async def _read_page(session: aiohttp.ClientSession, url: str, ready: asyncio.Event) -> None:
    timeout = aiohttp.ClientTimeout(total=None)
    async with session.get(url, timeout=timeout) as answer:
        answer.raise_for_status()
        async for _ in answer.content.iter_any():
            ready.set()


async def _run_all(connection: Connection, count: int) -> float:
    """Seconds until all JobSets run."""
    transport = HttpTransport(connection, RequestLimits())
    started = time.perf_counter()
    await asyncio.gather(*(transport.create(JOB_SET, "default", _jobset(n)) for n in range(count)))
    while sum(map(_is_running, (await transport.list(JOB_SET)).items)) < count:
        if time.perf_counter() - started > PATIENCE_SECONDS:
            raise TimeoutError("not all JobSets have come to run")
        await asyncio.sleep(ASK_SECONDS)
    return time.perf_counter() - started


def _is_running(jobset: Json) -> bool:
    jobs = (jobset.get("status") or {}).get("replicatedJobsStatus") or ()
    return bool(sum(job["ready"] for job in jobs) == REPLICATED_JOBS)


def _jobset(ordinal: int) -> Json:
    jobs = [_replicated_job(f"part{part}") for part in range(REPLICATED_JOBS)]
    return {"metadata": {"name": f"js{ordinal}"}, "spec": {"replicatedJobs": jobs}}


def _replicated_job(name: str) -> Json:
    requests = {"cpu": "1", "memory": "1Gi"}
    container = {"name": "main", "image": "registry.example/main:1", "resources": {"requests": requests}}
    sizes = {"parallelism": PODS_PER_JOB, "completions": PODS_PER_JOB}
    # No Job may be done before the last has begun.
    pods = {
        "metadata": {"annotations": {"posse.dev/run-seconds": "86400"}},
        "spec": {"containers": [container]},
    }
    template = {"spec": {**sizes, "template": pods}}
    return {"name": name, "template": template, "gangConfig": {"gangMode": "Gang"}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobsets", type=int, default=FULL.jobsets)
    parser.add_argument("--nodes", type=int, default=FULL.nodes)
    parser.add_argument("--open-pages", type=int, default=0)
    words = parser.parse_args()
    for figure in measure(Size(words.jobsets, words.nodes, words.open_pages)):
        sys.stdout.write(f"{figure.name}: {figure.value:.1f} {figure.unit} ({figure.detail})\n")


if __name__ == "__main__":
    main()
