"""Crashes of the store in numbers: kills of the process, flipped bits, power cuts. See `make test-crash`."""

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from posse.store.store import Store
from tests.storage import kills
from tests.storage.disk import after_power_cut
from tests.storage.flips import flip_many
from tests.storage.history import contents, recorded, write_files

CUTS = 25


def main():
    parser = argparse.ArgumentParser(prog="make test-crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--histories", type=int, default=40, help=f"with {CUTS} power cuts each")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="posse-crash-") as name:
        folder = Path(name)
        _timed("power cuts", lambda: _cut(folder / "cuts", chosen.histories, chosen.seed))
        _timed("bit flips", lambda: _flip(folder / "flips", chosen.flips, chosen.seed))
        _timed("kills", lambda: _kill(folder / "kills", chosen.kills, chosen.seed))


def _timed(what, work):
    started = time.monotonic()
    _say(f"{what}: {work()} ({time.monotonic() - started:.0f} s)")


def _say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _cut(folder, histories, seed):
    for number in range(seed, seed + histories):
        history, chance = recorded(folder / "recorded", number), random.Random(number)
        for _ in range(CUTS):
            cut = chance.randrange(len(history.steps) + 1)
            write_files(folder / "cut", after_power_cut(history.before, history.steps[:cut], chance))
            store = Store.open(folder / "cut")
            assert contents(store) in history.allowed_after(cut), f"history {number}, cut after {cut}"
            store.close()
            shutil.rmtree(folder / "cut")
        shutil.rmtree(folder / "recorded")
    return f"{histories * CUTS} in {histories} histories, nothing acknowledged is missing"


def _flip(folder, count, seed):
    return (
        f"{count}, of which {flip_many(folder, count, seed)} were found at start and the others did no harm"
    )


def _kill(folder, count, seed):
    ledger, gangs = asyncio.run(kills.run(folder, count, seed, _say))
    told = f"{ledger.writes} writes acknowledged, {ledger.reads} reads, {gangs} times a gang bound whole"
    return f"{count}, {told}; replay: {kills.replayed(folder)}"


if __name__ == "__main__":
    main()
