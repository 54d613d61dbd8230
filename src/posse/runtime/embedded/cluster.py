"""The embedded cluster: store, API server, scheduler, controllers and simulated nodes in one process.

Parts start from the inside out and stop in the reverse order, so that whatever still writes finds what it
writes to: first the server stops, then the background work, then pending writes are made durable.
"""

import asyncio
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

import msgspec

from posse.apiserver.committer import Committer
from posse.apiserver.http.app import build_app
from posse.apiserver.http.certificates import ensure_certificates
from posse.apiserver.http.kubeconfig import ServerAccess, write_kubeconfig
from posse.apiserver.http.server import ensure_free, serve
from posse.apiserver.http.tokens import ensure_token
from posse.apiserver.kind_store import resource_of
from posse.apiserver.local import LocalTransport
from posse.apiserver.service import ApiService
from posse.configuration.reading import Configuration
from posse.controllers.cron_jobs import CronJobController
from posse.controllers.deployments.controller import DeploymentController
from posse.controllers.deployments.replica_sets import ReplicaSetController
from posse.controllers.devices.attaching import AttachingDriver
from posse.controllers.devices.claim_making import GroupClaims, PodClaims
from posse.controllers.devices.claim_release import ClaimRelease
from posse.controllers.devices.taint_eviction import DeviceTaintEviction
from posse.controllers.disruption.budgets import DisruptionBudgets
from posse.controllers.disruption.node_lifecycle import NodeLifecycle
from posse.controllers.disruption.taint_eviction import TaintEviction
from posse.controllers.event_expiry import EventExpiry
from posse.controllers.foreign_group_status import ForeignGroupStatus
from posse.controllers.garbage_collection import GarbageCollector
from posse.controllers.group_protection import CompositeProtection, PodGroupProtection
from posse.controllers.jobs.controller import JobController
from posse.controllers.jobsets.controller import JobSetController
from posse.controllers.jobsets.in_place_restarts import InPlaceRestarts
from posse.controllers.leader_worker_sets.controller import LeaderWorkerSetController
from posse.controllers.namespace_deletion import NamespaceDeletion
from posse.controllers.namespace_furniture import NamespaceFurniture
from posse.controllers.pod_admission import complete_new_pod
from posse.controllers.quota_status import QuotaStatus
from posse.controllers.reconciler import Reconciler
from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.controllers.volume_binding import VolumeBinder
from posse.controllers.volume_provisioning import VolumeProvisioner, default_storage_class
from posse.engine.engine import Engine
from posse.engine.explain.overview import Overview
from posse.engine.options import DEFAULT_SCHEDULER, EngineOptions
from posse.kinds.gating import served_kinds
from posse.kinds.registry import (
    COSCHEDULING_POD_GROUP,
    EVENT,
    NAMESPACE,
    NODE,
    POD,
    POSSE_COMPOSITE_POD_GROUP,
    POSSE_POD_GROUP,
    STORAGE_CLASS,
    VOLCANO_POD_GROUP,
)
from posse.model.feature_gates import Gate, Gates
from posse.runtime.control.jobset_counts import JobSetCounts
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.embedded.autoscaler import SimulatedAutoscaler
from posse.runtime.embedded.bootstrap import (
    Item,
    api_service,
    bootstrap_objects,
    create_missing,
    ensure_devices,
    ensure_nodes,
)
from posse.runtime.embedded.history_compaction import compact_history
from posse.runtime.embedded.simulated_nodes import SimulatedNodes
from posse.runtime.embedded.usage import NodeUsage, node_usage
from posse.runtime.process.background import Background
from posse.runtime.process.clock import forward_clock, steady_clock
from posse.runtime.process.configuration import load_configuration
from posse.runtime.process.options import KUBECONFIG_NAME, ClusterOptions
from posse.runtime.process.recordings import new_recorder
from posse.runtime.process.run_options import DEFAULT_SCHEDULER_NAME
from posse.runtime.process.settings import SETTINGS_PATH, settings_of
from posse.runtime.process.stall_watch import StallWatch
from posse.runtime.scheduling.scheduler import SchedulerLoop
from posse.store.store import Store

HOST = "127.0.0.1"
DEFAULT_NODE_COUNT = 8


def embedded_reconcilers(gates: Gates) -> list[Reconciler]:
    """The controllers that a cluster of its own needs; in other clusters most of them run already."""
    return [
        PodGroupProtection(),
        CompositeProtection(),
        PodGroupProtection(POSSE_POD_GROUP),
        CompositeProtection(POSSE_COMPOSITE_POD_GROUP, POSSE_POD_GROUP),
        ForeignGroupStatus(COSCHEDULING_POD_GROUP),
        ForeignGroupStatus(VOLCANO_POD_GROUP),
        NamespaceDeletion(),
        EventExpiry(),
        VolumeBinder(),
        VolumeProvisioner(),
        GroupClaims(),
        PodClaims(),
        ClaimRelease(),
        DeviceTaintEviction(),
        AttachingDriver(),
        JobController(makes_groups=Gate.WORKLOAD_WITH_JOB in gates),
        CronJobController(),
        StatefulSetController(),
        DeploymentController(),
        ReplicaSetController(makes_groups=Gate.GENERIC_WORKLOAD in gates),
        LeaderWorkerSetController(served_kinds(gates)),
        JobSetController(gates),
        InPlaceRestarts(),
        DisruptionBudgets(),
        QuotaStatus(),
        NodeLifecycle(),
        TaintEviction(),
        GarbageCollector(),
    ]


class EmbeddedCluster:
    """`start`, use it, `stop`. `start` raises ConfigurationError, DataDirError, PortInUse, OSError."""

    def __init__(self, options: ClusterOptions) -> None:
        self._options = options
        self._parts = AsyncExitStack()
        self._clock = forward_clock()
        self.url = ""

    async def start(self) -> None:
        configuration = load_configuration(self._options.config)
        ensure_free(HOST, self._options.port)
        async with AsyncExitStack() as parts:
            self._start_store(parts)
            await create_missing(self._transport, bootstrap_objects())
            await create_missing(self._transport, [api_service()])
            if self._is_new:
                await create_missing(self._transport, [(STORAGE_CLASS, "", default_storage_class())])
            self.nodes = await ensure_nodes(
                self._transport, self._wanted_nodes(), self._options.topology, self._clock()
            )
            await ensure_devices(self._transport, self._options.devices)
            options = self._engine_options(configuration)
            self._settings = msgspec.json.encode(settings_of(configuration, options))
            self._background = Background()
            parts.push_async_callback(self._background.stop)
            recorder = new_recorder(self._options.record, self._options.record_max, configuration, options)
            self._scheduler = SchedulerLoop(
                self._transport.beside(), Engine(options), steady_clock(), recorder=recorder
            )
            self._scheduler.keep_run_times(self._options.data_dir)
            # First, so that whatever is stored can be read and deleted while others are busy with it.
            await self._start_server(parts)
            self._start_background()
            self._parts = parts.pop_all()

    def _engine_options(self, configuration: Configuration) -> EngineOptions:
        effort, found = self._options.exact_search, configuration.options
        if self._options.config is None:
            # Manifests that are meant for a real cluster name the scheduler.
            names = (DEFAULT_SCHEDULER, DEFAULT_SCHEDULER_NAME)
            found = replace(found, profiles=dict.fromkeys(names, found.profiles[DEFAULT_SCHEDULER]))
        return replace(found, gates=self._options.gates, asks=effort > 0, effort=effort)

    async def stop(self) -> None:
        await self._parts.aclose()

    async def wait_failed(self) -> Exception:
        """Return why the cluster cannot go on, once that is so."""
        waits = [
            asyncio.ensure_future(wait)
            for wait in (self._background.wait_failed(), self._committer.wait_failed())
        ]
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return done.pop().result()

    async def add(self, items: Sequence[Item]) -> None:
        """Create those that do not exist yet."""
        await create_missing(self._transport, items)

    async def scheduling(self) -> Overview:
        return await self._scheduler.overview()

    def node_usage(self) -> list[NodeUsage]:
        return list(node_usage(self._service.list(NODE, None).items, self._service.list(POD, None).items))

    def _start_store(self, parts: AsyncExitStack) -> None:
        store = Store.open(self._options.data_dir, fsync=self._options.fsync, text_only=[resource_of(EVENT)])
        parts.callback(store.close)
        self._store = store
        self._committer = Committer(store)
        parts.push_async_callback(self._committer.close)
        self._service = ApiService(
            store, self._clock, random.SystemRandom(), self._options.gates, {POD: complete_new_pod}
        )
        self._transport = LocalTransport(self._service, self._committer)
        self._is_new = not self._service.list(NAMESPACE, None).items

    async def _settings_page(self, _accept: str) -> tuple[bytes, str]:
        return self._settings, "application/json"

    def _wanted_nodes(self) -> int:
        if self._options.node_count is not None:
            return self._options.node_count
        return DEFAULT_NODE_COUNT if self._is_new else 0

    def _start_background(self) -> None:
        self._background.start("the watch for stalls", StallWatch(self._scheduler.metrics.stalled).run())
        self._background.start("the compaction of history", compact_history(self._store))
        self._background.start("the scheduler", self._scheduler.run())
        reconcilers = [*embedded_reconcilers(self._options.gates), NamespaceFurniture(self._authority)]
        counts = JobSetCounts()
        self._scheduler.metrics.add(counts)
        beside = self._transport.beside
        runner = ReconcilerRunner(beside(), reconcilers, self._clock, counts.count, writing=beside)
        self._background.start("the controllers", runner.run())
        nodes = SimulatedNodes(beside(), self._clock, heartbeats=beside())
        self._background.start("the simulated nodes", nodes.run())
        delay = self._options.autoscale_seconds
        if delay is not None:
            autoscaler = SimulatedAutoscaler(
                self._scheduler.missing_nodes, self._transport, self._clock, delay
            )
            self._background.start("the simulated autoscaler", autoscaler.run())

    async def _start_server(self, parts: AsyncExitStack) -> None:
        directory = self._options.data_dir
        certificates = ensure_certificates(directory / "certificates", self._clock())
        self._authority = certificates.authority_pem.decode()
        token = ensure_token(directory / "token")
        pages = {"/metrics": self._scheduler.metrics_page, SETTINGS_PATH: self._settings_page}
        app = build_app(self._service, self._committer, token, self._clock, pages)
        listener = await serve(app, HOST, self._options.port, certificates.server_context())
        parts.push_async_callback(listener.close)
        self.url = listener.url
        access = ServerAccess(listener.url, certificates.authority_pem, token)
        for path in {directory / KUBECONFIG_NAME, self._options.kubeconfig}:
            write_kubeconfig(path, access)
