"""Counts per node summed over topology domains, and mapped back to every node of the domain."""

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.nodes.label_columns import LabelColumn
from posse.engine.pods.census import Column

HOSTNAME = "kubernetes.io/hostname"


def domain_sums(label: LabelColumn, counts: IntArray) -> IntArray:
    """One sum per value of the label, by value id, after a first one for nodes without the label."""
    sums = np.bincount(label.ids + 1, weights=counts, minlength=len(label.values) + 1)
    return sums.astype(np.int64)


def count_in_domain(label: LabelColumn, column: Column) -> IntArray:
    """For every node.

    The number of pods in its domain. Nodes without the label have no domain and count 0.
    """
    if not column.total:
        return np.zeros(label.ids.size, dtype=np.int64)
    if label.is_one_to_one:
        return column.counts * has_domain(label)
    sums = domain_sums(label, column.counts)
    sums[0] = 0
    counted: IntArray = sums[label.ids + 1]
    return counted


def has_domain(label: LabelColumn) -> BoolArray:
    return np.greater_equal(label.ids, 0)
