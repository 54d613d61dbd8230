"""The shape of filters that depend on the node's own description only: one reason, and no eviction helps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from posse.engine.nodes.arrays import BoolArray, Rows


@dataclass(frozen=True, slots=True)
class StaticFilter:
    is_row_local: ClassVar[bool] = True
    is_static: ClassVar[bool] = True
    reason: str
    passes: Callable[[Rows], BoolArray]

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        return ((self.reason, ~self.passes(rows)),)

    def hopeless(self, rows: Rows) -> BoolArray:
        return ~self.passes(rows)
