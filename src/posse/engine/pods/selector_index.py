"""Finds, among many questions about labels, the few that a pod may be an answer to.

Most questions ask for one value of some label. A question is filed under the first such value that it asks for, its anchor;
a pod without it matches nothing that is filed there. Questions without an anchor are always among the few.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from posse.engine.pods.selectors import PodSelector
from posse.model.selectors import LabelRequirement

Question = TypeVar("Question")


class SelectorIndex(Generic[Question]):
    def __init__(self) -> None:
        # By key, then by value of the label.
        self._anchored: dict[str, dict[str, dict[Question, None]]] = {}
        self._others: dict[Question, None] = {}

    def add(self, question: Question, selectors: Iterable[PodSelector]) -> None:
        anchor = anchor_of(selectors)
        if anchor is None:
            self._others[question] = None
            return
        by_value = self._anchored.setdefault(anchor.key, {})
        for value in anchor.values:
            by_value.setdefault(value, {})[question] = None

    def remove(self, question: Question, selectors: Iterable[PodSelector]) -> None:
        anchor = anchor_of(selectors)
        if anchor is None:
            del self._others[question]
            return
        by_value = self._anchored[anchor.key]
        for value in dict.fromkeys(anchor.values):
            del by_value[value][question]
            if not by_value[value]:
                del by_value[value]
        if not by_value:
            del self._anchored[anchor.key]

    def near(self, labels: Mapping[str, str]) -> Iterator[Question]:
        """Yield whatever a pod with these labels may match, each once."""
        yield from self._others
        for key, by_value in self._anchored.items():
            if key in labels:
                yield from by_value.get(labels[key], ())


def anchor_of(selectors: Iterable[PodSelector]) -> LabelRequirement | None:
    """Return the first requirement of certain values; whoever does not meet it matches none of the selectors together."""
    for selector in selectors:
        for requirement in selector.labels.requirements:
            if requirement.operator == "In":
                return requirement
    return None
