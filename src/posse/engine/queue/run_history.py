"""How long earlier runs took, as quantiles over the last runs of the same kind.

A kind is the most specific of these that has runs enough: equal pods of one CronJob in equal number, equal
pods of one namespace in equal number, the namespace, equal pods in equal number anywhere, all runs. Runs with
a limit are of a kind with those of equal limit alone: users choose round limits, mostly too long, and runs of
one limit tell how much too long.
Memory is bounded in kinds and in runs of each.
"""

from bisect import bisect_right, insort
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from posse.engine.events import KnownRuns
from posse.engine.pods.pod_class import PodClass

MAX_RUNS = 64
"""Runs of one kind that are remembered, the latest."""
MAX_KINDS = 4096
LEAST_RUNS = 3
"""With fewer runs of a kind, a less specific one is asked."""

OVERRUN = 2.0
"""A run that takes longer than all that is known is expected to take so many times its age in all."""

Kind = tuple[str, tuple[tuple[str, int], ...] | None, int, int, str]


@dataclass(slots=True)
class Runs:
    latest: deque[float] = field(default_factory=deque)
    ordered: list[float] = field(default_factory=list)

    def add(self, seconds: float) -> None:
        self.latest.append(seconds)
        insort(self.ordered, seconds)
        if len(self.latest) > MAX_RUNS:
            oldest = self.latest.popleft()
            del self.ordered[bisect_right(self.ordered, oldest) - 1]

    def quantile(self, share: float, age: float) -> float | None:
        """Of the runs that took longer than `age`; None if none did."""
        first = bisect_right(self.ordered, age)
        count = len(self.ordered) - first
        return self.ordered[first + min(count - 1, int(share * count))] if count else None

    def usual_and_safe(self, age: float) -> tuple[float | None, float | None]:
        """The median, and what nine of ten do not exceed, of the runs that took longer than `age`."""
        return self.quantile(0.5, age), self.quantile(0.9, age)


@dataclass(frozen=True, slots=True)
class RunKind:
    """What runs have in common that are expected to take equally long."""

    namespace: str
    template: PodClass
    pods: int
    limit: int = 0
    """Seconds after which it is ended; 0 without a limit."""
    owner: str = ""
    """The CronJob that creates such runs, if one does."""

    @property
    def is_batched(self) -> bool:
        """Whether jobs created together tell how long it runs; a limit, or a CronJob, tells more."""
        return not self.limit and not self.owner

    def kinds(self) -> tuple[tuple[Kind, str], ...]:
        """From the most specific to all runs, each with its name."""
        requests, limit = self.template.amounts, self.limit
        kinds: tuple[tuple[Kind, str], ...] = (
            ((self.namespace, requests, self.pods, limit, ""), f"equal pods in namespace {self.namespace}"),
            ((self.namespace, None, 0, limit, ""), f"namespace {self.namespace}"),
            (("", requests, self.pods, limit, ""), "equal pods"),
            (("", None, 0, limit, ""), "all pods"),
        )
        if not self.owner:
            return kinds
        own = (self.namespace, requests, self.pods, limit, self.owner)
        return ((own, f"equal pods of {self.owner}"), *kinds)


@dataclass(frozen=True, slots=True)
class Learned:
    usual: float
    """The median, in seconds."""
    safe: float
    """Nine of ten runs take no longer."""
    runs: int
    of: str


@dataclass(frozen=True, slots=True)
class Precedents:
    """The runs that say how long a run takes."""

    runs: Runs
    of: str
    least: float = 0.0
    """It takes longer than this, as others show that were created with it."""

    def learned(self, age: float) -> Learned:
        """How long it takes in all if it has already taken `age` seconds."""
        age = max(age, self.least)
        usual, safe = self.runs.usual_and_safe(age)
        beyond = OVERRUN * age
        number = len(self.runs.ordered)
        return Learned(beyond if usual is None else usual, beyond if safe is None else safe, number, self.of)


class RunHistory:
    def __init__(self) -> None:
        self._runs: dict[Kind, Runs] = {}
        """The kind that was learned last comes last."""

    def learn(self, kind: RunKind, seconds: float) -> None:
        for key, _ in kind.kinds():
            runs = self._runs.pop(key, None) or Runs()
            runs.add(seconds)
            self._runs[key] = runs
        self._forget()

    def _forget(self) -> None:
        while len(self._runs) > MAX_KINDS:
            del self._runs[next(iter(self._runs))]

    def known(self) -> tuple[KnownRuns, ...]:
        """The kinds that were learned last come last."""
        return tuple(
            KnownRuns(
                namespace,
                dict(requests) if requests is not None else None,
                pods,
                tuple(runs.latest),
                limit,
                owner,
            )
            for (namespace, requests, pods, limit, owner), runs in self._runs.items()
        )

    def remember(self, known: KnownRuns) -> None:
        requests = tuple(sorted(known.requests.items())) if known.requests is not None else None
        kind = (known.namespace, requests, known.pods, known.limit, known.owner)
        runs = self._runs.setdefault(kind, Runs())
        for seconds in known.seconds[-MAX_RUNS:]:
            runs.add(seconds)
        self._forget()

    def precedents(self, kind: RunKind, age: float = 0.0, least: float = 0.0) -> Precedents | None:
        """Runs of the most specific kind in which any took longer than `age`, and than `least`.

        If none did, those of the most specific kind that has runs enough.
        """
        longer = max(age, least)
        first = None
        for runs, name in self._known(kind):
            if runs.ordered[-1] > longer:
                return Precedents(runs, name, least)
            first = first or Precedents(runs, name, least)
        return first

    def _known(self, kind: RunKind) -> Iterator[tuple[Runs, str]]:
        """Kinds with runs enough, the most specific first, each with its name."""
        for key, name in kind.kinds():
            runs = self._runs.get(key)
            if runs is not None and len(runs.ordered) >= LEAST_RUNS:
                yield runs, name
