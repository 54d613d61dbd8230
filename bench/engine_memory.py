"""Memory of the engine per node and per pod, without the objects, which the adapter holds anyway."""

import gc
import tracemalloc
from collections.abc import Sequence

from bench.inputs import bound, nodes, pod
from bench.measuring import Figure
from posse.engine.engine import Engine
from posse.engine.events import Observed
from posse.engine.options import EngineOptions
from posse.model.node import Node
from posse.model.pod import Pod

_NODES = 20_000
_PODS = 20_000


def measure() -> list[Figure]:
    cluster = nodes(_NODES)
    running = [bound(pod(ordinal), f"node-{ordinal % _NODES:06}") for ordinal in range(_PODS)]
    engine = Engine(EngineOptions())
    return [
        Figure("engine memory per node", _bytes_to_absorb(engine, cluster) / _NODES, "bytes"),
        Figure("engine memory per running pod", _bytes_to_absorb(engine, running) / _PODS, "bytes"),
    ]


def _bytes_to_absorb(engine: Engine, objects: Sequence[Node] | Sequence[Pod]) -> int:
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for obj in objects:
        engine.absorb(Observed(obj))
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return after - before
