"""What a plan says of each group and pod: whether it starts, where, at whose cost; or why it waits."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum

import msgspec

from posse.cli.explain.changes import caveat_of, changes_of
from posse.cli.explain.forecast_words import starts_text
from posse.cli.explain.group_words import cause
from posse.cli.explain.targets import short_name
from posse.cli.plan.quotas import RefusedObject
from posse.cli.plan.trial import TrialDecisions, preemptor_of
from posse.cli.reading.cluster_reader import Survey
from posse.cli.reading.forecasts import made_forecasts
from posse.cli.reading.placements import rack_label
from posse.cli.tables import aligned
from posse.engine.explain.group_status import GroupStatus, State
from posse.engine.forecast.forecast import Unforeseen
from posse.engine.forecast.forecast_note import ForecastNote, note_of
from posse.engine.groups.forms import group_of
from posse.engine.keys import GroupKey, PodRef
from posse.engine.reporting.cause_messages import lack_text
from posse.model.pod import Pod

MAX_NODES = 4


class PlanOutcome(StrEnum):
    STARTS = "starts"
    WAITS = "waits"
    PREEMPTS = "preempts"
    RUNS = "runs already"


class Planned(msgspec.Struct, frozen=True, rename="camel"):
    namespace: str
    name: str
    kind: str
    outcome: PlanOutcome
    pods: int
    placed: int
    nodes: dict[str, int]
    """How many of its pods go to each node."""
    racks: tuple[str, ...]
    victims: tuple[str, ...]
    """Pods that are evicted for it, as namespace/name."""
    why: str
    """Why it waits."""
    changes: tuple[str, ...]
    """Each of these would let it start."""
    caveat: str = ""
    """What may come before it and take what the changes add or free."""
    forecast: ForecastNote | None = None
    """When it is expected to start, if it waits."""


class Report(msgspec.Struct, frozen=True, rename="camel"):
    outcome: PlanOutcome
    submitted: tuple[Planned, ...]
    affected: tuple[Planned, ...]
    """Existing groups and pods that the changes of the cluster move, start or stop."""
    refused: tuple[RefusedObject, ...] = ()
    """What a quota would refuse; the plan is about the rest."""


def planned(survey: Survey, decided: TrialDecisions, pods: Collection[str], now: float) -> list[Planned]:
    """For each group, and each pod without a group, that has any of these pods (uids)."""
    forecasts = made_forecasts(survey, now)
    keys = {group_of(pod) for pod in survey.pods.values() if pod.metadata.uid in pods}
    found = [
        msgspec.structs.replace(one, forecast=note_of(forecasts[root]))
        if root in forecasts and one.outcome is PlanOutcome.WAITS
        else one
        for root, one in _groups(survey, decided, keys, pods)
    ]
    alone = (pod for pod in survey.pods.values() if pod.metadata.uid in pods and group_of(pod) is None)
    return [*found, *(_pod(survey, decided, pod) for pod in alone)]


def overall(found: Iterable[Planned]) -> PlanOutcome:
    outcomes = {one.outcome for one in found}
    order = (PlanOutcome.WAITS, PlanOutcome.PREEMPTS)
    return next((outcome for outcome in order if outcome in outcomes), PlanOutcome.STARTS)


def _groups(
    survey: Survey, decided: TrialDecisions, keys: Collection[GroupKey | None], pods: Collection[str]
) -> Iterator[tuple[GroupKey, Planned]]:
    """Each with the root of its tree."""
    root: GroupKey | None = None
    for now in survey.situations():
        root = now.key if now.depth == 0 else root
        if now.key in keys:
            yield root or now.key, _group(survey, decided, now, root or now.key, pods)


def _group(
    survey: Survey, decided: TrialDecisions, now: GroupStatus, root: GroupKey, pods: Collection[str]
) -> Planned:
    members = [pod for pod in survey.members.get(now.key, {}).values() if pod.metadata.uid in pods]
    started = [decided.nodes[pod.metadata.uid] for pod in members if pod.metadata.uid in decided.nodes]
    nodes = started or [pod.spec.node_name for pod in members if pod.spec.node_name]
    victims = _victims(decided, root)
    outcome = PlanOutcome.WAITS
    if now.state is State.SCHEDULED and nodes:
        outcome = PlanOutcome.PREEMPTS if victims else PlanOutcome.STARTS
        outcome = outcome if started else PlanOutcome.RUNS
    waits = outcome is PlanOutcome.WAITS
    explanation = survey.engine.explain(root) if waits else None
    changes = changes_of(explanation)
    return Planned(
        now.key.namespace,
        short_name(now.key),
        "PodGroup",
        outcome,
        len(members),
        len(nodes),
        dict(Counter(nodes)),
        _racks(survey, nodes),
        victims,
        cause(now, survey.fates(now.key)) if waits or len(nodes) < len(members) else "",
        changes,
        caveat_of(explanation) if changes else "",
    )


def _pod(survey: Survey, decided: TrialDecisions, pod: Pod) -> Planned:
    uid = pod.metadata.uid
    node = decided.nodes.get(uid, "")
    victims = _victims(decided, uid)
    explanation = None if node else survey.engine.explain_pod(uid)
    why = "" if node else "its scheduler is another one, or it is invalid"
    if explanation is not None:
        why = explanation.held
        if explanation.obstacle is not None:
            why = lack_text(explanation.obstacle.shortfall)
    outcome = PlanOutcome.WAITS
    if node:
        outcome = PlanOutcome.PREEMPTS if victims else PlanOutcome.STARTS
    return Planned(
        pod.metadata.namespace,
        pod.metadata.name,
        "Pod",
        outcome,
        1,
        1 if node else 0,
        {node: 1} if node else {},
        _racks(survey, [node] if node else []),
        victims,
        why,
        (),
    )


def _victims(decided: TrialDecisions, who: GroupKey | str) -> tuple[str, ...]:
    """Victims of a group, or of the pod with this uid."""
    return tuple(
        f"{eviction.pod.namespace}/{eviction.pod.name}"
        for eviction in decided.evictions
        if who == _identity(preemptor_of(eviction))
    )


def _identity(preemptor: GroupKey | PodRef) -> GroupKey | str:
    return preemptor.uid if isinstance(preemptor, PodRef) else preemptor


def _racks(survey: Survey, nodes: Sequence[str]) -> tuple[str, ...]:
    label = rack_label(survey.nodes.values())
    known = [survey.nodes[name].metadata.labels for name in nodes if name in survey.nodes]
    return tuple(sorted({labels[label] for labels in known if label in labels}))


def table_of(found: Sequence[Planned]) -> list[str]:
    header = ["NAMESPACE", "NAME", "KIND", "OUTCOME", "PODS", "RACK", "NODES"]
    rows = [
        [
            one.namespace,
            one.name,
            one.kind,
            one.outcome,
            f"{one.placed}/{one.pods}",
            ",".join(one.racks) or "-",
            _places(one.nodes),
        ]
        for one in found
    ]
    return aligned([header, *rows])


def details_of(found: Sequence[Planned], now: float) -> Iterator[str]:
    """Victims, reasons and changes that would help, below the table."""
    for one in found:
        lines = []
        if one.victims:
            lines.append(f"evicts {len(one.victims)}: {', '.join(one.victims)}")
        if one.why:
            lines.append(f"waits: {one.why}" if one.outcome is PlanOutcome.WAITS else f"the rest: {one.why}")
        if one.forecast is not None and one.forecast.unforeseen is not Unforeseen.NODES:
            lines.append(f"starts {starts_text(one.forecast, now, one.namespace)}")
        lines += [f"would start with: {change}" for change in one.changes]
        lines += [one.caveat] if one.caveat else []
        if lines:
            yield ""
            yield f"{one.kind} {one.namespace}/{one.name}"
            yield from (f"  {line}" for line in lines)


def _places(nodes: dict[str, int]) -> str:
    shown = [f"{name} ({number})" for name, number in sorted(nodes.items())]
    rest = len(shown) - MAX_NODES
    return ", ".join(shown[:MAX_NODES]) + (f" and {rest} more" if rest > 0 else "") or "-"
