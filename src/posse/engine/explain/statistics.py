"""Counts of pods and groups by state, in the terms of kube-scheduler; computed on demand."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from posse.engine.intake.knowledge import Knowledge
from posse.engine.intake.pod_events import claim_victims
from posse.engine.queue.backlog import QueueState
from posse.engine.state.pod_record import PodRecord


class Overcommitted(NamedTuple):
    """CPU in thousandths, everything else in whole units."""

    node: str
    resource: str
    requested: int
    allocatable: int


def overcommitted(knowledge: Knowledge) -> list[Overcommitted]:
    """Capacity that is reserved for a group counts as used in the table, but is no pod."""
    nodes, requested = knowledge.state.nodes, knowledge.state.nodes.requested
    for reservation in knowledge.starvation_guard.reservations:
        requested = requested - reservation.usage(requested.shape)
    over = (requested > nodes.allocatable) & nodes.alive
    names = nodes.resource_names
    return [
        Overcommitted(
            nodes.names[row],
            names[resource],
            int(requested[resource, row]),
            int(nodes.allocatable[resource, row]),
        )
        for resource, row in np.argwhere(over).tolist()
    ]


class Queue(Enum):
    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    """Not tried until it, or its group, changes."""
    INCOMPLETE = "incomplete"
    """Its group does not exist yet."""


_QUEUE_OF_PLACE = {
    QueueState.ACTIVE: Queue.ACTIVE,
    QueueState.IN_PROGRESS: Queue.ACTIVE,
    QueueState.BACKOFF: Queue.BACKOFF,
    QueueState.ERROR_BACKOFF: Queue.BACKOFF,
    QueueState.UNSCHEDULABLE: Queue.UNSCHEDULABLE,
}


@dataclass(frozen=True, slots=True)
class Statistics:
    nodes: int
    pods: int
    """Pods on nodes, including bindings in flight."""
    assumed_pods: int
    """Pods whose binding is in flight."""
    pods_by_queue: Mapping[Queue, int]
    single_pods_by_queue: Mapping[Queue, int]
    groups_by_queue: Mapping[Queue, int]
    overcommitted_nodes: int
    """Nodes whose requests exceed their capacity."""
    refused_pods: Mapping[tuple[str, str], int]
    """Waiting pods by a rule that refused them a node, and scheduler name.

    A pod counts for every such rule.
    """
    preemptions: int
    """Preemptors, pods or groups, that have victims and have not started yet."""


def statistics(knowledge: Knowledge) -> Statistics:
    claim_victims(knowledge)
    attached = [record for record in knowledge.pods.values() if record.node]
    waiting = [record for record in knowledge.pods.values() if knowledge.is_pending(record)]
    queues = [(record, _queue_of(knowledge, record)) for record in waiting]
    group_queues = {record.group: queue for record, queue in queues if record.group is not None}
    return Statistics(
        nodes=len(knowledge.state.nodes),
        pods=len(attached),
        assumed_pods=sum(1 for record in attached if not record.pod.spec.node_name),
        pods_by_queue=Counter(queue for _, queue in queues),
        single_pods_by_queue=Counter(queue for record, queue in queues if record.group is None),
        groups_by_queue=Counter(group_queues.values()),
        overcommitted_nodes=len({each.node: None for each in overcommitted(knowledge)}),
        refused_pods=Counter(
            (rule, record.ref.scheduler_name)
            for record in waiting
            for rule in dict.fromkeys(refusal.rule for refusal in record.refusals)
        ),
        preemptions=len(knowledge.ledger),
    )


def _queue_of(knowledge: Knowledge, record: PodRecord) -> Queue:
    entry = knowledge.backlog.get(
        knowledge.entry_of(record.group) if record.group is not None else record.ref.uid
    )
    if entry is not None:
        return _QUEUE_OF_PLACE[entry.place]
    group = knowledge.groups.get(record.group) if record.group is not None else None
    return Queue.INCOMPLETE if group is not None and group.obj is None else Queue.GATED
