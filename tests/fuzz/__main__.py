"""Odd input in numbers; what it finds becomes a test. See `make fuzz`."""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz import engine_objects, functions, http_requests


def main():
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--functions", type=int, default=10_000, help="runs of each function")
    parser.add_argument("--engines", type=int, default=2_000, help="engines that are shown odd objects")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: another one each time")
    chosen = parser.parse_args()
    _say(f"seed {chosen.seed}")
    functions.fuzz(chosen.functions, chosen.seed)
    _say(f"functions: {chosen.functions} runs of {len(functions.TARGETS)}")
    engine_objects.fuzz(chosen.engines, chosen.seed)
    _say(f"engines: {chosen.engines}")
    with tempfile.TemporaryDirectory(prefix="posse-fuzz-") as folder:
        work = http_requests.fuzz(Path(folder) / "server", chosen.requests, chosen.seed, _say)
        statuses, first_mb, most_mb = asyncio.run(work)
    _say(
        f"requests: {chosen.requests}, {dict(sorted(statuses.items()))}, {first_mb} MB at first, {most_mb} at most"
    )


def _say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
