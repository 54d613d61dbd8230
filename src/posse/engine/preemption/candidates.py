"""On which nodes eviction could help, and what it takes there: the victims that are needed, and no others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from posse.engine.cluster_state import ClusterState, PodRecord
from posse.engine.draft import Draft
from posse.engine.groups import GroupBook
from posse.engine.preemption.budgets import BudgetBook
from posse.engine.preemption.units import Unit, units_below
from posse.engine.scene import Subject
from posse.engine.view import REFUSED


@dataclass(frozen=True, slots=True)
class Candidate:
    node: str
    victims: tuple[Unit, ...]
    """Most important first."""
    violations: int
    """How many of them overdraw a disruption budget."""

    def cost(self) -> tuple[int, int, int, int, tuple[int, ...]]:
        """Compared from left to right; less is better. A later start means less work lost."""
        if not self.victims:
            return 0, -(2**31), 0, 0, ()
        highest = self.victims[0].priority
        pods = sum(len(unit.records) for unit in self.victims)
        earliest = min(unit.started for unit in self.victims if unit.priority == highest)
        return (
            self.violations,
            highest,
            sum((unit.priority + 2**31) * len(unit.records) for unit in self.victims),
            pods,
            tuple(-ord(letter) for letter in earliest),
        )


@dataclass(frozen=True, slots=True)
class Preemptor:
    record: PodRecord
    subject: Subject
    priority: int


@dataclass(frozen=True, slots=True)
class Search:
    """Everything a search for victims looks at."""

    state: ClusterState
    groups: GroupBook
    budgets: BudgetBook
    preemptor: Preemptor

    def examine(self, row: int) -> Candidate | None:
        """What must be evicted for the pod to fit on this row; None if nothing that may be evicted makes it fit."""
        node = self.state.nodes.names[row]
        units = units_below(self.state.pods_on(node), self.preemptor.priority, self.groups)
        parts = {id(unit): self._part(unit, node) for unit in units}
        draft = Draft(self.state)
        for part in parts.values():
            draft.remove(part)
        candidate = self._reprieve(draft, row, units, parts) if units and self._fits(row) else None
        draft.roll_back()
        return candidate

    def _reprieve(
        self, draft: Draft, row: int, units: Sequence[Unit], parts: Mapping[int, Sequence[PodRecord]]
    ) -> Candidate:
        """Let stay whoever need not go: first those that budgets protect, the most important before the others."""
        violating, harmless = self.budgets.split(units)
        victims: list[Unit] = []
        violations = 0
        for unit in (*violating, *harmless):
            before = draft.checkpoint()
            draft.put_back(parts[id(unit)])
            if not self._fits(row):
                draft.roll_back(before)
                victims.append(unit)
                violations += unit in violating
        return Candidate(self.state.nodes.names[row], tuple(sorted(victims, key=Unit.importance)), violations)

    def _part(self, unit: Unit, node: str) -> Sequence[PodRecord]:
        """What of a unit makes a difference: of a group all over the cluster, mostly the pods on this node alone."""
        if self.state.view(self.preemptor.subject).looks_around:
            return unit.records
        return [record for record in unit.records if record.node == node]

    def _fits(self, row: int) -> bool:
        return bool(self.state.view(self.preemptor.subject).totals()[row] != REFUSED)
