"""Start of a scheduler: from encoded objects of a whole cluster to the first gang, and the memory it takes.

Each size has a process of its own, which is given the objects one by one as an API server would list them:
encoded as JSON. Times are CPU seconds of that process, which other work on the machine hardly changes. Making
the objects is not counted. The network and the API server are not in it; `make bench-start-cluster` has both.
"""

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.inputs import bound, gangs, nodes, pod
from posse.engine.decisions import Bind
from posse.engine.engine import Engine
from posse.engine.events import Observed
from posse.engine.options import EngineOptions
from posse.model.node import Node
from posse.model.pod import Pod

SIZES = ((1_000, 10_000), (5_000, 50_000), (20_000, 100_000), (50_000, 250_000), (100_000, 500_000))
"""Nodes, and pods that run on them."""
GANG = 100
_CHUNK = 1_000


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--sizes", default="", help="as in 1000:10000,5000:50000: nodes and running pods")
    words.add_argument("--one", default="", help=argparse.SUPPRESS)
    options = words.parse_args()
    if options.one:
        print(json.dumps(measured(*map(int, options.one.split(":")))))
        return 0
    chosen = [tuple(map(int, text.split(":"))) for text in options.sizes.split(",") if text] or SIZES
    print(f"{'nodes':>8} {'pods':>8} {'read':>8} {'first gang':>11} {'next gang':>10} {'memory':>9}")
    for node_count, pod_count in chosen:
        command = [sys.executable, "-m", "bench.start", "--one", f"{node_count}:{pod_count}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)  # noqa: S603
        found = json.loads(done.stdout)
        print(
            f"{node_count:>8,} {pod_count:>8,} {found['read']:>6.1f} s {found['first'] * 1000:>8.0f} ms "
            f"{found['next'] * 1000:>7.0f} ms {found['memory'] / 2**20:>5.0f} MiB",
            flush=True,
        )
    return 0


def measured(node_count: int, pod_count: int) -> dict[str, float]:
    """Seconds of reading, of the first gang and of the next, and bytes of the process at the end."""
    engine = Engine(EngineOptions())
    gc.freeze()
    reading = 0.0
    for encoded in _node_texts(node_count):
        reading += _absorbed(engine, encoded, Node)
    for encoded in _pod_texts(node_count, pod_count):
        reading += _absorbed(engine, encoded, Pod)
    started = time.process_time()
    engine.take_over(_now())
    reading += time.process_time() - started
    return {
        "read": reading,
        "first": _decided(engine, 0),
        "next": _decided(engine, 1),
        "memory": float(_memory()),
    }


def _absorbed(engine: Engine, texts: list[bytes], struct: type[Node] | type[Pod]) -> float:
    started = time.process_time()
    decode = msgspec.json.Decoder(struct).decode
    for text in texts:
        engine.absorb(Observed(decode(text)))
    return time.process_time() - started


def _decided(engine: Engine, which: int) -> float:
    """Seconds from the arrival of a gang until it is bound."""
    group = gangs(2, GANG)[0][which]
    first = 10_000_000 + which * GANG
    members = [pod(ordinal, group=group.metadata.name) for ordinal in range(first, first + GANG)]
    started = time.process_time()
    engine.absorb(Observed(group))
    for member in members:
        engine.absorb(Observed(member))
    placed = 0
    while placed < GANG:
        placed += sum(len(one.placements) for one in engine.decide(_now()) if isinstance(one, Bind))
    return time.process_time() - started


def _node_texts(count: int) -> Iterator[list[bytes]]:
    every = nodes(count)
    for first in range(0, count, _CHUNK):
        yield [msgspec.json.encode(one) for one in every[first : first + _CHUNK]]


def _pod_texts(node_count: int, count: int) -> Iterator[list[bytes]]:
    for first in range(0, count, _CHUNK):
        ordinals = range(first, min(first + _CHUNK, count))
        yield [msgspec.json.encode(bound(pod(one), f"node-{one % node_count:06}")) for one in ordinals]


def _now() -> float:
    return time.time()


def _memory() -> int:
    """Resident bytes; where the system does not tell, the most there ever were."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    sys.exit(main())
