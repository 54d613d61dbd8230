"""How often a group of different pods is refused although it fits, compared with an exhaustive search.

First by the search of the engine alone, then with the exact search at its side.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle

from msgspec.structs import replace

from bench.answers import Answer, answer
from bench.inputs import gangs, nodes, pod
from bench.measuring import Figure
from bench.rule_instances import rule_instance
from bench.tree_instances import instance
from posse.engine.events import ClusterObject
from tests.differential.every_placement import is_solvable
from tests.differential.exact import Amounts, most_that_fit

_INSTANCES = 3_000
_TREES = 5_000
_WITH_RULES = 500
_SEED = 4671


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
    fits = [True] * len(fitting)
    quick = [answer(_objects(one), asks=False) for one in fitting]
    exact = [answer(_objects(one), asks=True) for one in fitting]
    detail = f"of {len(fitting)} that fit, 2 to 5 nodes, 3 to 10 pods of up to 4 sizes"
    return [
        Figure(
            "gangs of different pods refused though they fit", float(_missed(fits, quick)), "gangs", detail
        ),
        Figure("the same with the exact search", float(_missed(fits, exact)), "gangs", detail),
        Figure("of these refused with a false proof", float(_false_proofs(fits, quick + exact)), "gangs"),
        *_trees(chance),
        *_rules(chance),
    ]


def _instance(chance: random.Random) -> Instance:
    sizes = [(chance.randint(1, 6), chance.randint(1, 6)) for _ in range(chance.randint(2, 4))]
    pods = tuple(chance.choice(sizes) for _ in range(chance.randint(3, 10)))
    offered = tuple((chance.randint(4, 10), chance.randint(4, 10)) for _ in range(chance.randint(2, 5)))
    return Instance(offered, pods, chance.choice((len(pods), len(pods), chance.randint(2, len(pods)))))


def _objects(one: Instance) -> Iterator[ClusterObject]:
    for node, (cpu, memory) in zip(nodes(len(one.nodes)), one.nodes, strict=True):
        offered = {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": "110"}
        yield replace(node, status=replace(node.status, allocatable=offered))
    groups, _ = gangs(1, one.minimum)
    yield groups[0]
    for ordinal, (cpu, memory) in enumerate(one.pods):
        yield pod(ordinal, str(cpu), groups[0].metadata.name, f"{memory}Gi")


def _trees(chance: random.Random) -> list[Figure]:
    instances = [instance(chance) for _ in range(_TREES)]
    fits = [is_solvable(one.problem) for one in instances]
    quick = [answer(one.objects(), asks=False) for one in instances]
    exact = [answer(one.objects(), asks=True) for one in instances]
    detail = f"of {sum(fits)} that fit among {_TREES}, 2 to 12 nodes, racks in blocks, trees of 2 or 3 levels"
    return [
        Figure("trees refused though they fit", float(_missed(fits, quick)), "trees", detail),
        Figure("the same with the exact search", float(_missed(fits, exact)), "trees", detail),
        Figure("of these refused with a false proof", float(_false_proofs(fits, quick + exact)), "trees"),
        Figure("trees that fit nowhere, proven so", _proven(fits, exact), "%"),
    ]


def _rules(chance: random.Random) -> list[Figure]:
    instances = [rule_instance(chance) for _ in range(_WITH_RULES)]
    fits = [one.is_solvable() for one in instances]
    found = [answer(one.objects(), asks=True) for one in instances]
    detail = f"of {sum(fits)} that fit among {_WITH_RULES}, 2 to 4 nodes, affinity, spreading and host ports"
    return [
        Figure(
            "gangs with rules between pods refused though they fit",
            float(_missed(fits, found)),
            "gangs",
            detail,
        ),
        Figure("of those with rules refused with a false proof", float(_false_proofs(fits, found)), "gangs"),
        Figure("gangs with such rules that fit nowhere, proven so", _proven(fits, found), "%"),
    ]


def _missed(fits: Sequence[bool], answers: Sequence[Answer]) -> int:
    return sum(1 for fit, one in zip(fits, answers, strict=True) if fit and not one.started)


def _false_proofs(fits: Sequence[bool], answers: Sequence[Answer]) -> int:
    """The answers go through the instances as often as it takes."""
    return sum(1 for fit, one in zip(cycle(fits), answers, strict=False) if fit and one.is_proof)


def _proven(fits: Sequence[bool], answers: Sequence[Answer]) -> float:
    hopeless = [one for fit, one in zip(fits, answers, strict=True) if not fit]
    return 100 * sum(1 for one in hopeless if one.is_proof) / len(hopeless)
