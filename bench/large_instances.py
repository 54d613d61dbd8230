"""Trees of gangs that about fill the blocks of a cluster: share and time of definite answers."""

import random
import time
from collections.abc import Iterator

from bench.answers import answer
from bench.measuring import Figure
from bench.tree_instances import TreeInstance
from posse.engine.placement_problem import GroupDemand

_INSTANCES = 200
_SEED = 90210
_SECONDS = 5.0
_SIZES = ((4, 16), (8, 16), (2, 8), (16, 64))
"""CPU cores and GiB of memory of pods."""
_SHAPES = ((32, 128), (64, 256), (16, 64))
"""The same of nodes, before others have taken their share."""


def measure() -> list[Figure]:
    chance = random.Random(_SEED)
    taken = sorted(_seconds(_instance(chance)) for _ in range(_INSTANCES))
    in_time = sum(1 for seconds in taken if seconds <= _SECONDS)
    work = "trees of up to 8 gangs of different pods that about fill a block, 100 to 500 nodes"
    detail = f"{_INSTANCES} {work}; slowest {_told(taken[-1])}"
    return [
        Figure("large trees with a placement or a proof within 5 s", 100 * in_time / _INSTANCES, "%", detail),
        Figure("the same, median", 1000 * taken[len(taken) // 2], "ms"),
    ]


def _told(seconds: float) -> str:
    return "without an answer" if seconds == float("inf") else f"{seconds:.1f} s"


def _seconds(one: TreeInstance) -> float:
    """Until there is a definite answer; infinite if there is none."""
    objects = list(one.objects())
    started = time.perf_counter()
    found = answer(objects, asks=True)
    return time.perf_counter() - started if found.started or found.is_proof else float("inf")


def _instance(chance: random.Random) -> TreeInstance:
    """Two blocks of two racks each; some of every node is taken already."""
    count = chance.randint(100, 500)
    offered = tuple(_left(chance, chance.choice(_SHAPES)) for _ in range(count))
    racks = tuple(chance.randrange(4) for _ in range(count))
    room = sum(cpu for (cpu, _), rack in zip(offered, racks, strict=True) if rack < 2)
    children = tuple(_gangs(chance, int(room * chance.uniform(0.6, 1.1)), most=12 + count // 8))
    return TreeInstance(offered, racks, _SIZES, GroupDemand(len(children), children=children, key=0))


def _left(chance: random.Random, shape: tuple[int, int]) -> tuple[int, int]:
    share = chance.choice((1.0, 0.75, 0.5, 0.25))
    return max(1, int(shape[0] * share)), max(1, int(shape[1] * share))


def _gangs(chance: random.Random, cores: int, most: int) -> Iterator[GroupDemand]:
    """As many as take about so many cores, up to eight."""
    for _ in range(8):
        pod_sets = sorted(chance.sample(range(len(_SIZES)), 2))
        pods = tuple((sort, chance.randint(4, most)) for sort in pod_sets)
        yield GroupDemand(sum(number for _, number in pods), pods, key=chance.choice((None, 1)))
        cores -= sum(_SIZES[sort][0] * number for sort, number in pods)
        if cores <= 0:
            return
