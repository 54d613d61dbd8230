"""The device side of the cluster state: where a pod finds devices for its claims, and which it was promised.

Pods without claims never come here.
"""

from collections.abc import Collection, Iterable, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from posse.engine.causes import ClaimElsewhere, DeviceShortage
from posse.engine.devices.answers import DeviceAnswers, Reply
from posse.engine.devices.claims import ClaimBook
from posse.engine.devices.inventory import Inventory
from posse.engine.devices.needs import (
    DeviceNeeds,
    NeedsReader,
    claim_keys,
    claim_names,
    distinct_keys,
    pod_claims,
)
from posse.engine.devices.plugin_nodes import PluginNodes
from posse.engine.devices.promises import HeldDevices
from posse.engine.devices.proposals import Proposals
from posse.engine.devices.records import DeviceRecord
from posse.engine.devices.shortages import Shortages
from posse.engine.devices.usage import DevicesInUse, UsedDevice
from posse.engine.devices.wants import AllocationError, AllocationFault, Offer, Want
from posse.engine.events import DeviceObject
from posse.engine.keys import ClaimKey
from posse.engine.nodes.arrays import ALL_ROWS, BoolArray, IntArray, Rows
from posse.engine.nodes.node_table import NodeTable
from posse.model.device import DeviceTaintRule, ResourceSlice
from posse.model.pod import Pod
from posse.model.resource_claim import EXTENDED_RESOURCE_CLAIM_ANNOTATION, DeviceClass, ResourceClaim

_MAX_REMEMBERED = 10_000


class DeviceChange(msgspec.Struct, frozen=True, gc=False):
    """What an event has changed."""

    nodes: Sequence[str]
    """Nodes where a pod may find devices now."""
    is_everywhere: bool
    """Whether that holds for all nodes."""
    pods: Sequence[str] | None
    """Uids of pods whose needs may have changed; None if those of all may have."""


class Devices:
    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._in_use = DevicesInUse()
        self.book = ClaimBook()
        self.inventory = Inventory(nodes, self._in_use)
        self.held = HeldDevices(self.book, self._in_use, self._use_changed)
        self.answers = DeviceAnswers(nodes, self.inventory, self.book, self._in_use, self.held)
        self.version = 0
        """Grows with every change of devices and claims that could make a waiting pod fit."""
        self._reader = NeedsReader(self.book)
        self._plugin_nodes = PluginNodes(nodes)
        self._shortages = Shortages(self.inventory, self.book, self._in_use, self.answers)
        self.proposals = Proposals(
            nodes,
            self.inventory,
            self.book,
            self._in_use,
            self.held,
            self.answers,
            self._plugin_nodes,
            self._use_changed,
        )
        self._faults: dict[DeviceNeeds, AllocationFault | None] = {}
        """Why needs cannot be decided on, such as a selector that fails; None if they can."""
        self._no_longer_alone: list[str] = []
        self._unchecked: dict[DeviceNeeds, None] = {}
        """Needs that were not checked since devices have changed."""

    # --- what the cluster shows --------------------------------------------------------------------------

    def put(self, obj: DeviceObject) -> DeviceChange:
        self.version += 1
        match obj:
            case ResourceClaim():
                return self._claim_changed(obj, is_there=True)
            case DeviceClass():
                self.book.put_class(obj)
                return self._class_changed()
            case ResourceSlice():
                self.inventory.put_slice(obj)
            case DeviceTaintRule():
                self.inventory.put_rule(obj)
        return self._inventory_changed()

    def drop(self, obj: DeviceObject) -> DeviceChange:
        self.version += 1
        match obj:
            case ResourceClaim():
                return self._claim_changed(obj, is_there=False)
            case DeviceClass():
                self.book.drop_class(obj.metadata.name)
                return self._class_changed()
            case ResourceSlice():
                self.inventory.drop_slice(obj)
            case DeviceTaintRule():
                self.inventory.drop_rule(obj.metadata.name)
        return self._inventory_changed()

    def _claim_changed(self, claim: ResourceClaim, *, is_there: bool) -> DeviceChange:
        key = ClaimKey(claim.metadata.namespace, claim.metadata.name)
        known = self.book.claims.get(key)
        if known is None and is_there and claim.status.allocation is None:
            # Most claims are seen before they hold anything.
            self.book.put_claim(claim)
            self.held.changes += 1
            return DeviceChange((), is_everywhere=False, pods=self.book.users(key))
        before = known.used if known is not None else ()
        if is_there:
            self.book.put_claim(claim)
        else:
            self.book.drop_claim(key)
            self.book.forget_release(key)
            if self.held.is_written(key):
                self.book.note_deleted(key, claim.metadata.uid)
        self.held.recount(key)
        self.held.forget_gone()
        pods = self.book.users(key)
        if EXTENDED_RESOURCE_CLAIM_ANNOTATION in claim.metadata.annotations:
            pods += [one.uid for one in claim.metadata.owner_references if one.controller]
        return self._freed(before, pods)

    def write_ended(self, claim: ClaimKey) -> DeviceChange:
        held = self.held.write_ends(claim)
        if not self.held.is_written(claim):
            self.book.forget_deleted(claim)
        return self._freed(held, ())

    def _freed(self, before: Iterable[UsedDevice], pods: Sequence[str]) -> DeviceChange:
        freed = [one.device for one in before if one.device not in self._in_use or one.consumed is not None]
        if not freed:
            return DeviceChange((), is_everywhere=False, pods=pods)
        is_everywhere = any(self.inventory.is_spanned(device) for device in freed)
        return DeviceChange(self.inventory.note_use(freed), is_everywhere, pods)

    def _class_changed(self) -> DeviceChange:
        self.inventory.version += 1
        return DeviceChange((), is_everywhere=True, pods=None)

    def _inventory_changed(self) -> DeviceChange:
        did_span = self.inventory.has_spanning_pools
        nodes, is_everywhere = self.inventory.take_changes()
        changes_needs = did_span != self.inventory.has_spanning_pools or any(self._faults.values())
        self._unchecked |= dict.fromkeys(self._faults)
        self._faults.clear()
        return DeviceChange(nodes, is_everywhere, None if changes_needs else ())

    @property
    def has_unchecked(self) -> bool:
        return bool(self._unchecked)

    def take_faulty(self, waiting: Collection[DeviceNeeds]) -> list[DeviceNeeds]:
        """Needs of waiting pods that could be decided on, and cannot any more since devices have changed."""
        unchecked, self._unchecked = [needs for needs in self._unchecked if needs in waiting], {}
        for needs in unchecked:
            if needs not in self._faults:
                self._faults[needs] = self.fault(needs)
        return [needs for needs in unchecked if self._faults[needs]]

    @property
    def has_slow_devices(self) -> bool:
        """Whether drivers have devices that take time to be ready."""
        return self.inventory.slow_pools > 0 or self.book.slow_claims > 0

    # --- needs of pods -----------------------------------------------------------------------------------

    def needs(self, pod: Pod) -> DeviceNeeds | None:
        """The needs of the pod; None for the many pods without claims."""
        claims = pod_claims(pod)
        for key in distinct_keys(claims):
            self._no_longer_alone += self.book.note_user(key, pod.metadata.uid)
        needs = self._reader.read(pod, claims, spans_nodes=self.inventory.has_spanning_pools)
        if needs.problem:
            return needs
        if not (needs.claims or needs.extended):
            return None
        if needs not in self._faults:
            if len(self._faults) > _MAX_REMEMBERED:
                self._faults.clear()
            self._faults[needs] = self.fault(needs)
        fault = self._faults[needs]
        if fault is None:
            return needs
        return replace(needs, problem=fault.text(claim_names(pod)), is_error=True)

    def take_no_longer_alone(self) -> list[str]:
        """Uids of pods that were the only users of a claim: it does not count as their own any more."""
        taken, self._no_longer_alone = self._no_longer_alone, []
        return taken

    def forget(self, pod: Pod) -> None:
        """The pod is gone."""
        for key in claim_keys(pod):
            self.book.forget_user(key, pod.metadata.uid)
        self.held.pod_gone(pod.metadata.uid)

    def wants(self, needs: DeviceNeeds) -> list[Want]:
        """The claims of a pod that have no devices; those of extended resources included."""
        try:
            return self.answers.claims.wants(_with_all_extended(needs), Offer((), {}))
        except AllocationError:
            return []

    def shortages(
        self, needs: DeviceNeeds, refused: BoolArray
    ) -> tuple[DeviceShortage | ClaimElsewhere, ...]:
        """Which requests of the pod find no devices on rows that refuse it for want of some."""
        return self._shortages.find(_with_all_extended(needs), refused)

    def is_free(self, device: DeviceRecord) -> bool:
        """Whether no claim holds the device as a whole."""
        return device.kind.is_shareable or device.id not in self._in_use

    def has_lists(self, needs: DeviceNeeds) -> bool:
        """Whether claims without devices list alternatives."""
        return any(want.shape.has_lists for want in self.wants(needs))

    # --- answers -----------------------------------------------------------------------------------------

    def passes(self, needs: DeviceNeeds, rows: Rows) -> BoolArray:
        """Rows where a pod gets devices for all its claims."""
        if needs.extended:
            return self._plugin_nodes.spread(
                needs, rows, self.passes, np.bool_
            ) & self._plugin_nodes.has_resources(needs, rows)
        found = np.equal(self.answers.replies(needs, rows), Reply.YES)
        if needs.spans_nodes:
            found &= self.answers.claims.reachable(needs)[rows]
        if self.proposals.open_rows:
            self.proposals.add_revisable(needs, rows, found)
        return found

    def replies(self, needs: DeviceNeeds, rows: Rows) -> IntArray:
        if needs.extended:
            return self._plugin_nodes.spread(needs, rows, self.replies, np.int64)
        return self.answers.replies(needs, rows)

    def when_empty(self, needs: DeviceNeeds, rows: Rows) -> BoolArray:
        """Rows where a pod would get devices if none were in use."""
        if needs.extended:
            return self._plugin_nodes.spread(needs, rows, self.when_empty, np.bool_)
        return self.answers.when_empty(needs, rows)

    def preference(self, needs: DeviceNeeds) -> IntArray:
        if needs.extended:
            return self._plugin_nodes.spread(
                needs, ALL_ROWS, lambda one, rows: self.answers.preference(one)[rows], np.int64
            )
        return self.answers.preference(needs)

    def fault(self, needs: DeviceNeeds) -> AllocationFault | None:
        """The first on any node."""
        kinds = (
            [self._plugin_nodes.needs_on(needs, row) for row in self._plugin_nodes.sample(needs)]
            if needs.extended
            else [needs]
        )
        return next((fault for one in kinds if (fault := self.answers.fault(one)) is not None), None)

    def mixes(
        self, needs: Sequence[DeviceNeeds | None], numbers: Sequence[int], row: int
    ) -> tuple[tuple[int, ...], ...] | None:
        """Mixes of pods with these needs, up to these numbers, that find local devices together on the row.

        Without mixes that others contain. None if there are too many to try. Pods without needs are not
        limited, which -1 stands for.
        """
        return self.answers.mixes(needs, numbers, row)

    def counts_exactly(self, needs: DeviceNeeds) -> bool:
        """Whether `most` is no mere bound."""
        return not (
            needs.extended or needs.spans_nodes or self.proposals.open_rows
        ) and self.answers.counts_exactly(needs)

    def most(self, needs: DeviceNeeds, rows: Rows) -> IntArray:
        """Upper bound on further pods with these needs, which concern devices of one node only."""
        if needs.extended:
            return self._plugin_nodes.spread(needs, rows, self.most, np.int64)
        pods = self.answers.most(needs, rows)
        if rows_of_draft := self.proposals.open_rows:
            # Devices of these may change, so that more pods fit than beside the present ones.
            numbers = np.arange(self._nodes.alive.size)[rows]
            for row in rows_of_draft:
                offer = self.inventory.offer_at(row)
                limit = self.answers.upper_limit(self.answers.claims.wants(needs, offer), offer)
                pods = np.where(numbers == row, np.maximum(pods, limit), pods)
        return pods

    def span_holders(self) -> dict[str, None]:
        """Uids of pods whose claims hold devices that several nodes can reach."""
        return dict.fromkeys(
            uid
            for record in self.book.claims.values()
            if any(self.inventory.is_spanned(one.device) for one in record.used)
            for uid in record.pod_uids or ()
        )

    # --- changes -----------------------------------------------------------------------------------------

    def _use_changed(self, devices: Iterable[UsedDevice]) -> None:
        for node in self.inventory.note_use([one.device for one in devices]):
            row = self._nodes.row_of.get(node)
            if row is not None:
                self._nodes.touch(row)


def _with_all_extended(needs: DeviceNeeds) -> DeviceNeeds:
    """The needs on a node that offers none of the extended resources itself."""
    return needs.lacking(tuple(name for name, _ in needs.extended_amounts)) if needs.extended else needs
