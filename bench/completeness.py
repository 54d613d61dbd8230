"""How often a group of different pods is refused although it would fit, compared with going through every placement.

First by the search of the engine alone, then with the exact search at its side.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from bench.inputs import gangs, nodes, pod
from bench.measuring import Figure
from posse.engine.decisions import Bind, Decision, ReportGroup, Solve
from posse.engine.engine import Engine, EngineOptions
from posse.engine.events import Observed, Solved
from posse.solver.solving import solve
from tests.differential.exact import Amounts, most_that_fit

_INSTANCES = 3_000
_SEED = 4671
_NO_DOUBT = "No placement exists"


@dataclass(frozen=True, slots=True)
class Instance:
    """CPU cores and GiB of memory of each node and of each pod; how many pods must start together."""

    nodes: tuple[Amounts, ...]
    pods: tuple[Amounts, ...]
    minimum: int


def measure() -> list[Figure]:
    chance = random.Random(_SEED)
    instances = [_instance(chance) for _ in range(_INSTANCES)]
    fitting = [one for one in instances if most_that_fit(one.nodes, one.pods) >= one.minimum]
    quick = [answer for one in fitting if (answer := _answer(one, asks=False))]
    exact = [answer for one in fitting if (answer := _answer(one, asks=True))]
    false_proofs = sum(1 for answer in quick + exact if _NO_DOUBT in answer)
    detail = f"of {len(fitting)} that fit, 2 to 5 nodes, 3 to 10 pods of up to 4 sizes"
    share = 100 * len(quick) / len(fitting)
    return [
        Figure("gangs of different pods refused though they fit", share, "%", f"{len(quick)} {detail}"),
        Figure("the same with the exact search", float(len(exact)), "gangs", detail),
        Figure("of these refused with a false proof", float(false_proofs), "gangs"),
    ]


def _instance(chance: random.Random) -> Instance:
    sizes = [(chance.randint(1, 6), chance.randint(1, 6)) for _ in range(chance.randint(2, 4))]
    pods = tuple(chance.choice(sizes) for _ in range(chance.randint(3, 10)))
    offered = tuple((chance.randint(4, 10), chance.randint(4, 10)) for _ in range(chance.randint(2, 5)))
    return Instance(offered, pods, chance.choice((len(pods), len(pods), chance.randint(2, len(pods)))))


def _answer(one: Instance, *, asks: bool) -> str:
    """What the group is told if it is refused; empty if it starts."""
    engine = Engine(EngineOptions(asks=asks))
    for node, (cpu, memory) in zip(nodes(len(one.nodes)), one.nodes, strict=True):
        offered = {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": "110"}
        engine.absorb(Observed(replace(node, status=replace(node.status, allocatable=offered))))
    groups, _ = gangs(1, one.minimum)
    engine.absorb(Observed(groups[0]))
    for ordinal, (cpu, memory) in enumerate(one.pods):
        engine.absorb(Observed(pod(ordinal, str(cpu), groups[0].metadata.name, f"{memory}Gi")))
    return _refusal(_decided(engine))


def _decided(engine: Engine) -> list[Decision]:
    decisions = engine.decide(1000.0)
    for question in [decision for decision in decisions if isinstance(decision, Solve)]:
        engine.absorb(Solved(question.group, question.number, solve(question.puzzle, effort=10.0)))
        decisions = engine.decide(1000.0)
    return decisions


def _refusal(decisions: Sequence[object]) -> str:
    if any(isinstance(decision, Bind) for decision in decisions):
        return ""
    return next(decision.message for decision in decisions if isinstance(decision, ReportGroup))
