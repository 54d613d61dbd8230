"""Requirements of containers: free host ports, and images on the node.

Large images count most, and less if few nodes hold them: otherwise those nodes would attract every pod.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray, Rows
from posse.engine.pods.affinity_terms import HostPort
from posse.engine.rules.context import RuleContext, SchedulingClass


class NodePorts:
    name = "NodePorts"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "PortsFilter | None":
        wanted = scheduling_class.pod_class.ports
        return PortsFilter(wanted, context) if wanted else None


class PortsFilter:
    is_row_local = True
    is_orderless = True
    is_enumerable = True

    def __init__(self, wanted: Sequence[HostPort], context: RuleContext) -> None:
        self._wanted = wanted
        self._context = context

    def passes(self, rows: Rows) -> BoolArray:
        free = np.ones(self._context.nodes.alive[rows].shape, dtype=np.bool_)
        for port in self._wanted:
            for column in self._context.census.clashing(port):
                if column.total:
                    free &= np.equal(column.counts[rows], 0)
        return free

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        return (("node(s) didn't have free ports for the requested pod ports", ~self.passes(rows)),)

    def unresolvable(self, rows: Rows) -> BoolArray:
        return np.zeros(self._context.nodes.alive[rows].shape, dtype=np.bool_)


_FULL_MARKS = 100
_MEBIBYTE = 1024 * 1024
_LEAST_BYTES = 23 * _MEBIBYTE
_MAX_BYTES_PER_IMAGE = 1000 * _MEBIBYTE


class ImageLocality:
    name = "ImageLocality"

    def __init__(self, weight: int = 1) -> None:
        self.weight = weight

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "ImageScore | None":
        images = scheduling_class.pod_class.images
        return ImageScore(images, context) if images else None


class ImageScore:
    is_static = True

    def __init__(self, images: tuple[str, ...], context: RuleContext) -> None:
        self._images = images
        self._nodes = context.nodes

    def points(self, rows: Rows) -> IntArray:
        total = np.zeros(self._nodes.alive[rows].shape, dtype=np.int64)
        held = [image for image in self._images if self._nodes.images.holders(image)]
        if not held:
            return total
        for image in held:
            sizes = np.maximum(self._nodes.images.column(image)[rows], 0)
            total += (sizes * (self._nodes.images.holders(image) / len(self._nodes))).astype(np.int64)
        most = _MAX_BYTES_PER_IMAGE * len(self._images)
        return _FULL_MARKS * (np.clip(total, _LEAST_BYTES, most) - _LEAST_BYTES) // (most - _LEAST_BYTES)
