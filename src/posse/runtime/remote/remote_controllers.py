"""Runs controllers of Posse in a real cluster, for sets that no other controller manages.

Jobs and StatefulSets are left to the cluster. The cluster is inspected regularly: a controller stops when
another one manages its kind, and starts when that is gone or its kind is served. Beside another controller, a
gang sidecar makes gangs for the sets that ask for them.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from posse.client.connection import Connection
from posse.client.served_versions import ServedVersions
from posse.controllers.jobsets.controller import MANAGERS, POSSE_MANAGER, JobSetController
from posse.controllers.jobsets.gang_sidecar import JobSetGangSidecar
from posse.controllers.jobsets.in_place_restarts import InPlaceRestarts
from posse.controllers.late_admission import Unadmitted
from posse.controllers.leader_worker_sets.controller import LeaderWorkerSetController
from posse.controllers.leader_worker_sets.gang_sidecar import LeaderWorkerSetGangSidecar
from posse.controllers.leader_worker_sets.later_completion import refusals
from posse.controllers.reconciler import Reconciler
from posse.kinds.machinery.errors import NOT_FOUND, ApiError
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    COSCHEDULING_POD_GROUP,
    JOB_SET,
    LEADER_WORKER_SET,
    POD_GROUP,
    POSSE_COMPOSITE_POD_GROUP,
    POSSE_POD_GROUP,
    POSSE_WORKLOAD,
    VOLCANO_POD_GROUP,
    WORKLOAD,
)
from posse.model.feature_gates import Gate
from posse.runtime.control.jobset_counts import JobSetCounts
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.process.clock import forward_clock
from posse.runtime.process.run_options import GroupApi, RunOptions, SetController
from posse.runtime.remote.competing_controllers import find_rival
from posse.runtime.remote.custom_groups import CustomGroups
from posse.runtime.watching.followed_kinds import LEFT_OUT
from posse.transport.transport import Transport

log = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS = 30.0
KIND_OF: Mapping[SetController, Kind] = {
    SetController.JOB_SETS: JOB_SET,
    SetController.LEADER_WORKER_SETS: LEADER_WORKER_SET,
}
_NATIVE = (WORKLOAD, POD_GROUP, COMPOSITE_POD_GROUP)
_CUSTOM = (POSSE_WORKLOAD, POSSE_POD_GROUP, POSSE_COMPOSITE_POD_GROUP)
Work = tuple[Transport, Reconciler]
_ASKED_FOR = (JOB_SET, LEADER_WORKER_SET, *_NATIVE, *_CUSTOM, VOLCANO_POD_GROUP, COSCHEDULING_POD_GROUP)


@dataclass(frozen=True, slots=True)
class Situation:
    """The kinds that the cluster serves, and evidence of another controller."""

    served: frozenset[Kind]
    rival: str


class RemoteControllers:
    def __init__(self, connection: Connection, transport: Transport, options: RunOptions) -> None:
        self._connection = connection
        self._transport = transport
        self._versions = ServedVersions(connection)
        self._wanted = options.controllers
        self._clock = forward_clock()
        self._gates = options.gates
        self.counts = JobSetCounts()
        self._form = options.form

    async def run(self, may_begin: asyncio.Event) -> None:
        """Control until cancelled, once that is allowed."""
        await may_begin.wait()
        async with asyncio.TaskGroup() as tasks:
            for controller in self._wanted:
                tasks.create_task(self._attend(KIND_OF[controller]))

    async def _attend(self, kind: Kind) -> None:
        known: Situation | None = None
        running: asyncio.Task[None] | None = None
        try:
            while True:
                found = await self._look(kind) or known
                if found is not None and found != known:
                    await _end(running)
                    running, known = self._begin(kind, found), found
                await _first(running)
        finally:
            await _end(running)

    async def _look(self, kind: Kind) -> Situation | None:
        """Return None if that is unknown at the moment."""
        try:
            known = [kind for kind in _ASKED_FOR if kind not in LEFT_OUT[self._form]]
            served = frozenset([item for item in known if await self._is_served(item)])
            return Situation(served, await find_rival(self._connection, kind))
        except ApiError as error:
            log.warning("whether %s are ours to control cannot be told: %s", kind.group_resource, error)
            return None

    async def _is_served(self, kind: Kind) -> bool:
        try:
            await self._versions.of(kind)
        except ApiError as error:
            if error.code != NOT_FOUND:
                raise
            return False
        return True

    def _begin(self, kind: Kind, found: Situation) -> asyncio.Task[None] | None:
        if kind not in found.served:
            log.warning(
                "not controlling %s: the cluster does not serve them; "
                "`posse install --controllers` brings their definition along",
                kind.group_resource,
            )
            return None
        if found.rival:
            log.warning(
                "leaving %s to another controller, as %s shows, except gangs and what is given to Posse",
                kind.group_resource,
                found.rival,
            )
            _warn_of_lacking(kind, found)
        else:
            log.info("controlling %s", kind.group_resource)
        works = self._job_set_works(found) if kind is JOB_SET else self._leader_worker_set_works(found)
        running = [
            ReconcilerRunner(transport, [reconciler], self._clock, self.counts.count)
            for transport, reconciler in works
        ]
        return asyncio.create_task(_run(running)) if running else None

    def _job_set_works(self, found: Situation) -> Iterator[Work]:
        custom = CustomGroups(self._transport)
        managers = (POSSE_MANAGER,) if found.rival else MANAGERS
        is_native = self._form is GroupApi.NATIVE or found.served.issuperset((WORKLOAD, POD_GROUP))
        workload, group, composite = _NATIVE if is_native else _CUSTOM
        lacking = [kind for kind in (workload, group) if kind not in found.served]
        # Without composites, a gang of all is one group.
        gates = self._gates if composite in found.served else self._gates - {Gate.COMPOSITE_POD_GROUP}
        controller = JobSetController(gates, managers, lacking)
        yield (self._transport if is_native else custom), Unadmitted(JOB_SET, controller)
        yield self._transport, InPlaceRestarts(managers)
        if found.rival and found.served.issuperset(_CUSTOM):
            yield custom, JobSetGangSidecar(self._gates)

    def _leader_worker_set_works(self, found: Situation) -> Iterator[Work]:
        """Leaders differ by labels; native groups would be named in their spec."""
        if not found.rival:
            served = found.served.difference(_NATIVE)
            controller = LeaderWorkerSetController(served, completes_pods=True)
            yield self._transport, Unadmitted(LEADER_WORKER_SET, controller, refusals)
        elif found.served.issuperset(_CUSTOM):
            yield self._transport, LeaderWorkerSetGangSidecar()


def _warn_of_lacking(kind: Kind, found: Situation) -> None:
    lacking = [needed.group_resource for needed in _CUSTOM if needed not in found.served]
    if lacking:
        log.warning(
            "making no gangs for %s of others: they would be %s, "
            "which the cluster does not serve or --form leaves out; "
            "`posse install --controllers` brings the definitions along",
            kind.group_resource,
            ", ".join(lacking),
        )


async def _run(works: Iterable[ReconcilerRunner]) -> None:
    async with asyncio.TaskGroup() as tasks:
        for work in works:
            tasks.create_task(work.run())


async def _first(running: asyncio.Task[None] | None) -> None:
    """Wait until it is time to look again, or the work has failed."""
    if running is None:
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
        return
    await asyncio.wait([running], timeout=LOOK_AGAIN_SECONDS)
    if running.done():
        running.result()


async def _end(running: asyncio.Task[None] | None) -> None:
    if running is not None:
        running.cancel()
        await asyncio.wait([running])
