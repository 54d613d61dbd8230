"""Prefer nodes that already hold the pod's images, large ones above all, and less so the rarer an image is.

An image few nodes hold counts little: otherwise those nodes would attract every pod that uses it.
"""

import numpy as np

from posse.engine.nodes.arrays import IntArray, Rows
from posse.engine.rules.context import RuleContext, SchedulingClass

_FULL_MARKS = 100
_MEBIBYTE = 1024 * 1024
_LEAST_BYTES = 23 * _MEBIBYTE
_MOST_BYTES_PER_IMAGE = 1000 * _MEBIBYTE


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
        for image in self._images:
            if holders := self._nodes.images.holders(image):
                sizes = np.maximum(self._nodes.images.column(image)[rows], 0)
                total += (sizes * (holders / len(self._nodes))).astype(np.int64)
        if not total.any():
            return total
        most = _MOST_BYTES_PER_IMAGE * len(self._images)
        return _FULL_MARKS * (np.clip(total, _LEAST_BYTES, most) - _LEAST_BYTES) // (most - _LEAST_BYTES)
