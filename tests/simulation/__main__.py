"""Run the simulation by hand: `--seed N --trace` replays one run, `--runs N --from M` runs many."""

import argparse
import sys
import time
from collections import Counter

from tests.simulation.device_run import DeviceRun
from tests.simulation.run import Run, SimulationFailed, advised_engine, usual_engine


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="run this seed only")
    parser.add_argument("--trees", action="store_true", help="with groups of groups among the groups")
    parser.add_argument("--devices", action="store_true", help="pods and gangs with claims of devices")
    parser.add_argument("--calm", action="store_true", help="without faults, with advice that is followed")
    parser.add_argument("--rests", action="store_true", help="calm, and compared every few steps")
    parser.add_argument("--trace", action="store_true", help="tell every step")
    parser.add_argument("--runs", type=int, default=20000, help="how many seeds to run")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first of them")
    chosen = parser.parse_args()
    seeds = range(chosen.first, chosen.first + chosen.runs)
    if chosen.seed is not None:
        seeds = range(chosen.seed, chosen.seed + 1)
    tell = say if chosen.trace else None
    if chosen.devices:
        return run_many(seeds, lambda seed: DeviceRun(seed, tell))
    is_calm = chosen.calm or chosen.rests
    how = {"has_trees": chosen.trees, "has_faults": not is_calm, "rests": chosen.rests}
    engine = advised_engine if is_calm else usual_engine
    return run_many(seeds, lambda seed: Run(seed, engine, tell, **how))


def run_many(seeds, run_of):
    failed, counts, began = [], Counter(), time.monotonic()
    for done, seed in enumerate(seeds, 1):
        try:
            counts += run_of(seed).execute()
        except SimulationFailed as failure:
            failed.append(seed)
            say(str(failure))
        if done % 500 == 0 or done == len(seeds):
            say(f"{done} runs, {len(failed)} failed, {time.monotonic() - began:.0f} s")
    say(", ".join(f"{what} {count}" for what, count in sorted(counts.items())))
    say(f"failed: {failed}" if failed else "all held")
    return bool(failed)


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
