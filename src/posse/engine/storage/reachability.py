"""Nodes from which a volume can be reached: node selectors of volumes and storage class topologies, as rows.

Answers are kept until a node is added, removed or changed. Volumes of one zone share one answer.
"""

import numpy as np

from posse.engine.nodes.arrays import ALL_ROWS, BoolArray, IntArray
from posse.engine.nodes.node_selectors import selector_test
from posse.engine.nodes.node_table import NodeTable
from posse.model.placement import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from posse.model.volume import StorageClass


class Reach:
    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._rows: dict[NodeSelector | None, IntArray] = {}
        self._version = -1
        """Version of the node descriptions when the rows were computed."""

    def rows(self, selector: NodeSelector | None) -> IntArray:
        """Rows of nodes that the selector matches, in order; None matches all."""
        if self._version != self._nodes.description_version:
            self._rows.clear()
            self._version = self._nodes.description_version
        known = self._rows.get(selector)
        if known is None:
            known = self._rows[selector] = np.flatnonzero(self._matched(selector))
        return known

    def mask(self, selector: NodeSelector | None) -> BoolArray:
        mask = np.zeros(self._nodes.alive.size, dtype=np.bool_)
        mask[self.rows(selector)] = True
        return mask

    def _matched(self, selector: NodeSelector | None) -> BoolArray:
        if selector is None:
            return self._nodes.alive
        return self._nodes.alive & selector_test(self._nodes, selector.node_selector_terms)(ALL_ROWS)


def allowed_topologies(storage_class: StorageClass) -> NodeSelector | None:
    """Where volumes of the class can be provisioned, as a node selector; None means anywhere."""
    if not storage_class.allowed_topologies:
        return None
    terms = [
        NodeSelectorTerm(
            match_expressions=tuple(
                NodeSelectorRequirement(key=wanted.key, operator="In", values=wanted.values)
                for wanted in term.match_label_expressions
            )
        )
        for term in storage_class.allowed_topologies
    ]
    return NodeSelector(node_selector_terms=tuple(terms))
