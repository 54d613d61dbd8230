"""Compares Posse with another scheduler that does the work: what each decided, and how often they agree.

Nothing is written. Every binding is refused to the engine, so that it tries again on the cluster as it is.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from posse.engine.decisions import Bind
from posse.engine.events import EngineEvent, Observed, Vanished
from posse.engine.groups.forms import group_of
from posse.engine.keys import GroupKey, PodRef
from posse.kinds.machinery.errors import FORBIDDEN, ApiError
from posse.kinds.machinery.kind import Json, Kind
from posse.model.pod import ENDED_PHASES, Pod
from posse.runtime.scheduling.dry_run import DryRun
from posse.runtime.scheduling.observers import Round
from posse.transport.patches import Patch
from posse.transport.transport import PodBinding

Key = GroupKey | str
"""A group by key, or a pod without a group by uid."""


class ShadowOutcome(StrEnum):
    """What Posse had decided about a pod that the other scheduler has bound."""

    SAME_NODE = "same_node"
    OTHER_NODE = "other_node"
    REFUSED = "refused"
    """Posse had found no node for it."""
    NOT_TRIED = "not_tried"
    """The other scheduler was faster, so there is nothing to compare."""


class ShadowTransport(DryRun):
    """Passes reads on, and refuses writes."""

    async def patch(
        self,
        kind: Kind,  # noqa: ARG002 - part of the seam, here and below
        namespace: str,  # noqa: ARG002
        name: str,  # noqa: ARG002
        patch: Patch,  # noqa: ARG002
        *,
        subresource: str = "",  # noqa: ARG002
    ) -> Json:
        raise _only_looking()

    async def bind_all(self, groups: Sequence[Sequence[PodBinding]]) -> Sequence[Sequence[ApiError | None]]:
        return [[_only_looking()] * len(group) for group in groups]


def _only_looking() -> ApiError:
    return ApiError(FORBIDDEN, "Shadow", "only looking on")


@dataclass(slots=True)
class Placeable:
    """A group or pod that Posse would have bound and the other scheduler has not."""

    name: str
    since: float
    nodes: dict[str, str] = field(default_factory=dict)
    """The node of each pod in the last attempt, by pod name."""


class ShadowLedger:
    """Observes decisions and what the engine absorbs."""

    def __init__(self, clock: Callable[[], float], scheduler_names: Sequence[str]) -> None:
        self._clock = clock
        self._scheduler_names = frozenset(scheduler_names)
        self._pending: dict[str, tuple[Key, str]] = {}
        """Pods that wait for the other scheduler, by uid: their group, and their name."""
        self._waiting: dict[Key, set[str]] = {}
        """The uids of these pods by group; a group without any is forgotten."""
        self._placeable: dict[Key, Placeable] = {}
        self._refused: set[Key] = set()
        self.outcomes: Counter[ShadowOutcome] = Counter()

    def decided(self, done: Round) -> None:
        for tried in done.tried:
            if not tried.verdict.succeeded:
                key = tried.who.uid if isinstance(tried.who, PodRef) else tried.who
                self._placeable.pop(key, None)
                if key in self._waiting:
                    self._refused.add(key)
        for bind in done.binds():
            self._note(bind)

    def bound(self, done: Round, refusals: Mapping[str, str]) -> None:
        """ShadowTransport refuses all of them."""

    def volumes_refused(self, pod: PodRef, node: str, reason: str) -> None:
        """ShadowTransport refuses all of them."""

    def absorbed(self, event: EngineEvent) -> None:
        if isinstance(event, Observed | Vanished) and isinstance(event.obj, Pod):
            pod = event.obj
            if isinstance(event, Vanished) or pod.status.phase in ENDED_PHASES:
                self._forget(pod.metadata.uid)
            elif pod.spec.node_name:
                self._settle(pod)
            elif pod.spec.scheduler_name in self._scheduler_names:
                self._await(pod)

    @property
    def agreement(self) -> float | None:
        """Share of pods that Posse would have bound, of those it had tried and the other scheduler bound."""
        placed = self.outcomes[ShadowOutcome.SAME_NODE] + self.outcomes[ShadowOutcome.OTHER_NODE]
        compared = placed + self.outcomes[ShadowOutcome.REFUSED]
        return placed / compared if compared else None

    def placeable(self) -> list[Placeable]:
        """What Posse would have bound and still waits, the longest first."""
        return sorted(self._placeable.values(), key=lambda each: (each.since, each.name))

    def page(self) -> dict[str, Any]:
        now = self._clock()
        return {
            "agreement": self.agreement,
            "boundByTheOther": {outcome.value: self.outcomes[outcome] for outcome in ShadowOutcome},
            "placeable": [
                {"name": each.name, "seconds": round(now - each.since, 1), "nodes": each.nodes}
                for each in self.placeable()
            ],
        }

    def summary(self) -> str:
        waiting = ", ".join(each.name for each in self.placeable()[:10]) or "nothing"
        return f"{self._comparison()}; waiting although there is room: {waiting}"

    def _comparison(self) -> str:
        same, other = self.outcomes[ShadowOutcome.SAME_NODE], self.outcomes[ShadowOutcome.OTHER_NODE]
        compared, untried = same + other + self.outcomes[ShadowOutcome.REFUSED], ShadowOutcome.NOT_TRIED
        faster = (
            f"; {self.outcomes[untried]} were bound before Posse tried them" if self.outcomes[untried] else ""
        )
        if not compared:
            return f"nothing to compare yet{faster}"
        return f"{same + other} of {compared} pods were placed by both, {same} on the same node{faster}"

    def _await(self, pod: Pod) -> None:
        uid, name = pod.metadata.uid, f"{pod.metadata.namespace}/{pod.metadata.name}"
        key = group_of(pod) or uid
        if uid in self._pending and self._pending[uid] != (key, name):
            self._forget(uid)
        self._pending[uid] = key, name
        self._waiting.setdefault(key, set()).add(uid)

    def _note(self, bind: Bind) -> None:
        for placement in bind.placements:
            key = bind.group or placement.pod.uid
            self._refused.discard(key)
            pod_name = f"{placement.pod.namespace}/{placement.pod.name}"
            entry = self._placeable.setdefault(key, Placeable(str(bind.group or pod_name), self._clock()))
            entry.nodes[pod_name] = placement.node

    def _settle(self, pod: Pod) -> None:
        """Compare a pod that the other scheduler has bound."""
        key, name = self._pending.get(pod.metadata.uid, ("", ""))
        if not name:
            return
        entry = self._placeable.get(key)
        would = entry.nodes.get(name) if entry else None
        if would is not None:
            outcome = ShadowOutcome.SAME_NODE if would == pod.spec.node_name else ShadowOutcome.OTHER_NODE
        else:
            outcome = ShadowOutcome.REFUSED if key in self._refused else ShadowOutcome.NOT_TRIED
        self.outcomes[outcome] += 1
        self._forget(pod.metadata.uid)

    def _forget(self, uid: str) -> None:
        if uid not in self._pending:
            return
        key, name = self._pending.pop(uid)
        entry = self._placeable.get(key)
        if entry is not None:
            entry.nodes.pop(name, None)
            if not entry.nodes:
                del self._placeable[key]
        self._waiting[key].discard(uid)
        if not self._waiting[key]:
            del self._waiting[key]
            self._refused.discard(key)


class ShadowGauges(Collector):
    def __init__(self, ledger: ShadowLedger) -> None:
        self._ledger = ledger

    def collect(self) -> Iterator[Metric]:
        pods = CounterMetricFamily(
            "posse_shadow_pods",
            "Pods that the other scheduler bound, by what Posse made of them.",
            labels=("outcome",),
        )
        for outcome in ShadowOutcome:
            pods.add_metric((outcome.value,), self._ledger.outcomes[outcome])
        yield pods
        placeable = self._ledger.placeable()
        yield GaugeMetricFamily(
            "posse_shadow_placeable",
            "Groups and single pods that wait although there is room.",
            len(placeable),
        )
