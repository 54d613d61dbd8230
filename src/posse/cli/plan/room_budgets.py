"""Disruption budgets of the pods that a plan stops, counted for all of them together.

The API for evictions asks a budget for one pod at a time, and refuses pods that several budgets cover.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from posse.apiserver.eviction import covering_budgets, is_outdated, pays_for
from posse.cli.client import Refused
from posse.cli.problems import Problem
from posse.cli.reading.sources import ClusterSource
from posse.engine.reporting.messages import counted
from posse.kinds.registry import POD, POD_DISRUPTION_BUDGET
from posse.model.pod import Pod

Json = dict[str, Any]


@dataclass(slots=True)
class BudgetUse:
    """A budget, and how many of its disruptions a plan needs."""

    budget: Json
    needed: int = 0

    @property
    def allowed(self) -> int:
        return int((self.budget.get("status") or {}).get("disruptionsAllowed") or 0)


def check_budgets(source: ClusterSource, victims: Sequence[Pod]) -> None:
    """Problem: disruption budgets do not suffice for all victims together, or cannot be read."""
    try:
        used = [use for use in _used(source, victims) if use.needed]
    except Refused as refusal:
        raise Problem(f"nothing was stopped: disruption budgets cannot be checked: {refusal}") from refusal
    wrong = [text for use in used if (text := _objection(use))]
    if wrong:
        raise Problem(f"nothing was stopped: {'; '.join(wrong)}")


def _used(source: ClusterSource, victims: Sequence[Pod]) -> Iterator[BudgetUse]:
    """The pods are read again: budgets are charged by labels and readiness."""
    for namespace in dict.fromkeys(pod.metadata.namespace for pod in victims):
        uses = [BudgetUse(one) for one in source.objects(POD_DISRUPTION_BUDGET, namespace, _in_silence)]
        uids = {pod.metadata.uid for pod in victims}
        pods = source.objects(POD, namespace, _in_silence) if uses else ()
        for pod in (one for one in pods if one["metadata"].get("uid") in uids):
            _charge(uses, pod)
        yield from uses


def _charge(uses: Sequence[BudgetUse], pod: Json) -> None:
    covering = {id(budget) for budget in covering_budgets(pod, (use.budget for use in uses))}
    for use in uses:
        use.needed += id(use.budget) in covering and pays_for(use.budget, pod)


def _objection(use: BudgetUse) -> str:
    """Empty if the budget suffices."""
    metadata = use.budget["metadata"]
    name = f"PodDisruptionBudget {metadata['namespace']}/{metadata['name']}"
    if is_outdated(use.budget):
        return f"{name} has changed, and its controller has not counted yet what it allows; try again"
    if use.needed <= use.allowed:
        return ""
    allowed = counted(use.allowed, "disruption") if use.allowed else "no disruption"
    return f"{name} allows {allowed} now, and the plan needs {use.needed}"


def _in_silence(_text: str) -> None:
    """Budgets and their pods are read quickly."""
