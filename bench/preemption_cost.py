"""How often the cheapest victims are chosen for a gang: by the documented algorithm, and by Posse."""

import random
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from msgspec.structs import replace

from bench.inputs import bound, gangs, nodes, pod
from bench.measuring import Figure
from posse.engine.decisions import Evict
from posse.engine.engine import Engine
from posse.engine.events import Observed
from posse.engine.options import EngineOptions
from posse.engine.preemption.cost import Cost
from posse.model.pod import Pod
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.differential.documented_preemption import as_documented, cost_of, least_cost

_INSTANCES = 1_000
_SEED = 5710
_URGENT = 9


@dataclass(frozen=True, slots=True)
class Instance:
    """Cores of each node; units as priority and (node, cores) per pod; cores of each pod that must start."""

    cores: tuple[int, ...]
    units: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
    sizes: tuple[int, ...]
    """Largest first."""

    def holds(self, gone: Sequence[int]) -> bool:
        free = list(self.cores)
        for number, (_, places) in enumerate(self.units):
            for where, size in places if number not in gone else ():
                free[where] -= size
        return _packs(self.sizes, free)

    def cost(self, victims: Sequence[int]) -> Cost:
        return cost_of([(self.units[number][0], len(self.units[number][1])) for number in victims])


def _packs(sizes: Sequence[int], free: Sequence[int]) -> bool:
    """Whether there is any way to do it."""
    if not sizes:
        return True
    rooms = {room for room in free if room >= sizes[0]}
    return any(_packs(sizes[1:], _less(free, room, sizes[0])) for room in rooms)


def _less(free: Sequence[int], room: int, size: int) -> list[int]:
    where = list(free).index(room)
    return [*free[:where], room - size, *free[where + 1 :]]


def measure() -> list[Figure]:
    chance = random.Random(_SEED)
    instances = [_instance(chance) for _ in range(_INSTANCES)]
    optima = [(one, _optimum(one)) for one in instances if not one.holds(())]
    solvable = [(one, best) for one, best in optima if best is not None]
    documented = sum(1 for one, best in solvable if one.cost(_victims(one, as_in_documents=True)) == best)
    ours = sum(1 for one, best in solvable if one.cost(_victims(one, as_in_documents=False)) == best)
    mixed = sum(1 for one, _ in solvable if len(set(one.sizes)) > 1)
    detail = (
        f"of {len(solvable)} gangs, {mixed} of them of several sizes of pods; 2 to 5 nodes, up to 10 units"
    )
    return [
        Figure("the documents' algorithm evicts the cheapest", 100 * documented / len(solvable), "%", detail),
        Figure("Posse's does", 100 * ours / len(solvable), "%", detail),
    ]


def _instance(chance: random.Random) -> Instance:
    cores = tuple(chance.randint(3, 8) for _ in range(chance.randint(2, 5)))
    free = list(cores)
    units: list[tuple[int, tuple[tuple[int, int], ...]]] = []
    for _ in range(chance.randint(3, 10)):
        places = []
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            where, size = chance.randrange(len(cores)), chance.randint(1, 3)
            if free[where] >= size:
                free[where] -= size
                places.append((where, size))
        if places:
            units.append((chance.randint(0, 5), tuple(places)))
    largest = chance.randint(1, 4)
    smallest = chance.choice((1, largest))
    sizes = sorted((chance.randint(smallest, largest) for _ in range(chance.randint(1, 5))), reverse=True)
    return Instance(cores, tuple(units), tuple(sizes))


def _optimum(one: Instance) -> Cost | None:
    units = [(priority, len(places)) for priority, places in one.units]
    return least_cost(units, one.holds)


def _victims(one: Instance, *, as_in_documents: bool) -> list[int]:
    engine = Engine(EngineOptions())
    for node, cores in zip(nodes(len(one.cores)), one.cores, strict=True):
        offered = {"cpu": str(cores), "memory": "64Gi", "pods": "110"}
        engine.absorb(Observed(replace(node, status=replace(node.status, allocatable=offered))))
    for number, (priority, places) in enumerate(one.units):
        _add_unit(engine, f"unit-{number}", priority, places)
    engine.decide(1000.0)
    _add_gang(engine, one)
    with as_documented() if as_in_documents else nullcontext():
        decisions = engine.decide(1001.0)
    evicted = [decision.pod.name for decision in decisions if isinstance(decision, Evict)]
    return sorted({int(name.split("-")[1]) for name in evicted})


def _add_unit(engine: Engine, name: str, priority: int, places: Sequence[tuple[int, int]]) -> None:
    groups, _ = gangs(1, 1)
    group = replace(groups[0], metadata=replace(groups[0].metadata, name=name, uid=name))
    mode = DisruptionMode(all=AllDisruptionMode())
    engine.absorb(Observed(replace(group, spec=replace(group.spec, disruption_mode=mode, priority=priority))))
    for ordinal, (where, size) in enumerate(places):
        member = _member(f"{name}-{ordinal}", str(size), name, priority)
        engine.absorb(Observed(bound(member, f"node-{where:06}")))


def _add_gang(engine: Engine, one: Instance) -> None:
    groups, _ = gangs(1, len(one.sizes))
    urgent = replace(groups[0], metadata=replace(groups[0].metadata, name="urgent", uid="urgent"))
    engine.absorb(Observed(replace(urgent, spec=replace(urgent.spec, priority=_URGENT))))
    for ordinal, size in enumerate(one.sizes):
        engine.absorb(Observed(_member(f"urgent-{ordinal}", str(size), "urgent", _URGENT)))


def _member(name: str, cpu: str, group: str, priority: int) -> Pod:
    made = pod(0, cpu, group)
    metadata = replace(made.metadata, name=name, uid=name)
    return replace(made, metadata=metadata, spec=replace(made.spec, priority=priority))
