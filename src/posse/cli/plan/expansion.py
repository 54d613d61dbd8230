"""Manifests as the pods and groups that a cluster would make of them.

They are created in an API service in memory, which defaults and validates them, and the controllers of
embedded clusters act on it until they have nothing left to do.
"""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

from posse.apiserver.committer import Committer
from posse.apiserver.local import LocalTransport
from posse.apiserver.service import ApiService
from posse.cli.manifests import Manifest
from posse.cli.problems import Problem
from posse.cli.reading.sources import ClusterSource
from posse.controllers.deployments.controller import DeploymentController
from posse.controllers.deployments.replica_sets import ReplicaSetController
from posse.controllers.jobs.controller import JobController
from posse.controllers.jobsets.controller import JobSetController
from posse.controllers.leader_worker_sets.controller import LeaderWorkerSetController
from posse.controllers.pod_admission import complete_new_pod
from posse.controllers.reconciler import Reconciler
from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.kinds.gating import served_kinds
from posse.kinds.machinery.errors import ApiError
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import NAMESPACE, POD, PRIORITY_CLASS
from posse.model.feature_gates import Gate, Gates
from posse.runtime.control.plan_execution import PlanExecutor, PlanOutdated, StepRefused
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS
from posse.store.store import Store

Json = dict[str, Any]

_MAX_ROUNDS = 200
_MAX_KEYS = 10_000
_PRESENT = frozenset({NAMESPACE, PRIORITY_CLASS})
"""Kinds that new objects refer to when they are created."""


def expanded(
    manifests: Sequence[Manifest], source: ClusterSource, namespace: str, gates: Gates
) -> list[tuple[Kind, Json]]:
    """Objects that the engine sees, in the order in which it has to see them. Problem: one is refused."""
    service = ApiService(Store(), source.now, random.Random(0), gates, {POD: complete_new_pod})  # noqa: S311
    for kind in (NAMESPACE, PRIORITY_CLASS):
        for obj in source.objects(kind, None, lambda _: None):
            _create(service, kind, "", {**obj, "metadata": {"name": obj["metadata"]["name"]}}, "the cluster")
    asyncio.run(_submit(service, manifests, namespace, gates, source.now()))
    return [
        (kind, obj)
        for kind, _ in FOLLOWED_KINDS
        if kind not in _PRESENT
        for obj in service.list(kind, None).items
    ]


async def _submit(
    service: ApiService, manifests: Sequence[Manifest], namespace: str, gates: Gates, now: float
) -> None:
    committer = Committer(service.store)
    try:
        transport = LocalTransport(service, committer)
        actors = [_Actor(one, service, transport, now) for one in _controllers(gates)]
        for manifest in manifests:
            place = (manifest.namespace or namespace) if manifest.kind.namespaced else ""
            _create(service, manifest.kind, place, manifest.obj, manifest.origin)
        await committer.durable()
        for _ in range(_MAX_ROUNDS):
            if not any([await actor.act() for actor in actors]):
                return
        raise Problem("the controllers do not come to rest with these objects")
    finally:
        await committer.close()


def _controllers(gates: Gates) -> list[Reconciler]:
    return [
        JobController(makes_groups=Gate.WORKLOAD_WITH_JOB in gates),
        StatefulSetController(),
        DeploymentController(),
        ReplicaSetController(makes_groups=Gate.GENERIC_WORKLOAD in gates),
        LeaderWorkerSetController(served_kinds(gates)),
        JobSetController(gates),
    ]


def _create(service: ApiService, kind: Kind, namespace: str, obj: Json, origin: str) -> None:
    try:
        service.create(kind, namespace, obj)
    except ApiError as error:
        raise Problem(f"{origin}: {error}") from error


class _Actor:
    """Shows a controller what changed, and carries out its plans."""

    def __init__(
        self, reconciler: Reconciler, service: ApiService, transport: LocalTransport, now: float
    ) -> None:
        self._reconciler = reconciler
        self._feeds = [(kind, service.watch(kind, None)) for kind in reconciler.kinds]
        self._executor = PlanExecutor(transport, reconciler.see)
        self._now = now

    async def act(self) -> bool:
        """Whether there was anything to do."""
        for kind, feed in self._feeds:
            for event in feed.drain():
                is_gone = event.type == "DELETED"
                (self._reconciler.lose if is_gone else self._reconciler.see)(kind, event.obj)
        plans = [self._reconciler.plan(key, self._now) for key in self._reconciler.touched.take(_MAX_KEYS)]
        due = [plan for plan in plans if plan.stages]
        for plan in due:
            try:
                await self._executor.run(plan, lambda _: None)
            except PlanOutdated:
                continue  # The next round sees what has changed.
            except StepRefused as refused:
                name = refused.step.obj["metadata"].get("name", "")
                raise Problem(f"{refused.step.kind.name} {name} would be refused: {refused}") from refused
        return bool(due)
