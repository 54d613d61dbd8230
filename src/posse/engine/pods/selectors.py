"""The pods that a rule is about: namespaces, their labels, and labels of the pods themselves.

Affinity terms and spread constraints count such pods; equal queries share one answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from posse.model.meta import LabelSelector
from posse.model.placement import PodAffinityTerm
from posse.model.selectors import LabelQuery, LabelRequirement, label_query


@dataclass(frozen=True, slots=True)
class PodSelector:
    labels: LabelQuery
    namespaces: tuple[str, ...]
    namespace_labels: LabelQuery | None = None
    """Namespaces with such labels count beside those that are named."""

    def matches(self, namespace: str, namespace_labels: Mapping[str, str], labels: Mapping[str, str]) -> bool:
        if namespace not in self.namespaces and (
            self.namespace_labels is None or not self.namespace_labels.matches(namespace_labels)
        ):
            return False
        return self.labels.matches(labels)


@dataclass(frozen=True, slots=True)
class PodQuery:
    """Pods that every one of the selectors matches."""

    selectors: tuple[PodSelector, ...]
    counts_terminating: bool = True

    def matches(self, namespace: str, namespace_labels: Mapping[str, str], labels: Mapping[str, str]) -> bool:
        return all(selector.matches(namespace, namespace_labels, labels) for selector in self.selectors)


def affinity_selector(term: PodAffinityTerm, own_namespace: str) -> PodSelector:
    """The selector of a term; a term without namespaces means the pod's own."""
    names = term.namespaces
    if not names and term.namespace_selector is None:
        names = (own_namespace,)
    by_label = label_query(term.namespace_selector) if term.namespace_selector is not None else None
    return PodSelector(label_query(term.label_selector), tuple(sorted(names)), by_label)


def spread_selector(
    selector: LabelSelector | None,
    match_label_keys: tuple[str, ...],
    namespace: str,
    labels: Mapping[str, str],
) -> PodSelector:
    """The constraint's selector, narrowed to pods that share the pod's own values of some labels."""
    query = label_query(selector)
    shared = [LabelRequirement(key, "In", (labels[key],)) for key in match_label_keys if key in labels]
    if shared and not query.nothing:
        query = LabelQuery((*query.requirements, *shared))
    return PodSelector(query, (namespace,))
