"""Nodes as rows of NumPy columns. A row belongs to one node until that node vanishes, then it is reused.

Every change of a row is noted in a log of touched rows, so that derived columns can be updated row by row.
The table knows resources, labels and taints, but no pods. Requests are also counted by priority, to tell how
much capacity the eviction of lower priorities would free.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray, resized
from posse.engine.nodes.label_columns import LabelColumns
from posse.engine.nodes.resources import FIXED_RESOURCES, PODS, ResourceLines, node_allocatable
from posse.model.node import ContainerImage, Node, Taint


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """Requests as columns, for operations on all resources and rows; and as numbers, for a single row."""

    lines: IntArray
    amounts: IntArray
    scoring: IntArray
    requests: Sequence[tuple[int, int]]
    scoring_requests: Sequence[int]


def load_of(requests: Sequence[tuple[int, int]], scoring: tuple[int, int]) -> Load:
    return Load(
        lines=np.array([[index] for index, _ in requests], dtype=np.int64),
        amounts=np.array([[amount] for _, amount in requests], dtype=np.int64),
        scoring=np.array([[amount] for amount in scoring], dtype=np.int64),
        requests=requests,
        scoring_requests=scoring,
    )


_FEW = 4
"""Rows that are read faster one by one."""
_FIRST_CAPACITY = 64
_FIRST_RESOURCES = 8
"""Lines in reserve for further resources."""
_MAX_TOUCHED_PER_ROW = 4
"""Beyond so many touches per row the log is cut: readers that far behind reread all rows anyway."""
_NO_IMAGE = -1


def image_key(name: str) -> str:
    """An image without a tag means the latest one."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


class ImageColumns:
    """Images on nodes, and their sizes: one column of sizes per image that some pod uses."""

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
            column = self._columns[image] = np.full(self._size, _NO_IMAGE, dtype=np.int64)
            for row, images in self._images.items():
                column[row] = images.get(image, _NO_IMAGE)
        return column

    def put(self, row: int, images: Sequence[ContainerImage]) -> None:
        if not images and row not in self._images:
            return
        held = {image_key(name): image.size_bytes for image in images for name in image.names}
        self._holders.subtract(list(self._images.get(row, ())))
        self._holders.update(held.keys())
        self._images[row] = held
        for image, column in self._columns.items():
            column[row] = held.get(image, _NO_IMAGE)

    def grow(self, size: int) -> None:
        more, self._size = size - self._size, size
        for image, column in self._columns.items():
            self._columns[image] = np.pad(column, (0, more), constant_values=_NO_IMAGE)


class NodeTable:
    def __init__(self) -> None:
        self.row_of: dict[str, int] = {}
        self.names: list[str] = []
        self.nodes: list[Node | None] = []
        """The object behind each row; None where the row is free."""
        self.resources = ResourceLines()
        self.alive: BoolArray = np.zeros(_FIRST_CAPACITY, dtype=np.bool_)
        self.unschedulable: BoolArray = np.zeros(_FIRST_CAPACITY, dtype=np.bool_)
        self.taint_set: IntArray = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        """Index into `taint_sets`; nodes with equal taints share one."""
        self.taint_sets: list[tuple[Taint, ...]] = [()]
        self._allocatable: IntArray = np.zeros((len(FIXED_RESOURCES), _FIRST_CAPACITY), dtype=np.int64)
        self._requested: IntArray = np.zeros_like(self._allocatable)
        self.allocatable: IntArray = self._allocatable
        """Resource-major: contiguous per resource, since rules compare one resource over all nodes."""
        self.requested: IntArray = self._requested
        """Exact sums of the requests of pods on the node."""
        self.scoring_requested: IntArray = np.zeros((2, _FIRST_CAPACITY), dtype=np.int64)
        """CPU and memory with defaults for containers that request none; read by scores only."""
        self.labels = LabelColumns(_FIRST_CAPACITY)
        self.images = ImageColumns(_FIRST_CAPACITY)
        self.description_version = 0
        """Grows when a node is added, removed or changed; not when pods are."""
        self._taint_set_ids: dict[tuple[Taint, ...], int] = {(): 0}
        self._free_rows: list[int] = []
        self._name_ranks: IntArray | None = None
        self.version = 0
        """Grows with every touched row; equal versions mean equal columns."""
        self._touched = array("q")
        self._touched_offset = 0

    def __len__(self) -> int:
        return len(self.row_of)

    @property
    def row_count(self) -> int:
        """Rows in use or free; columns are valid up to here."""
        return len(self.names)

    def name_ranks(self) -> IntArray:
        """The place of every row in the order of names; free rows come first."""
        if self._name_ranks is None:
            self._name_ranks = np.empty(self.row_count, dtype=np.int64)
            in_order = sorted(range(self.row_count), key=self.names.__getitem__)
            self._name_ranks[in_order] = np.arange(self.row_count)
        return self._name_ranks

    def put(self, node: Node) -> int:
        """Insert or replace the node; usage columns of an existing row stay."""
        row = self.row_of.get(node.metadata.name)
        if row is None:
            row = self._take_row(node.metadata.name)
        self.nodes[row] = node
        self.alive[row] = True
        self.unschedulable[row] = node.spec.unschedulable
        self.taint_set[row] = self._intern_taints(node.spec.taints)
        self.labels.put(row, node.metadata.labels)
        self.images.put(row, node.status.images)
        self.description_version += 1
        self._put_allocatable(row, node_allocatable(node))
        self.touch(row)
        return row

    def drop(self, name: str) -> None:
        row = self.row_of.pop(name)
        self._name_ranks = None
        self.nodes[row] = None
        self.names[row] = ""
        self.alive[row] = False
        self.allocatable[:, row] = 0
        self.requested[:, row] = 0
        self.scoring_requested[:, row] = 0
        self.labels.put(row, {})
        self.images.put(row, ())
        self.description_version += 1
        self._free_rows.append(row)
        self.touch(row)

    @property
    def resource_index(self) -> Mapping[str, int]:
        """Of resources that pods, nodes or the configuration name at present."""
        return self.resources.line_of

    @property
    def resource_names(self) -> Sequence[str]:
        """By index; empty for an index that no resource has at present."""
        return self.resources.names

    def resource(self, name: str) -> int:
        """The index of a resource for good: all nodes have none of an unknown resource."""
        index = self.resources.keep(name)
        self._show_resources()
        return index

    def hold_resources(self, names: Sequence[str]) -> list[int]:
        """The indexes of resources, which stay so until they are released."""
        indexes = [self.resources.line(name) for name in names]
        self.resources.hold(indexes)
        self._show_resources()
        return indexes

    def release_resources(self, indexes: Iterable[int]) -> None:
        self.resources.release(indexes)
        if lines := self.resources.due_for_review():
            amounts = self.allocatable[lines] != 0, self.requested[lines] != 0
            unneeded = ~np.any(np.logical_or(*amounts), axis=1)
            self.resources.free(np.array(lines)[unneeded].tolist())
            self._show_resources()

    def _show_resources(self) -> None:
        """Some lines are kept in reserve, so that a new resource seldom copies all others."""
        count, size = len(self.resources), self._allocatable.shape[0]
        if count == len(self.allocatable):
            return
        if count > size:
            self._resize_resources(count + max(_FIRST_RESOURCES, count // 2))
        elif size > 2 * (count + _FIRST_RESOURCES):
            self._resize_resources(count + _FIRST_RESOURCES)
        self._show_lines()

    def _show_lines(self) -> None:
        count = len(self.resources)
        self.allocatable, self.requested = self._allocatable[:count], self._requested[:count]

    def _resize_resources(self, lines: int) -> None:
        shape = (lines, self._allocatable.shape[1])
        self._allocatable = resized(self._allocatable, shape)
        self._requested = resized(self._requested, shape)

    def change_usage(self, rows: IntArray, load: Load, pods: IntArray | int) -> None:
        """Add the requests of that many pods to each of `rows` (distinct); the caller touches them."""
        self.requested[load.lines, rows] += load.amounts * pods
        self.scoring_requested[:, rows] += load.scoring * pods

    def change_usage_of_row(self, row: int, load: Load, pods: int) -> None:
        """The same for a single row, where plain numbers are quicker than arrays."""
        requested, scoring = self.requested, self.scoring_requested
        for line, amount in load.requests:
            requested[line, row] += amount * pods
        for slot, amount in enumerate(load.scoring_requests):
            scoring[slot, row] += amount * pods

    def resource_state(self, row: int) -> bytes:
        """Equal for rows with equal capacity and usage."""
        return (
            self.allocatable[:, row].tobytes()
            + self.requested[:, row].tobytes()
            + self.scoring_requested[:, row].tobytes()
        )

    def resource_states(self, rows: IntArray) -> list[bytes]:
        """The same for several rows at once."""
        if rows.size <= _FEW:
            return [self.resource_state(row) for row in rows.tolist()]
        tables = (self.allocatable, self.requested, self.scoring_requested)
        states = np.concatenate([table[:, rows] for table in tables]).T
        width, text = states.shape[1] * states.itemsize, states.tobytes()
        return [text[start : start + width] for start in range(0, len(text), width)]

    def touch_all(self, rows: Sequence[int]) -> None:
        self._touched.extend(rows)
        self.version += len(rows)
        if len(self._touched) > _MAX_TOUCHED_PER_ROW * max(self.row_count, _FIRST_CAPACITY):
            self._trim()

    def touch(self, row: int) -> None:
        """The same for a single row."""
        self._touched.append(row)
        self.version += 1
        if len(self._touched) > _MAX_TOUCHED_PER_ROW * max(len(self.names), _FIRST_CAPACITY):
            self._trim()

    def touched_since(self, version: int) -> IntArray | None:
        """Rows touched since, once per touch; None where rereading all rows is cheaper or the only way."""
        first = version - self._touched_offset
        count = len(self._touched) - first
        if first < 0 or 2 * count > self.row_count:
            return None
        return np.frombuffer(self._touched[first:], dtype=np.int64)

    def _trim(self) -> None:
        """Keep one touch per row; readers further behind reread all rows anyway."""
        excess = len(self._touched) - max(self.row_count, _FIRST_CAPACITY)
        del self._touched[:excess]
        self._touched_offset += excess

    def _put_allocatable(self, row: int, amounts: Mapping[str, int]) -> None:
        line_of = self.resources.line_of
        for name in amounts:
            if name not in line_of:
                self.resources.line(name)
        self._show_resources()
        allocatable = self.allocatable
        allocatable[:, row] = 0
        for name, amount in amounts.items():
            allocatable[line_of[name], row] = amount

    def _intern_taints(self, taints: tuple[Taint, ...]) -> int:
        """The time at which a taint was added is irrelevant."""
        if not taints:
            return 0
        timeless = tuple(Taint(key=t.key, value=t.value, effect=t.effect) for t in taints)
        known = self._taint_set_ids.get(timeless)
        if known is None:
            known = self._taint_set_ids[timeless] = len(self.taint_sets)
            self.taint_sets.append(timeless)
        return known

    def _take_row(self, name: str) -> int:
        self._name_ranks = None
        if self._free_rows:
            row = self._free_rows.pop()
            self.names[row] = name
        else:
            row = len(self.names)
            self.names.append(name)
            self.nodes.append(None)
            if row >= self.alive.size:
                self._grow(self.alive.size + max(_FIRST_CAPACITY, self.alive.size // 4))
        self.row_of[name] = row
        return row

    def _grow(self, size: int) -> None:
        more = size - self.alive.size
        self.alive = np.pad(self.alive, (0, more))
        self.unschedulable = np.pad(self.unschedulable, (0, more))
        self.taint_set = np.pad(self.taint_set, (0, more))
        self._allocatable = np.pad(self._allocatable, ((0, 0), (0, more)))
        self._requested = np.pad(self._requested, ((0, 0), (0, more)))
        self._show_lines()
        self.scoring_requested = np.pad(self.scoring_requested, ((0, 0), (0, more)))
        self.labels.grow(size)
        self.images.grow(size)
        self.description_version += 1


class PriorityUsage:
    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._requested: dict[int, IntArray] = {}

    def priorities(self) -> list[int]:
        """Every priority that some pod on a node has, lowest first."""
        slots = self._nodes.resource_index[PODS]
        return sorted(priority for priority, requested in self._requested.items() if requested[slots].any())

    def requested(self, priority: int) -> IntArray:
        """Like the table's own `requested`, for pods of this priority alone."""
        known = self._requested.get(priority)
        shape = self._nodes.requested.shape
        if known is None:
            known = self._requested[priority] = np.zeros(shape, dtype=np.int64)
        elif known.shape != shape:
            known = self._requested[priority] = resized(known, shape)
        return known

    def above(self, priority: int) -> IntArray:
        """Total requests of pods of higher priorities on each node."""
        total = np.zeros(self._nodes.requested.shape, dtype=np.int64)
        for higher in self.priorities():
            if higher > priority:
                total += self.requested(higher)
        return total

    def below(self, priority: int) -> IntArray:
        """Total requests of pods of lower priorities on each node."""
        total = np.zeros(self._nodes.requested.shape, dtype=np.int64)
        for lower in self.priorities():
            if lower < priority:
                total += self.requested(lower)
        return total

    def add(self, priority: int, rows: IntArray, load: Load, pods: IntArray) -> None:
        """Count that many more pods on each of the rows, which are distinct."""
        self.requested(priority)[load.lines, rows] += load.amounts * pods

    def add_to_row(self, priority: int, row: int, load: Load, pods: int) -> None:
        requested = self.requested(priority)
        for line, amount in load.requests:
            requested[line, row] += amount * pods

    def clear_row(self, row: int) -> None:
        for priority in self._requested:
            self.requested(priority)[:, row] = 0
