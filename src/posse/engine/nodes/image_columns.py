"""Images on nodes, and their sizes: one column of sizes per image that some pod uses."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.model.node import ContainerImage

_ABSENT = -1


def image_key(name: str) -> str:
    """An image without a tag means the latest one."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


class ImageColumns:
    def __init__(self, size: int) -> None:
        self._size = size
        self._columns: dict[str, IntArray] = {}
        self._images: dict[int, Mapping[str, int]] = {}
        """Images of each row."""
        self._holders: Counter[str] = Counter()

    def holders(self, image: str) -> int:
        """How many nodes hold the image."""
        return self._holders[image]

    def column(self, image: str) -> IntArray:
        """The image's size on each node that holds it, and a negative number on the others."""
        column = self._columns.get(image)
        if column is None:
            column = self._columns[image] = np.full(self._size, _ABSENT, dtype=np.int64)
            for row, images in self._images.items():
                column[row] = images.get(image, _ABSENT)
        return column

    def put(self, row: int, images: Iterable[ContainerImage]) -> None:
        held = {image_key(name): image.size_bytes for image in images for name in image.names}
        self._holders.subtract(self._images.get(row, ()))
        self._holders.update(held.keys())
        self._images[row] = held
        for image, column in self._columns.items():
            column[row] = held.get(image, _ABSENT)

    def grow(self, size: int) -> None:
        more, self._size = size - self._size, size
        for image, column in self._columns.items():
            self._columns[image] = np.pad(column, (0, more), constant_values=_ABSENT)
