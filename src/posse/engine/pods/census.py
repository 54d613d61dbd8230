"""Numbers of pods on each node: one column per query of a rule.

Queries count the pods that match a selector (of affinity and spread); traits count pods that carry one (an
anti-affinity term, a host port). Pods with equal namespace and labels match the same queries, so a query is
compared with label classes, not with pods. Most queries ask for one value of some label and are indexed by
it, their anchor: a pod without that value matches none of them. An unused query costs nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.pods.affinity_terms import AttractingTerm, HostPort, RepellingTerm, WeightedTerm
from posse.engine.pods.selectors import PodQuery, PodSelector
from posse.model.pod import Pod
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
        """Yield every question that a pod with these labels may match, each once."""
        yield from self._others
        # Whichever is shorter: a pod may have few labels and others many questions, or the other way round.
        few_keys = len(self._anchored) <= len(labels)
        for key in self._anchored if few_keys else labels:
            if key in labels and key in self._anchored:
                yield from self._anchored[key].get(labels[key], ())


def anchor_of(selectors: Iterable[PodSelector]) -> LabelRequirement | None:
    """The first requirement of certain values; pods that fail it match none of the selectors together."""
    for selector in selectors:
        for requirement in selector.labels.requirements:
            if requirement.operator == "In":
                return requirement
    return None


TermTrait = RepellingTerm | AttractingTerm | WeightedTerm
Trait = TermTrait | HostPort
LabelKey = tuple[str, tuple[tuple[str, str], ...], bool]


@dataclass(slots=True, eq=False)
class Column:
    """`counts` has an entry for every row; pods on unknown nodes are in none."""

    counts: IntArray
    askers: int = 0
    """How many pod classes use the column."""
    total: int = 0
    """Pods counted, over all rows."""

    def add(self, rows: IntArray, pods: IntArray) -> None:
        """Count that many more pods on each of the rows, which are distinct."""
        self.counts[rows] += pods
        self.total += int(pods.sum())

    def add_one(self, row: int, sign: int) -> None:
        self.counts[row] += sign
        self.total += sign

    def clear(self, row: int) -> None:
        self.total -= int(self.counts[row])
        self.counts[row] = 0


@dataclass(slots=True, eq=False)
class LabelClass:
    """Pods that no query can distinguish."""

    key: LabelKey
    namespace: str
    labels: Mapping[str, str]
    matched: tuple[Column, ...] = ()
    """Columns of the queries that match these pods."""
    matched_by: tuple[Trait, ...] = ()
    """Traits of other pods whose selectors match these."""
    version: int = -1
    """Version of the census when the two fields above were computed."""
    member_count: int = 0

    @property
    def is_terminating(self) -> bool:
        return self.key[2]


AttachedPod = tuple[LabelClass, int]
"""A pod on a node: its labels and the row."""


class Census:
    def __init__(self, size: int) -> None:
        self.size = size
        self._queries: dict[PodQuery, Column] = {}
        self._traits: dict[Trait, Column] = {}
        self._ports: dict[tuple[str, int], dict[HostPort, Column]] = {}
        """Traits that are host ports, by protocol and port."""
        self._query_anchors: SelectorIndex[PodQuery] = SelectorIndex()
        self._term_anchors: SelectorIndex[TermTrait] = SelectorIndex()
        self._label_classes: dict[LabelKey, LabelClass] = {}
        self._namespace_labels: dict[str, Mapping[str, str]] = {}
        self._version = 0
        """Grows when a question is added or removed, or when its matches may have changed."""

    def join(self, pod: Pod) -> LabelClass:
        terminating = bool(pod.metadata.deletion_timestamp)
        key = (pod.metadata.namespace, tuple(sorted(pod.metadata.labels.items())), terminating)
        label_class = self._label_classes.get(key)
        if label_class is None:
            label_class = self._label_classes[key] = LabelClass(
                key, pod.metadata.namespace, pod.metadata.labels
            )
        label_class.member_count += 1
        return label_class

    def leave(self, label_class: LabelClass) -> None:
        label_class.member_count -= 1
        if not label_class.member_count:
            del self._label_classes[label_class.key]

    @property
    def version(self) -> int:
        return self._version

    @property
    def has_queries(self) -> bool:
        return bool(self._queries)

    def matches(self, query: PodQuery | PodSelector, label_class: LabelClass) -> bool:
        namespace_labels = self._namespace_labels.get(label_class.namespace, {})
        return query.matches(label_class.namespace, namespace_labels, label_class.labels)

    def matched(self, label_class: LabelClass) -> tuple[Column, ...]:
        self._refresh(label_class)
        return label_class.matched

    def matched_by(self, label_class: LabelClass) -> tuple[Trait, ...]:
        self._refresh(label_class)
        return label_class.matched_by

    def column(self, query: PodQuery) -> Column:
        """The column of a query that some pod class has asked."""
        return self._queries[query]

    def trait(self, trait: Trait) -> Column | None:
        """The column of pods with the trait; None if no pod has it."""
        return self._traits.get(trait)

    def ports(self) -> list[Column]:
        """The columns of all host ports."""
        return [column for same in self._ports.values() for column in same.values()]

    def clashing(self, port: HostPort) -> list[Column]:
        """The columns of host ports that a pod with this one cannot stand beside."""
        same = self._ports.get((port.protocol, port.port), {})
        return [column for taken, column in same.items() if taken.clashes(port)]

    def ask(self, queries: Iterable[PodQuery], attached: Callable[[], Iterable[AttachedPod]]) -> None:
        """Answer queries from now on, starting with the attached pods. Undone by `drop`."""
        fresh: SelectorIndex[PodQuery] = SelectorIndex()
        is_fresh = False
        for query in queries:
            column = self._queries.get(query)
            if column is None:
                column = self._queries[query] = Column(np.zeros(self.size, dtype=np.int64))
                self._query_anchors.add(query, query.selectors)
                fresh.add(query, query.selectors)
                is_fresh = True
            column.askers += 1
        if is_fresh:
            self._version += 1
            self._count_attached(fresh, attached())

    def _count_attached(self, fresh: SelectorIndex[PodQuery], attached: Iterable[AttachedPod]) -> None:
        """Once for each label class, however many pods and queries there are."""
        matched: dict[LabelClass, list[Column]] = {}
        for label_class, row in attached:
            columns = matched.get(label_class)
            if columns is None:
                near = fresh.near(label_class.labels)
                columns = [self._queries[query] for query in near if self._counts(query, label_class)]
                matched[label_class] = columns
            for column in columns:
                column.add_one(row, 1)

    def drop(self, query: PodQuery) -> None:
        column = self._queries[query]
        column.askers -= 1
        if not column.askers:
            del self._queries[query]
            self._query_anchors.remove(query, query.selectors)
            self._version += 1

    def bring(self, trait: Trait) -> Column:
        """The column of a trait of a pod class. Undone by `take_away`."""
        column = self._traits.get(trait)
        if column is None:
            column = self._traits[trait] = Column(np.zeros(self.size, dtype=np.int64))
            if isinstance(trait, HostPort):
                self._ports.setdefault((trait.protocol, trait.port), {})[trait] = column
            else:
                self._term_anchors.add(trait, [trait.term.selector])
            self._version += 1
        column.askers += 1
        return column

    def take_away(self, trait: Trait) -> None:
        column = self._traits[trait]
        column.askers -= 1
        if not column.askers:
            del self._traits[trait]
            if isinstance(trait, HostPort):
                self._forget_port(trait)
            else:
                self._term_anchors.remove(trait, [trait.term.selector])
            self._version += 1

    def _forget_port(self, port: HostPort) -> None:
        same = self._ports[port.protocol, port.port]
        del same[port]
        if not same:
            del self._ports[port.protocol, port.port]

    def put_namespace(self, name: str, labels: Mapping[str, str], attached: Iterable[AttachedPod]) -> None:
        """Labels of a namespace decide what queries match in it: new ones cause a full recount."""
        if self._namespace_labels.get(name, {}) == labels:
            return
        self._namespace_labels[name] = labels
        self._version += 1
        for column in self._queries.values():
            column.counts[:] = 0
            column.total = 0
        for label_class, row in attached:
            for column in self.matched(label_class):
                column.add_one(row, 1)

    def clear_row(self, row: int) -> None:
        for column in (*self._queries.values(), *self._traits.values()):
            column.clear(row)

    def grow(self, size: int) -> None:
        more, self.size = size - self.size, size
        for column in (*self._queries.values(), *self._traits.values()):
            column.counts = np.pad(column.counts, (0, more))

    def _refresh(self, label_class: LabelClass) -> None:
        if label_class.version == self._version:
            return
        label_class.version = self._version
        label_class.matched = tuple(
            self._queries[query]
            for query in self._query_anchors.near(label_class.labels)
            if self._counts(query, label_class)
        )
        label_class.matched_by = tuple(
            term
            for term in self._term_anchors.near(label_class.labels)
            if self.matches(term.term.selector, label_class)
        )

    def _counts(self, query: PodQuery, label_class: LabelClass) -> bool:
        if label_class.is_terminating and not query.counts_terminating:
            return False
        return self.matches(query, label_class)
