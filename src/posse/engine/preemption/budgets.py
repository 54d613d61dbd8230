"""PodDisruptionBudgets.

Evictions that would overdraw one. Budgets rank choices of victims; they never forbid one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from posse.engine.preemption.units import Unit
from posse.engine.state.pod_record import PodRecord
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.pod import Pod
from posse.model.selectors import LabelQuery, SelectorError, label_query


@dataclass(frozen=True, slots=True)
class _Budget:
    namespace: str
    pods: LabelQuery
    allowed: int
    disrupted: tuple[str, ...]
    """Names of pods whose eviction is counted already."""

    def covers(self, pod: Pod) -> bool:
        return (
            pod.metadata.namespace == self.namespace
            and bool(self.pods.requirements)
            and self.pods.matches(pod.metadata.labels)
            and pod.metadata.name not in self.disrupted
        )


class BudgetBook:
    def __init__(self) -> None:
        self._budgets: dict[tuple[str, str], _Budget] = {}

    def put(self, budget: PodDisruptionBudget) -> None:
        """Add or replace a budget; one with an invalid selector protects no pods."""
        key = (budget.metadata.namespace, budget.metadata.name)
        try:
            pods = label_query(budget.spec.selector)
        except SelectorError:
            self._budgets.pop(key, None)
            return
        self._budgets[key] = _Budget(
            budget.metadata.namespace,
            pods,
            budget.status.disruptions_allowed,
            tuple(budget.status.disrupted_pods),
        )

    def drop(self, namespace: str, name: str) -> None:
        self._budgets.pop((namespace, name), None)

    def split(self, units: Sequence[Unit]) -> tuple[list[Unit], list[Unit]]:
        """Units that would overdraw a budget if all were evicted in this order, and the others."""
        if not self._budgets:
            return [], list(units)
        left = {key: budget.allowed for key, budget in self._budgets.items()}
        violating: list[Unit] = []
        harmless: list[Unit] = []
        for unit in units:
            overdraws = not unit.is_ending and self._overdraws(unit, left)
            (violating if overdraws else harmless).append(unit)
        return violating, harmless

    def _overdraws(self, unit: Unit, left: dict[tuple[str, str], int]) -> bool:
        overdrawn = False
        for key in self._covering(unit.records):
            left[key] -= 1
            overdrawn = overdrawn or left[key] < 0
        return overdrawn

    def _covering(self, records: Iterable[PodRecord]) -> Iterable[tuple[str, str]]:
        """Keys of the budgets that cover the pods, once for each pod."""
        for record in records:
            for key, budget in self._budgets.items():
                if budget.covers(record.pod):
                    yield key
