"""Hours of churn on a `posse up`: memory, file and latency stay flat, and are given back. See `make soak`."""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.soak.churn import Churn, ready_server

SAMPLES = 24
GROWTH = 1.5
"""Memory after the clean-up, compared with the start."""


def main():
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two rounds of a worker")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="posse-soak-") as folder:
        asyncio.run(_soak(Path(folder) / "server", chosen.minutes * 60, chosen.pause))


async def _soak(folder, seconds, pause):
    async with ready_server(folder) as server:
        churn = Churn(server, pause)
        await churn.warm_up()
        started, first_mb = time.monotonic(), server.memory_mb()
        _say(f"{'minute':>7} {'MB':>5} {'file MB':>8} {'p50 ms':>7} {'p99 ms':>7} {'rounds':>7} {'CPU s':>6}")
        async with churn.under_way():
            for number in range(1, SAMPLES + 1):
                await asyncio.sleep(started + seconds * number / SAMPLES - time.monotonic())
                _say(_line(server, churn, (time.monotonic() - started) / 60))
        await churn.clean_up()
        last_mb = server.memory_mb()
        _say(
            f"memory: {first_mb} MB at first, {last_mb} MB after the clean-up; file {server.file_mb():.1f} MB"
        )
        assert last_mb <= GROWTH * first_mb, "memory is not given back"
        assert server.is_running, "it ended"
    assert "Traceback" not in server.log.read_text(), f"see {server.log}"


def _line(server, churn, minute):
    waits = sorted(churn.take_waits())
    middle, slow = waits[len(waits) // 2] * 1000, waits[len(waits) * 99 // 100] * 1000
    return (
        f"{minute:7.1f} {server.memory_mb():5} {server.file_mb():8.1f} {middle:7.1f} {slow:7.1f} "
        f"{churn.rounds:7} {server.cpu_seconds():6.0f}"
    )


def _say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
