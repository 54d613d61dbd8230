"""The cluster as the engine believes it to be: nodes, pods, their places, and tables per scheduling class.

Only `attach` and `detach` move pods, and they are exact inverses: a detached pod leaves no trace. A pod may
name an unknown node; it then counts nowhere until the node appears.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from posse.engine.devices.devices import DeviceChange, Devices
from posse.engine.devices.needs import DeviceNeeds
from posse.engine.devices.proposals import Held
from posse.engine.events import DeviceObject
from posse.engine.keys import ClaimKey
from posse.engine.nodes.arrays import BoolArray, IntArray, tally
from posse.engine.nodes.node_table import NodeTable, PriorityUsage
from posse.engine.nodes.row_states import RowStates
from posse.engine.nodes.topology_domains import DomainBook, Domains
from posse.engine.pods.census import Census, LabelClass
from posse.engine.pods.pod_class import PodClass
from posse.engine.pods.policy import ServiceBook
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.profile import CompiledRules, Profile
from posse.engine.rules.resources import WeightedResource
from posse.engine.state.class_registry import ClassRegistry
from posse.engine.state.domain_utilization import DomainUtilization
from posse.engine.state.effort import Effort
from posse.engine.state.minimum_reservations import MinimumReservations
from posse.engine.state.node_capacity import NodeCapacity
from posse.engine.state.node_scores import NodeScores
from posse.engine.state.pod_record import PodRecord, Usage
from posse.engine.storage.storage import Storage
from posse.model.node import Node

_FEW = 8
"""Pods for which counting one by one beats a pass over arrays."""


class ClusterState:
    def __init__(self, profiles: Mapping[str, Profile]) -> None:
        self.nodes = NodeTable()
        self.census = Census(self.nodes.alive.size)
        self.usage = PriorityUsage(self.nodes)
        self.minimum_reservations = MinimumReservations()
        self.effort = Effort()
        self.turn = 0
        """The row that comes first among nodes of equal rank; it moves on, so that they share the load."""
        self.takes_turns_by_name = False
        """Whether such nodes take turns in the order of their names, not of their rows."""
        self.storage = Storage(self.nodes)
        self.devices = Devices(self.nodes)
        self.context = RuleContext(self.nodes, self.census, self.storage, self.devices, RowStates(self.nodes))
        self.classes = ClassRegistry(profiles, self.context, self._attached)
        self._domains = DomainBook(self.nodes)
        self._fullness: dict[tuple[str, tuple[WeightedResource, ...]], DomainUtilization] = {}
        """By topology key and resources."""
        self.changes = 0
        """Grows with every change that lasts; not with attempts that are rolled back."""
        self._pods_on: dict[str, dict[str, PodRecord]] = {}
        self._improved_rows = array("q")
        """Rows where a pod may fit now that did not before."""
        self._highest_gone: int | None = None
        """Highest effective priority that has left a node or lost its reservation since the last query."""
        self._has_renewed_nodes = False
        """Whether a node is new or changed: an eviction may help there now that did not before."""

    @property
    def services(self) -> ServiceBook:
        return self.classes.reader.services

    @property
    def version(self) -> int:
        """Grows with every change that could make a waiting pod fit."""
        return self.nodes.version + self.storage.book.knowledge_version + self.devices.version

    def attached_records(self) -> list[PodRecord]:
        """Every pod on a known node."""
        known = self.nodes.row_of
        return [record for node, there in self._pods_on.items() if node in known for record in there.values()]

    def attached_by_node(self) -> Iterator[tuple[str, Mapping[str, PodRecord]]]:
        """Known nodes with any pods, and these by uid."""
        known = self.nodes.row_of
        return ((node, there) for node, there in self._pods_on.items() if node in known)

    @contextmanager
    def lightened(self, records: Iterable[PodRecord]) -> Iterator[None]:
        """The nodes without the requests of these pods, which stay attached in every other respect."""
        with self._without(self.usage_of((record, record.node) for record in records)):
            yield

    @contextmanager
    def _without(self, usage: Usage) -> Iterator[None]:
        self.add_usage(usage, -1)
        try:
            yield
        finally:
            self.add_usage(usage, 1)

    @contextmanager
    def confined(self, rows: IntArray) -> Iterator[None]:
        """Let pods be placed on these rows only, in ascending order. Rules still see the whole cluster.

        Nested scopes narrow the outer one. A draft may stay open across the borders.
        """
        with self.context.scope.within(rows):
            yield

    @contextmanager
    def in_name_order(self) -> Iterator[None]:
        """Let nodes of equal rank take turns by name, from the first on.

        Refusals are described so: the same cluster gives the same words, whichever node was seen first or
        is next in turn. Drafts are rolled back before it ends.
        """
        before = self.turn, self.takes_turns_by_name
        self.turn, self.takes_turns_by_name = 0, True
        try:
            yield
        finally:
            self.turn, self.takes_turns_by_name = before

    def in_order(self, rows: IntArray) -> IntArray:
        """These rows, which are ascending, in the order that decides between nodes of equal rank."""
        return rows[np.argsort(self.nodes.name_ranks()[rows])] if self.takes_turns_by_name else rows

    def in_turn(self, rows: IntArray) -> IntArray:
        """The same, from the row whose turn it is."""
        turn, rows = self.turn, self.in_order(rows)
        places = rows
        if self.takes_turns_by_name:
            ranks = self.nodes.name_ranks()
            turn, places = int(ranks[turn - 1]) + 1 if turn else 0, ranks[rows]
        start = int(np.searchsorted(places, turn))
        return np.concatenate((rows[start:], rows[:start])) if 0 < start < rows.size else rows

    def usable(self) -> BoolArray:
        """Return the rows that have a node and are in the search scope."""
        return self.context.scope.usable(self.nodes.alive)

    def domains(self, key: str) -> Domains:
        """The domains of a label key, within the search scope."""
        return self._domains.of(key, self.context.scope)

    def utilization(self, domains: Domains, resources: Sequence[WeightedResource]) -> DomainUtilization:
        """Utilization of these resources in the domains."""
        known = self._fullness.get((domains.key, tuple(resources)))
        if known is None or known.domains is not domains:
            known = DomainUtilization(self.nodes, domains, resources)
            if self.context.scope.rows is None:
                self._fullness[domains.key, tuple(resources)] = known
        return known

    def usage_of(self, places: Iterable[tuple[PodRecord, str]]) -> Usage:
        """Total requests of these pods on these nodes; unknown nodes do not count."""
        rows_of: dict[PodClass, list[int]] = {}
        for record, node in places:
            row = self.nodes.row_of.get(node)
            if row is not None:
                rows_of.setdefault(record.pod_class, []).append(row)
        requested, scoring = np.zeros_like(self.nodes.requested), np.zeros_like(self.nodes.scoring_requested)
        for pod_class, rows in rows_of.items():
            distinct, pods = tally(np.array(rows))
            requested[pod_class.load.lines, distinct] += pod_class.load.amounts * pods
            scoring[:, distinct] += pod_class.load.scoring * pods
        return Usage(requested, scoring, np.flatnonzero(requested.any(axis=0)).tolist())

    def add_usage(self, usage: Usage, sign: int) -> None:
        self.nodes.requested += sign * usage.requested
        self.nodes.scoring_requested += sign * usage.scoring
        self.nodes.touch_all(usage.rows)

    @contextmanager
    def lightened_below(self, priority: int) -> Iterator[None]:
        """The nodes without the requests of all pods of lower priority."""
        requested = self.usage.below(priority)
        rows = np.flatnonzero(requested.any(axis=0)).tolist()
        with self._without(Usage(requested, np.zeros_like(self.nodes.scoring_requested), rows)):
            yield

    def pods_on(self, node: str) -> Iterable[PodRecord]:
        return self._pods_on.get(node, {}).values()

    # --- classes -----------------------------------------------------------------------------------------

    def scheduling_class(self, record: PodRecord) -> SchedulingClass:
        return self.classes.scheduling_class(record)

    def profile(self, pod_class: PodClass) -> Profile:
        """Return the profile of pods that are ours to place."""
        return self.classes.profile(pod_class)

    def rules(self, scheduling_class: SchedulingClass) -> CompiledRules:
        return self.classes.tables(scheduling_class).rules

    def scores(self, scheduling_class: SchedulingClass) -> NodeScores:
        return self.classes.tables(scheduling_class).scores

    def capacity(self, scheduling_class: SchedulingClass) -> NodeCapacity:
        return self.classes.tables(scheduling_class).capacity

    # --- nodes and namespaces ----------------------------------------------------------------------------

    def put_node(self, node: Node) -> None:
        self.changes += 1
        is_new = node.metadata.name not in self.nodes.row_of
        row = self.nodes.put(node)
        if self.nodes.alive.size != self.census.size:
            self.census.grow(self.nodes.alive.size)
        if is_new:
            for record in self.pods_on(node.metadata.name):
                self._count_few([record], [row], 1)
        self._improved_rows.append(row)
        self._has_renewed_nodes = True

    def drop_node(self, name: str) -> None:
        self.changes += 1
        row = self.nodes.row_of.get(name)
        if row is not None:
            self.nodes.drop(name)
            self.census.clear_row(row)
            self.usage.clear_row(row)

    def put_namespace(self, name: str, labels: Mapping[str, str]) -> None:
        self.changes += 1
        self.census.put_namespace(name, labels, self._attached())

    # --- devices -----------------------------------------------------------------------------------------

    def put_device_object(self, obj: DeviceObject) -> Collection[str] | None:
        """Returns the uids of pods whose needs may have changed; None if those of all may have."""
        return self._improved_by(self.devices.put(obj))

    def drop_device_object(self, obj: DeviceObject) -> Collection[str] | None:
        return self._improved_by(self.devices.drop(obj))

    def claim_written(self, claim: ClaimKey) -> None:
        """The write of the claim has ended: only what the cluster shows of it holds devices now."""
        self._improved_by(self.devices.write_ended(claim))

    def _improved_by(self, change: DeviceChange) -> Collection[str] | None:
        self.changes += 1
        rows = [self.nodes.row_of[node] for node in change.nodes if node in self.nodes.row_of]
        if change.is_everywhere:
            rows = list(self.nodes.row_of.values())
        if rows:
            self.nodes.touch_all(rows)
            self._improved_rows.extend(rows)
        return change.pods

    # --- pods --------------------------------------------------------------------------------------------

    def attach(self, pod_class: PodClass, records: Sequence[PodRecord], rows: IntArray) -> None:
        """Put each pod of one class on its row; a row may occur several times."""
        there = rows.tolist()
        if pod_class.volumes is None and pod_class.devices is None and not self.minimum_reservations.groups:
            self._put_plain(records, there)
        else:
            for record, row in zip(records, there, strict=True):
                self._put(record, row)
        if len(records) <= _FEW:
            self._count_few(records, there, 1)
        else:
            self._count(pod_class, records, rows)

    def attach_one(self, record: PodRecord, row: int) -> None:
        """Put a pod on its row."""
        self._put(record, row)
        self._count_one(record, row, 1)
        self.nodes.touch(row)

    def _put_plain(self, records: Sequence[PodRecord], rows: Sequence[int]) -> None:
        """The same as `_put` for many pods with neither claims nor groups that capacity is set aside for."""
        names, pods_on = self.nodes.names, self._pods_on
        for record, row in zip(records, rows, strict=True):
            node = record.node = names[row]
            pods_on.setdefault(node, {})[record.ref.uid] = record

    def _put(self, record: PodRecord, row: int) -> None:
        pod_class = record.pod_class
        if pod_class.volumes is not None:
            record.volumes = self.storage.steps(pod_class.volumes, row)
        if pod_class.devices is not None:
            self.devices.proposals.place(record.ref.uid, record.pod, pod_class.devices, row)
        self._note(record, self.nodes.names[row])

    def attach_for_good(self, record: PodRecord, node: str) -> None:
        """Follow a binding that was observed."""
        self.changes += 1
        self.attach_by_name(record, node)

    def attach_by_name(self, record: PodRecord, node: str) -> None:
        if record.devices is not None:
            self.devices.proposals.restore(record.devices)
        self._note(record, node)
        self._count_there(record, node, 1)

    def withdraw(self, record: PodRecord) -> None:
        """Undo the last `attach` of a draft that has not been undone."""
        if record.pod_class.devices is not None:
            self.devices.proposals.take_back(record.ref.uid)
        self.detach(record)
        record.volumes, record.devices = (), None

    def detach(self, record: PodRecord) -> None:
        node, record.node = record.node, ""
        if record.pod_class.devices is not None:
            record.devices = self.devices.proposals.remove(record.ref.uid)
        if self.minimum_reservations.groups:
            self.minimum_reservations.note(record.group)
        on_node = self._pods_on[node]
        del on_node[record.ref.uid]
        if not on_node:
            del self._pods_on[node]
        if record.pod_class.volumes is not None:
            self.storage.give_back(record.ref.uid, record.pod_class.volumes, record.volumes, node)
        self._count_there(record, node, -1)

    def set_aside(self, record: PodRecord) -> None:
        """Detach a pod as if it were gone, with its claims. Undone by `put_back`."""
        self.detach(record)
        self.devices.held.set_aside(record.ref.uid)

    def put_back(self, record: PodRecord, node: str) -> None:
        self.devices.held.put_back(record.ref.uid)
        self.attach_by_name(record, node)

    def rank(self, record: PodRecord, effective_priority: int) -> None:
        """Set the priority with which the pod counts in searches for victims."""
        row = self.nodes.row_of.get(record.node)
        if row is not None:
            self.changes += 1
            self.usage.add_to_row(record.effective_priority, row, record.pod_class.load, -1)
            self.usage.add_to_row(effective_priority, row, record.pod_class.load, 1)
        record.effective_priority = effective_priority

    @contextmanager
    def ranked(self, ranks: Sequence[tuple[PodRecord, int]]) -> Iterator[None]:
        """The state with other effective priorities of these pods. It is no lasting change."""
        changes, before = self.changes, [(record, record.effective_priority) for record, _ in ranks]
        for record, effective_priority in ranks:
            self.rank(record, effective_priority)
        try:
            yield
        finally:
            for record, effective_priority in before:
                self.rank(record, effective_priority)
            self.changes = changes

    def release(self, record: PodRecord) -> Held | None:
        """Detach a pod for good: others may use its capacity. Returns the devices that it was promised."""
        self.changes += 1
        row = self.nodes.row_of.get(record.node)
        self.detach(record)
        held, record.volumes, record.devices = record.devices, (), None
        if row is not None:
            self._improved_rows.append(row)
            self._note_gone(record.effective_priority)
        return held

    def reserve(self, record: PodRecord, node: str) -> None:
        """Count a waiting pod as on the node. Undone by `unreserve`, before the node can change."""
        needs, row = record.pod_class.devices, self.nodes.row_of.get(node)
        if needs is not None and row is not None:
            leaving = [other.ref.uid for other in self._sharers(node, needs) if other.is_ending]
            self.devices.proposals.reserve(record.ref.uid, needs, row, leaving)
        self._count_there(record, node, 1)

    def _sharers(self, node: str, needs: DeviceNeeds) -> Iterable[PodRecord]:
        """The pods on the node, and those elsewhere that may hold devices which the node can reach."""
        if not (needs.spans_nodes and self.devices.inventory.has_spanning_pools):
            return self.pods_on(node)
        return self.attached_records()

    def unreserve(self, record: PodRecord, node: str) -> None:
        if record.pod_class.devices is not None:
            self.devices.proposals.unreserve(record.ref.uid)
        self._count_there(record, node, -1)

    def note_improved(self, node: str, effective_priority: int) -> None:
        """A pod may fit on the node now, though none left it: a reservation of that priority was released."""
        row = self.nodes.row_of.get(node)
        if row is not None:
            self.nodes.touch(row)
            self._improved_rows.append(row)
            self._note_gone(effective_priority)

    def take_improved_rows(self) -> Sequence[int]:
        """Improved rows, once per improvement."""
        taken, self._improved_rows = self._improved_rows, array("q")
        return taken

    @property
    def has_improved_rows(self) -> bool:
        return bool(self._improved_rows)

    def take_highest_gone(self) -> int | None:
        taken, self._highest_gone = self._highest_gone, None
        return taken

    def _note_gone(self, effective_priority: int) -> None:
        self._highest_gone = (
            effective_priority if self._highest_gone is None else max(self._highest_gone, effective_priority)
        )

    def take_has_renewed_nodes(self) -> bool:
        taken, self._has_renewed_nodes = self._has_renewed_nodes, False
        return taken

    def _note(self, record: PodRecord, node: str) -> None:
        record.node = node
        if self.minimum_reservations.groups:
            self.minimum_reservations.note(record.group)
        self._pods_on.setdefault(node, {})[record.ref.uid] = record
        if record.pod_class.volumes is not None:
            self.storage.take(record.ref.uid, record.pod_class.volumes, record.volumes, node)

    def _count_there(self, record: PodRecord, node: str, sign: int) -> None:
        row = self.nodes.row_of.get(node)
        if row is not None:
            self._count_one(record, row, sign)
            self.nodes.touch(row)

    def _count_few(self, records: Sequence[PodRecord], rows: Sequence[int], sign: int) -> None:
        """Count or uncount pods one by one: most pods come alone or in small numbers."""
        for record, row in zip(records, rows, strict=True):
            self._count_one(record, row, sign)
        self.nodes.touch_all(rows if len(rows) == 1 else list(dict.fromkeys(rows)))

    def _count_one(self, record: PodRecord, row: int, sign: int) -> None:
        """Count or uncount a pod; the caller touches the row."""
        pod_class = record.pod_class
        self.nodes.change_usage_of_row(row, pod_class.load, sign)
        self.usage.add_to_row(record.effective_priority, row, pod_class.load, sign)
        for column in self.classes.brought[pod_class]:
            column.add_one(row, sign)
        if self.census.has_queries:
            for column in self.census.matched(record.labels):
                column.add_one(row, sign)

    def _count(self, pod_class: PodClass, records: Sequence[PodRecord], rows: IntArray) -> None:
        """The same for many pods of one class that are put on nodes."""
        distinct, pods = tally(rows)
        self.nodes.change_usage(distinct, pod_class.load, pods)
        self.nodes.touch_all(distinct.tolist())
        if len(dict.fromkeys([record.effective_priority for record in records])) == 1:
            self.usage.add(records[0].effective_priority, distinct, pod_class.load, pods)
        else:
            self._count_by_priority(pod_class, records, rows)
        for column in self.classes.brought[pod_class]:
            column.add(distinct, pods)
        if self.census.has_queries:
            for record, row in zip(records, rows.tolist(), strict=True):
                for column in self.census.matched(record.labels):
                    column.add_one(row, 1)

    def _count_by_priority(self, pod_class: PodClass, records: Sequence[PodRecord], rows: IntArray) -> None:
        by_priority: dict[int, list[int]] = {}
        for record, row in zip(records, rows.tolist(), strict=True):
            by_priority.setdefault(record.effective_priority, []).append(row)
        for priority, there in by_priority.items():
            distinct, pods = tally(np.array(there))
            self.usage.add(priority, distinct, pod_class.load, pods)

    def _attached(self) -> Iterator[tuple[LabelClass, int]]:
        for node, records in self._pods_on.items():
            row = self.nodes.row_of.get(node)
            if row is not None:
                yield from ((record.labels, row) for record in records.values())
