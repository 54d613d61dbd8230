"""Failures of nodes, drawn from a seed: when each node fails, and for how long."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class NodeAbsence:
    node: str
    begin: float
    """Seconds after the start of the trace."""
    end: float


@dataclass(frozen=True, slots=True)
class FailureRate:
    """Both times are means of exponential distributions, in seconds."""

    between: float
    """From the repair of a node to its next failure."""
    repair: float


def draw_failures(nodes: Sequence[str], rate: FailureRate, until: float, seed: int) -> list[NodeAbsence]:
    """Failures that begin before `until`, in order of time. Equal seeds give equal failures."""
    generator = np.random.default_rng(seed)
    found: list[NodeAbsence] = []
    for node in nodes:
        moment = generator.exponential(rate.between)
        while moment < until:
            end = moment + generator.exponential(rate.repair)
            found.append(NodeAbsence(node, float(moment), float(end)))
            moment = end + generator.exponential(rate.between)
    return sorted(found, key=lambda failure: (failure.begin, failure.node))
