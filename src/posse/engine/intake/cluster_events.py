"""Events of the cluster as updates of the knowledge: nodes, groups, Services, budgets, storage.

Events of pods are in `pod_events`.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec.structs import replace

from posse.engine.events import ClaimWritten, ClusterObject, DeviceObject, Observed, StorageObject, Vanished
from posse.engine.groups.forms import key_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.intake.pod_events import PodEvents
from posse.engine.keys import WORKLOAD_FORM, GroupKey
from posse.engine.nodes.resources import FIXED_RESOURCES
from posse.engine.placement.gang.minimum_resources import reserve_minimum
from posse.engine.pods.policy import Selector
from posse.engine.pods.rule_inputs import same_to_rules
from posse.model.device import DeviceTaintRule, ResourceSlice
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.feature_gates import ALL_GATES, Gate, Gates
from posse.model.job import JobRunTime
from posse.model.limits import first_excess
from posse.model.meta import GroupObject
from posse.model.namespace import Namespace
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.priority_class import PriorityClass
from posse.model.resource_claim import DeviceClass, ResourceClaim
from posse.model.service import Service
from posse.model.workload import CompositePodGroup, Workload

_BOUNDED_BY_THEMSELVES = (Node, GroupObject)
"""Beyond a limit, pods and groups have a condition that says so, nodes take no pods, others are left out."""
_MAX_LABELS_OF_CLOSED_NODE = 1_000


class ClusterEvents:
    def __init__(self, knowledge: Knowledge, gates: Gates = ALL_GATES) -> None:
        self._knowledge = knowledge
        self._reads_groups = Gate.GANG_SCHEDULING in gates
        """Otherwise every pod is scheduled by itself, whatever group it names."""
        self._reads_trees = self._reads_groups and Gate.COMPOSITE_POD_GROUP in gates
        """Otherwise every group is scheduled by itself, whichever parent it names."""
        self._pods = PodEvents(knowledge, reads_groups=self._reads_groups)
        self._outdated: dict[str, None] = {}
        """Uids of pods that Services select otherwise than when they were read."""

    def absorb(self, event: Observed | Vanished) -> None:
        self._knowledge.at_work = event.obj
        if isinstance(event, Observed):
            self._observed(event.obj)
        else:
            self._vanished(event.obj)

    def claim_written(self, event: ClaimWritten) -> None:
        if event.found is not None:
            self._observed(event.found)
        self._knowledge.state.claim_written(event.claim)

    def _observed(self, obj: ClusterObject) -> None:
        if isinstance(obj, Pod):
            self._pods.observed(obj)
            return
        knowledge = self._knowledge
        if not isinstance(obj, _BOUNDED_BY_THEMSELVES) and (excess := first_excess(obj)) is not None:
            knowledge.note_left_out(obj, excess)
            self._vanished(obj)
            return
        match obj:
            case Node():
                self._node_observed(obj)
            case ResourceClaim():
                self._claim_observed(obj)
            case GroupObject() | CompositePodGroup() | Workload() | PriorityClass():
                self._description_observed(obj)
            case Namespace():
                knowledge.state.put_namespace(obj.metadata.name, obj.metadata.labels)
            case PodDisruptionBudget():
                knowledge.budgets.put(obj)
            case JobRunTime():
                knowledge.run_times.jobs.put(obj)
            case Service():
                changed = knowledge.state.services.put(obj)
                self._services_changed(obj.metadata.namespace, obj.metadata.name, changed)
            case _:
                self._resource_observed(obj)

    def _vanished(self, obj: ClusterObject) -> None:
        knowledge = self._knowledge
        match obj:
            case Pod():
                self._pods.vanished(obj)
            case Node():
                # Capacity reserved on its row must not be returned to the next node in that row.
                knowledge.starvation_guard.release_on(obj.metadata.name)
                knowledge.state.drop_node(obj.metadata.name)
                self._wake_nominated(obj.metadata.name)
            case GroupObject() | CompositePodGroup() | Workload() | PriorityClass():
                self._description_vanished(obj)
            case Namespace():
                knowledge.state.put_namespace(obj.metadata.name, {})
            case PodDisruptionBudget():
                knowledge.budgets.drop(obj.metadata.namespace, obj.metadata.name)
            case JobRunTime():
                knowledge.run_times.jobs.drop(obj)
            case Service():
                gone = knowledge.state.services.drop(obj.metadata.namespace, obj.metadata.name)
                self._services_changed(obj.metadata.namespace, obj.metadata.name, gone)
            case ResourceClaim() | DeviceClass() | ResourceSlice() | DeviceTaintRule():
                self._devices_changed(knowledge.state.drop_device_object(obj))
            case _:
                knowledge.state.storage.book.drop(obj)

    def _claim_observed(self, claim: ResourceClaim) -> None:
        state = self._knowledge.state
        if not state.devices.book.knows_newer(claim):
            self._devices_changed(state.put_device_object(claim))

    def _resource_observed(self, obj: StorageObject | DeviceObject) -> None:
        state = self._knowledge.state
        if isinstance(obj, ResourceClaim | DeviceClass | ResourceSlice | DeviceTaintRule):
            self._devices_changed(state.put_device_object(obj))
        else:
            state.storage.book.put(obj)

    def _devices_changed(self, uids: Iterable[str] | None) -> None:
        """Read waiting pods again whose claims have changed; None stands for all pods."""
        pods = self._knowledge.pods
        concerned = list(pods.values()) if uids is None else [pods[uid] for uid in uids if uid in pods]
        for record in concerned:
            if not record.node:
                self._pods.reread(record)

    def _services_changed(self, namespace: str, name: str, selectors: Sequence[Selector]) -> None:
        """Note the pods that are to be spread by default among others than before.

        Equal labels are looked at once: a namespace may have as many Services as pods. Pods are read again
        when they are decided about, once for all Services that have changed. Those that are bound never are.
        """
        services, is_news = self._knowledge.state.services, dict[tuple[tuple[str, str], ...], bool]()
        for record in list(self._knowledge.pods.values()) if selectors else ():
            metadata = record.pod.metadata
            if metadata.namespace != namespace or record.pod.spec.node_name:
                continue
            labels = tuple(sorted(metadata.labels.items()))
            if labels not in is_news:
                is_news[labels] = services.matters(namespace, name, selectors, metadata.labels)
            if is_news[labels]:
                self._outdated[record.ref.uid] = None

    @property
    def has_outdated(self) -> bool:
        return bool(self._outdated)

    def read_outdated(self) -> None:
        """Read the pods again whose Services have changed."""
        outdated, self._outdated = self._outdated, {}
        for uid in outdated:
            record = self._knowledge.pods.get(uid)
            if record is not None:
                self._pods.reread(record)

    def _node_observed(self, node: Node) -> None:
        nodes = self._knowledge.state.nodes
        row = nodes.row_of.get(node.metadata.name)
        before = nodes.nodes[row] if row is not None else None
        if before is not None and same_to_rules(before, node):
            return
        excess = first_excess(node)
        if excess is not None:
            self._knowledge.note_left_out(node, excess)
            node = _closed(node)
            if before is not None and same_to_rules(before, node):
                return
        self._knowledge.state.put_node(node)
        if len(self._knowledge.nominations):
            self._wake_nominated(node.metadata.name)

    def _wake_nominated(self, node: str) -> None:
        """The node has changed since it was nominated, so pods nominated to it are tried again."""
        for record in self._knowledge.nominations.to(node):
            self._knowledge.backlog.wake(self._knowledge.queue_key(record))

    def _description_observed(self, obj: GroupObject | CompositePodGroup | Workload | PriorityClass) -> None:
        """Objects that describe groups, or the classes of their priority."""
        knowledge, metadata = self._knowledge, obj.metadata
        match obj:
            case GroupObject():
                self._group_observed(obj)
            case CompositePodGroup():
                self._composite_observed(obj)
            case Workload():
                knowledge.published.seen(GroupKey(metadata.namespace, metadata.name, WORKLOAD_FORM), metadata)
                self._redefined(knowledge.groups.put_workload(obj))
                self._redefined(knowledge.groups.links.roots_from(metadata.namespace, metadata.name))
            case PriorityClass():
                self._redefined(knowledge.groups.put_class(obj))

    def _description_vanished(self, obj: GroupObject | CompositePodGroup | Workload | PriorityClass) -> None:
        knowledge, namespace, name = self._knowledge, obj.metadata.namespace, obj.metadata.name
        match obj:
            case GroupObject() | CompositePodGroup():
                key = key_of(obj)
                self._redefined([knowledge.entry_of(key)])
                knowledge.groups.drop_composite(key) if key.is_composite else knowledge.groups.drop(key)
                knowledge.published.gone(key)
                knowledge.state.minimum_reservations.drop(key)
                self._redefined(knowledge.groups.links.below(key))
            case Workload():
                self._redefined(knowledge.groups.drop_workload(namespace, name))
                self._redefined(knowledge.groups.links.roots_from(namespace, name))
            case PriorityClass():
                self._redefined(knowledge.groups.drop_class(name))

    def _group_observed(self, obj: GroupObject) -> None:
        if not self._reads_groups:
            return
        knowledge, key = self._knowledge, key_of(obj)
        before, entry = knowledge.groups.definition(key), knowledge.entry_of(key)
        known = knowledge.groups.get(key)
        reported = known.reported.reason if known is not None else ""
        was_uncertain = known is not None and known.is_start_uncertain
        group = knowledge.groups.put(obj)
        knowledge.published.seen(key, obj.metadata)
        if group.minimum_resources:
            reserve_minimum(knowledge.state, group)
        elif key in knowledge.state.minimum_reservations.groups:
            knowledge.state.minimum_reservations.drop(key)
        if before != knowledge.groups.definition(key):
            self._redefined([entry, key])
        elif reported and group.reported.reason != reported:
            # An earlier report was written after a later one.
            knowledge.unsettle(knowledge.entry_of(key))
        elif was_uncertain and not group.is_start_uncertain and not group.is_started:
            # It lost members before its start was confirmed, and no report says so.
            knowledge.unsettle(knowledge.entry_of(key))

    def _composite_observed(self, composite: CompositePodGroup) -> None:
        if not self._reads_trees:
            return
        knowledge, key = self._knowledge, key_of(composite)
        before, entry = knowledge.groups.definition(key), knowledge.entry_of(key)
        known = knowledge.groups.reported(key)
        was_uncertain = known is not None and known.is_start_uncertain
        knowledge.groups.put_composite(composite)
        knowledge.published.seen(key, composite.metadata)
        if before != knowledge.groups.definition(key):
            # Groups below may be buried by this one, or not be any more.
            self._redefined([entry, *knowledge.groups.links.below(key)])
        elif was_uncertain and known is not None and not known.is_start_uncertain:
            knowledge.unsettle(entry)

    def _redefined(self, keys: Sequence[GroupKey]) -> None:
        self._knowledge.state.changes += bool(keys)
        for key in keys:
            self._knowledge.unsettle(key, is_redefined=True)


def _closed(node: Node) -> Node:
    """The node as one that takes no pods; those that run on it still count there."""
    offered = node.status.allocatable or node.status.capacity
    kept = {name: offered[name] for name in FIXED_RESOURCES if name in offered}
    labels = dict(islice(node.metadata.labels.items(), _MAX_LABELS_OF_CLOSED_NODE))
    return replace(
        node,
        metadata=replace(node.metadata, labels=labels),
        spec=replace(node.spec, unschedulable=True, taints=()),
        status=replace(node.status, allocatable=kept, capacity=kept, images=()),
    )
