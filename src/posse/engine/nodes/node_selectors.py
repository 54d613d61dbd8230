"""Node selectors and tolerations, compared on interned columns of labels and taints.

Terms of a selector are alternatives; the expressions of a term must all hold; a term without any matches
nothing. Nodes share few distinct sets of taints, so tolerations are compared once per set.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.nodes.label_columns import ABSENT
from posse.engine.nodes.node_table import NodeTable
from posse.model.node import Taint
from posse.model.placement import NodeSelectorRequirement, NodeSelectorTerm, Toleration
from posse.model.pod import PodSpec
from posse.model.selectors import matches_requirement

RowTest = Callable[[Rows], BoolArray]

_NAME = "metadata.name"


def required_affinity_test(nodes: NodeTable, spec: PodSpec) -> RowTest | None:
    """The pod's nodeSelector and required node affinity; None if it has neither."""
    tests = [
        _requirement_test(nodes, NodeSelectorRequirement(key=key, operator="In", values=(value,)))
        for key, value in sorted(spec.node_selector.items())
    ]
    terms = required_terms(spec)
    if terms is not None:
        tests.append(selector_test(nodes, terms))
    return partial(_all, tests) if tests else None


def required_terms(spec: PodSpec) -> tuple[NodeSelectorTerm, ...] | None:
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    return required.node_selector_terms if required is not None else None


def pinned_names(spec: PodSpec) -> tuple[str, ...] | None:
    """The names of nodes that the pod's terms list; None if some term leaves the name open."""
    pinned = [_names_of(term) for term in required_terms(spec) or ()]
    named = [names for names in pinned if names is not None]
    return tuple(name for names in named for name in names) if named and len(named) == len(pinned) else None


def _names_of(term: NodeSelectorTerm) -> tuple[str, ...] | None:
    """The names that all requirements of the term allow; None if none of them lists names."""
    lists = [
        requirement.values
        for requirement in term.match_fields
        if requirement.key == _NAME and requirement.operator == "In"
    ]
    return tuple(name for name in lists[0] if all(name in names for names in lists)) if lists else None


def name_test(nodes: NodeTable, names: Sequence[str]) -> RowTest:
    def passes(rows: Rows) -> BoolArray:
        named = np.zeros(nodes.alive.size, dtype=np.bool_)
        named[[nodes.row_of[name] for name in names if name in nodes.row_of]] = True
        return named[rows]

    return passes


def selector_test(nodes: NodeTable, terms: Sequence[NodeSelectorTerm]) -> RowTest:
    """Terms are alternatives. Without any, no node matches."""
    tests = [term_test(nodes, term) for term in terms]
    return partial(_any, tests) if tests else partial(_constant, nodes, False)


def term_test(nodes: NodeTable, term: NodeSelectorTerm) -> RowTest:
    tests = [_requirement_test(nodes, requirement) for requirement in term.match_expressions]
    tests += [_field_test(nodes, requirement) for requirement in term.match_fields]
    return partial(_all, tests) if tests else partial(_constant, nodes, False)


def _requirement_test(nodes: NodeTable, requirement: NodeSelectorRequirement) -> RowTest:
    column = nodes.labels.column(requirement.key)
    answers: list[bool] = []
    """For comparisons: whether each value of the column satisfies it."""

    def among(rows: Rows) -> BoolArray:
        ids = column.ids[rows]
        found = np.zeros(ids.shape, dtype=np.bool_)
        for value in requirement.values:
            found |= np.equal(ids, column.id_of(value))
        return found

    def exists(rows: Rows) -> BoolArray:
        return np.not_equal(column.ids[rows], ABSENT)

    def compares(rows: Rows) -> BoolArray:
        answers.extend(_label_satisfies(requirement, value) for value in column.values[len(answers) :])
        return np.array([*answers, False], dtype=np.bool_)[column.ids[rows]]

    tests: dict[str, RowTest] = {
        "In": among,
        "NotIn": lambda rows: ~among(rows),
        "Exists": exists,
        "DoesNotExist": lambda rows: ~exists(rows),
        "Gt": compares,
        "Lt": compares,
    }
    return tests.get(requirement.operator, partial(_constant, nodes, False))


def _label_satisfies(requirement: NodeSelectorRequirement, label: str) -> bool:
    key = requirement.key
    return matches_requirement(requirement.operator, requirement.values, {key: label}, key)


def _field_test(nodes: NodeTable, requirement: NodeSelectorRequirement) -> RowTest:
    """The only field that can be matched is metadata.name."""
    if requirement.key != _NAME or requirement.operator not in {"In", "NotIn"}:
        return partial(_constant, nodes, False)
    named = name_test(nodes, requirement.values)
    return named if requirement.operator == "In" else lambda rows: ~named(rows)


def _constant(nodes: NodeTable, answer: bool, rows: Rows) -> BoolArray:
    return np.full(nodes.alive[rows].shape, answer, dtype=np.bool_)


def _all(tests: Sequence[RowTest], rows: Rows) -> BoolArray:
    passed = tests[0](rows)
    for test in tests[1:]:
        passed = passed & test(rows)
    return passed


def _any(tests: Sequence[RowTest], rows: Rows) -> BoolArray:
    passed = tests[0](rows)
    for test in tests[1:]:
        passed = passed | test(rows)
    return passed


CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
"""The taint that a cordon implies."""

_REPELLING = frozenset({"NoSchedule", "NoExecute"})


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    return any(_covers(toleration, taint) for toleration in tolerations)


def _covers(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in {"", "Equal"} and toleration.value == taint.value


def repels(taint: Taint, tolerations: Sequence[Toleration]) -> bool:
    """Whether the taint repels pods with these tolerations."""
    return taint.effect in _REPELLING and not tolerated(taint, tolerations)


def accepted_taints_test(nodes: NodeTable, tolerations: tuple[Toleration, ...]) -> RowTest:
    """Nodes without a taint that repels such a pod."""
    answers: list[bool] = []

    def accepts(taints: tuple[Taint, ...]) -> bool:
        return not any(repels(taint, tolerations) for taint in taints)

    def passes(rows: Rows) -> BoolArray:
        answers.extend(accepts(taints) for taints in nodes.taint_sets[len(answers) :])
        sets = nodes.taint_set[rows]
        if all(answers):
            return np.ones(sets.shape, dtype=np.bool_)
        return np.array(answers, dtype=np.bool_)[sets]

    return passes
