"""What was measured in the race, and which goals it reached. Pure: figures in, sentences out."""

from dataclasses import dataclass
from typing import NamedTuple

from bench.cluster.shapes import Shape

MIN_SHARE_OF_BARE_CLIENT = 0.75
MIN_CPU_RATIO = 10.0
"""How many times as much CPU per pod kube-scheduler has to use."""


@dataclass(frozen=True, slots=True)
class Result:
    contender: str
    shape: Shape
    bound: int
    seconds: float
    latencies: tuple[float, ...]
    """Of each pod, from the start of the race, in ascending order."""
    cpu_seconds: float
    cpu_before: float
    """CPU seconds to start and to read the work."""
    max_memory: int

    @property
    def rate(self) -> float:
        return self.bound / self.seconds if self.seconds else 0.0

    @property
    def cpu_per_pod(self) -> float:
        return self.cpu_seconds / max(self.bound, 1)

    def latency(self, share: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(len(self.latencies) * share))]


class BareClient(NamedTuple):
    """Pods per second that a client without a scheduler creates and binds, measured right before a shape."""

    creates: float
    binds: float


@dataclass(frozen=True, slots=True)
class Race:
    """One shape: the bare client right before it, and each contender that ran."""

    shape: Shape
    bare: BareClient
    posse: Result | None = None
    kube_scheduler: Result | None = None

    @property
    def results(self) -> list[Result]:
        return [result for result in (self.kube_scheduler, self.posse) if result is not None]

    @property
    def speed_ratio(self) -> float | None:
        """How many times as fast as kube-scheduler Posse was; None if one of them did not run."""
        if self.posse is None or self.kube_scheduler is None or not self.kube_scheduler.rate:
            return None
        return self.posse.rate / self.kube_scheduler.rate

    @property
    def cpu_ratio(self) -> float | None:
        """How many times as much CPU per pod kube-scheduler used; None if one of them did not run."""
        if self.posse is None or self.kube_scheduler is None or not self.posse.cpu_per_pod:
            return None
        return self.kube_scheduler.cpu_per_pod / self.posse.cpu_per_pod

    @property
    def share_of_bare_client(self) -> float | None:
        return self.posse.rate / self.bare.binds if self.posse and self.bare.binds else None


class Judgement(NamedTuple):
    """A missed goal fails the run. A missed aim is printed only."""

    missed_goals: list[str]
    missed_aims: list[str]


def judge(races: list[Race]) -> Judgement:
    goals, aims = [], []
    for race in races:
        goals += _unbound(race)
        goals += _cpu(race)
        # For single pods the API server sets the pace, so only the bare client is a stable measure.
        if race.shape.gangs:
            goals += _speed(race)
            aims += _share(race)
        else:
            goals += _share(race)
            aims += _speed(race)
    return Judgement(goals, aims)


def _unbound(race: Race) -> list[str]:
    return [
        f"{race.shape.name}: {result.contender} bound {result.bound:,} of {race.shape.pod_count:,} pods"
        for result in race.results
        if result.bound < race.shape.pod_count
    ]


def _cpu(race: Race) -> list[str]:
    ratio = race.cpu_ratio
    if ratio is None or ratio >= MIN_CPU_RATIO:
        return []
    return [f"{race.shape.name}: {ratio:.1f} times less CPU per pod, the goal is {MIN_CPU_RATIO:g}"]


def _speed(race: Race) -> list[str]:
    ratio = race.speed_ratio
    if ratio is None or ratio >= race.shape.goal:
        return []
    return [f"{race.shape.name}: {ratio:.1f} times as fast, the goal is {race.shape.goal:g}"]


def _share(race: Race) -> list[str]:
    share = race.share_of_bare_client
    if share is None or share >= MIN_SHARE_OF_BARE_CLIENT:
        return []
    return [f"{race.shape.name}: {share:.0%} of the bare client, the goal is {MIN_SHARE_OF_BARE_CLIENT:.0%}"]
