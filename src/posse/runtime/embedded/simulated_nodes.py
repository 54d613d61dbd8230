"""Runs the simulated nodes: shows the fleet what is observed, and carries out its writes.

Writes of one round go out together, so the store commits them as one group. A refused write is not repeated:
either the object has changed, and the change brings the fleet back to it, or the fleet is asked to try again
later. Heartbeats do not wait for rounds of pods: nodes without them are taken for dead.
"""

import asyncio
import logging
from collections.abc import Callable

from posse.kinds.machinery.errors import CONFLICT, NOT_FOUND, ApiError
from posse.kinds.registry import LEASE, NODE, POD, RESOURCE_CLAIM
from posse.kubelet.fleet import Fleet
from posse.kubelet.heartbeats import LEASE_NAMESPACE
from posse.kubelet.writes import (
    PatchNodeStatus,
    PatchPodStatus,
    RemoveLease,
    RemovePod,
    RenewLease,
    Stuck,
    WarnAboutPod,
    Write,
)
from posse.runtime.process.error_isolation import skipping
from posse.runtime.watching.event_recorder import EventRecorder
from posse.runtime.watching.informers import Follower, Json, attend
from posse.transport.notes import Note, Subject
from posse.transport.patches import MERGE_PATCH, Patch
from posse.transport.transport import Transport

log = logging.getLogger(__name__)

# A round holds up the event loop while its writes are made: some tens of milliseconds at this size.
MOST_PER_ROUND = 100
RETRY_SECONDS = 5.0
REPORTER = "posse-simulated-node"


class SimulatedNodes:
    def __init__(
        self, transport: Transport, clock: Callable[[], float], heartbeats: Transport | None = None
    ) -> None:
        """`heartbeats` is what leases are renewed through, if not the transport of all else."""
        self._transport = transport
        self._heartbeat_transport = heartbeats or transport
        self._clock = clock
        self._fleet = Fleet()
        self._changed = asyncio.Event()
        self._nodes_changed = asyncio.Event()
        self._recorder = EventRecorder(transport, clock)
        # Pods last: one whose node is not known yet looks like an orphan.
        self._followers = (
            Follower(transport, NODE, self._see_node, self._lose_node),
            Follower(transport, RESOURCE_CLAIM, self._see_claim, self._fleet.lose_claim),
            Follower(transport, POD, self._see_pod, self._lose_pod),
        )

    async def run(self) -> None:
        """Drive the nodes until cancelled."""
        await attend(self._followers, self._recorder.run, self._write_what_is_due, self._send_heartbeats)

    def _see_node(self, node: Json) -> None:
        self._fleet.see_node(node, self._clock())
        self._changed.set()
        self._nodes_changed.set()

    def _lose_node(self, node: Json) -> None:
        self._fleet.lose_node(node["metadata"]["name"], self._clock())
        self._changed.set()

    def _see_pod(self, pod: Json) -> None:
        self._fleet.see_pod(pod, self._clock())
        self._changed.set()

    def _see_claim(self, claim: Json) -> None:
        self._fleet.see_claim(claim, self._clock())
        self._changed.set()

    def _lose_pod(self, pod: Json) -> None:
        self._fleet.lose_pod(pod["metadata"]["namespace"], pod["metadata"]["name"])

    async def _write_what_is_due(self) -> None:
        while True:
            self._changed.clear()
            writes = self._fleet.due_writes(self._clock(), MOST_PER_ROUND)
            if writes:
                await asyncio.gather(*(self._carry_out(write) for write in writes))
            else:
                await self._wait(self._changed, self._fleet.next_wakeup())

    async def _send_heartbeats(self) -> None:
        while True:
            self._nodes_changed.clear()
            beats = self._fleet.due_heartbeats(self._clock(), MOST_PER_ROUND)
            if beats:
                await asyncio.gather(*(self._carry_out(beat) for beat in beats))
            else:
                await self._wait(self._nodes_changed, self._fleet.next_heartbeat())

    async def _wait(self, changed: asyncio.Event, wakeup: float | None) -> None:
        timeout = None if wakeup is None else max(0.0, wakeup - self._clock())
        try:
            async with asyncio.timeout(timeout):
                await changed.wait()
        except TimeoutError:
            return

    async def _carry_out(self, write: Write) -> None:
        with skipping("the write", write):
            try:
                await self._send(write)
            except ApiError as error:
                if error.code not in {NOT_FOUND, CONFLICT}:
                    log.warning("%s refused, trying again: %s", type(write).__name__, error)
                    self._fleet.try_again(write, self._clock() + RETRY_SECONDS)
                    self._changed.set()

    async def _send(self, write: Write) -> None:
        match write:
            case PatchPodStatus(namespace, name, patch):
                await self._transport.patch(
                    POD, namespace, name, Patch(MERGE_PATCH, patch), subresource="status"
                )
            case RemovePod(namespace, name, uid):
                await self._transport.delete(POD, namespace, name, grace_seconds=0, uid=uid)
            case PatchNodeStatus(name, patch):
                await self._transport.patch(NODE, "", name, Patch(MERGE_PATCH, patch), subresource="status")
            case RenewLease(node, lease):
                await self._renew(node, lease)
            case RemoveLease(node):
                await self._transport.delete(LEASE, LEASE_NAMESPACE, node)
            case WarnAboutPod(namespace, name, uid, message, reason):
                subject = Subject("v1", "Pod", namespace, name, uid)
                self._recorder.record(Note(REPORTER, subject, reason, message, warning=True))
            case Stuck(_, error):
                raise error

    async def _renew(self, node: str, lease: Json) -> None:
        try:
            await self._heartbeat_transport.patch(
                LEASE, LEASE_NAMESPACE, node, Patch(MERGE_PATCH, {"spec": lease["spec"]})
            )
        except ApiError as error:
            if error.code != NOT_FOUND:
                raise
            await self._heartbeat_transport.create(LEASE, LEASE_NAMESPACE, lease)
