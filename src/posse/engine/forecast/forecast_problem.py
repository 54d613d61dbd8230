"""A forecast reduced to numbers: free capacity, what runs, and what waits. Another process can work on it."""

import math

import msgspec
import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.queue.run_time_spread import RunTimeSpread

ANYWHERE = -1
"""The topology key of an entry that may go to several domains."""


class RunningUnit(msgspec.Struct, frozen=True, array_like=True):
    """A gang or a single pod on nodes, which ends as a whole."""

    age: float
    spread: int
    """Its place in `spreads`."""
    resources: tuple[int, ...]
    """What it frees: resource, node and amount, each in a list of its own."""
    rows: tuple[int, ...]
    amounts: tuple[int, ...]


class LearnedRunTime(msgspec.Struct, frozen=True, rename="camel"):
    """How long a waiting unit is expected to run, in seconds, where earlier runs say so."""

    usual: int
    safe: int
    """Runs seldom take longer."""
    basis: str
    """The runs that it was learned from."""


class WaitingUnit(msgspec.Struct, frozen=True, array_like=True):
    """A gang or a single pod that waits for capacity."""

    parts: tuple[tuple[int, int], ...]
    """Shape and number of its pods that must start together."""
    spread: int
    topology_key: int = ANYWHERE
    """The place in `domains` of the key whose value all its pods share."""
    safe: float = math.inf
    """It runs seldom longer than this, so it may pass a reservation that begins later."""
    priority: int = 0
    is_reserved_for: bool = False
    """Capacity is reserved for it while it is among the first that do not fit, whether it has aged or not."""
    ages_at: float = math.inf
    """When it comes before all others of its priority, in seconds from now."""
    by_age: int = 0
    """Its place among all that wait, the oldest first."""
    waited: float = 0.0
    """For how long it has been refused."""
    idle_share: float = math.inf
    """How much may stand idle for it until it ages: capacity for all of it, for this share of its wait."""


class ReservedUnit(msgspec.Struct, frozen=True, array_like=True):
    """Capacity that is reserved now for a waiting unit."""

    place: int
    """Of the unit among what waits."""
    begins: float
    """When it is expected to start, in seconds from now."""
    held: tuple[tuple[int, ...], ...]
    """What counts as taken now: resources, nodes and amounts."""
    planned: tuple[tuple[int, ...], ...]
    """Where it is expected to start."""


class ForecastProblem(msgspec.Struct, frozen=True):
    node_count: int
    resource_count: int
    free: bytes
    """By resource and node."""
    shapes: tuple[tuple[int, ...], ...]
    """By shape of pods: the request for every resource."""
    open_rows: tuple[bytes, ...]
    """By shape: whether each node takes such pods when it is empty."""
    domains: tuple[bytes, ...]
    """By topology key: the domain of each node, or -1."""
    spreads: tuple[RunTimeSpread, ...]
    running: tuple[RunningUnit, ...]
    waiting: tuple[WaitingUnit, ...]
    """In the order in which they are tried."""
    reservations: int = 0
    """For how many units capacity is reserved at once."""
    reserved: tuple[ReservedUnit, ...] = ()
    """Those that exist now."""

    def free_amounts(self) -> IntArray:
        return np.frombuffer(self.free, dtype=np.int64).reshape(self.resource_count, self.node_count).copy()

    def all_held(self) -> IntArray:
        """What everything that runs holds: resources, nodes and amounts, in three rows."""
        resources = [number for one in self.running for number in one.resources]
        rows = [row for one in self.running for row in one.rows]
        amounts = [amount for one in self.running for amount in one.amounts]
        return np.array([resources, rows, amounts], dtype=np.int64)

    def openings(self) -> BoolArray:
        rows = [np.frombuffer(one, dtype=np.bool_) for one in self.open_rows]
        return np.array(rows, dtype=np.bool_).reshape(len(rows), self.node_count)

    def domain_numbers(self) -> list[IntArray]:
        return [np.frombuffer(one, dtype=np.int64) for one in self.domains]


class StartEstimate(msgspec.Struct, frozen=True, array_like=True):
    """When one waiting unit starts, over all rollouts, in seconds from now."""

    starts: tuple[float, ...]
    """In order; infinite where it did not start in a rollout."""
    awaited: int | None = None
    """Whose end decides it most often: its place among what runs, and then among what waits."""
    fits_empty: bool = True
    """Whether it would fit if nothing else ran."""

    def quantile(self, share: float) -> float:
        place = share * (len(self.starts) - 1) if self.starts else 0.0
        low, high = math.floor(place), math.ceil(place)
        if not self.starts or self.starts[high] == math.inf:
            return math.inf
        return self.starts[low] + (self.starts[high] - self.starts[low]) * (place - low)
