"""A choice of victims that was made, seen as if it were still to be made: what it costs, and what else would do.

Of the search that led to it nothing is remembered, so it is made again, with those that are ending as if they stayed.
Victims that have gone already are gone.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from posse.engine.cluster_state import PodRecord
from posse.engine.preemption.budgets import BudgetBook
from posse.engine.preemption.cost import Choice, Cost, cost_of
from posse.engine.preemption.group_search import Room
from posse.engine.preemption.preempt import Outcome
from posse.engine.preemption.units import Unit


@dataclass(frozen=True, slots=True)
class Hindsight:
    victims: tuple[Unit, ...]
    cost: Cost
    others: tuple[Choice, ...]
    """The best that were not chosen, or would be by now."""


@contextmanager
def as_if_undecided(victims: Sequence[PodRecord], waiting: Iterable[PodRecord]) -> Iterator[None]:
    """For a search that is to find what it would have found: nobody is ending, and no room is meant for those that wait."""
    endings = [(record, record.pod, record.evicted_for) for record in victims]
    nominations = [(record, record.nominated) for record in waiting]
    for record in victims:
        metadata = replace(record.pod.metadata, deletion_timestamp="")
        record.pod, record.evicted_for = replace(record.pod, metadata=metadata), ""
    for record, _ in nominations:
        record.nominated = ""
    try:
        yield
    finally:
        for record, pod, evicted_for in endings:
            record.pod, record.evicted_for = pod, evicted_for
        for record, node in nominations:
            record.nominated = node


def in_hindsight(units: Sequence[Unit], budgets: BudgetBook, found: Room | Outcome | None) -> Hindsight:
    """Of these victims, beside what a search finds now."""
    violating, _ = budgets.split(units)
    chosen = uids_of(units)
    others = tuple(
        choice for choice in _choices(found) if not uids_of(choice.victims).keys() >= chosen.keys()
    )
    return Hindsight(tuple(units), cost_of(units, len(violating)), others)


def _choices(found: Room | Outcome | None) -> Iterator[Choice]:
    if isinstance(found, Outcome) and found.chosen is not None:
        yield Choice(found.chosen.victims, found.chosen.cost(), found.chosen.node)
    elif isinstance(found, Room) and found.cost is not None:
        yield Choice(found.victims, found.cost)
    yield from found.others if found is not None else ()


def uids_of(units: Iterable[Unit]) -> dict[str, None]:
    """In no order that matters."""
    return {record.ref.uid: None for unit in units for record in unit.records}
