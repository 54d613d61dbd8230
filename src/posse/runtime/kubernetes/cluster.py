"""A cluster on real programs of Kubernetes: etcd, kube-apiserver and kube-controller-manager on loopback.

Posse schedules and controls through the client and with the accounts that it has in production. Nodes and
their kubelets are simulated. Parts stop in the reverse order of their start.
"""

import asyncio
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Protocol

from posse.apiserver.http.certificates import ensure_certificates
from posse.apiserver.http.kubeconfig import write_kubeconfig
from posse.apiserver.http.server import PortInUse
from posse.apiserver.http.tokens import ensure_token
from posse.client.connection import Connection
from posse.client.credentials import find_credentials
from posse.client.http_transport import HttpTransport
from posse.client.write_priorities import RequestLimits
from posse.control_plane.arguments import PlaneOptions
from posse.control_plane.assets import Release
from posse.control_plane.plane import POLL_SECONDS, READY_SECONDS, ControlPlane
from posse.control_plane.program import ProgramEndedError
from posse.control_plane.users import administrator, service_account
from posse.controllers.devices.attaching import AttachingDriver
from posse.controllers.volume_provisioning import VolumeProvisioner, default_storage_class
from posse.engine.explain.overview import Overview
from posse.installation.options import DEFAULT_NAMESPACE, NAME
from posse.installation.programs import CONTROLLERS
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import NODE, POD, STORAGE_CLASS
from posse.kubelet.heartbeats import MISSED_HEARTBEATS, heartbeat_seconds
from posse.model.feature_gates import ALL_GATES
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.embedded.autoscaler import SimulatedAutoscaler
from posse.runtime.embedded.bootstrap import Item, create_missing, ensure_devices, ensure_nodes
from posse.runtime.embedded.cluster import DEFAULT_NODE_COUNT, HOST
from posse.runtime.embedded.simulated_nodes import SimulatedNodes
from posse.runtime.embedded.usage import NodeUsage, node_usage
from posse.runtime.kubernetes.installation import install, wait_served
from posse.runtime.kubernetes.kubelet_endpoint import serve_kubelets
from posse.runtime.process.background import Background
from posse.runtime.process.clock import forward_clock
from posse.runtime.process.options import KUBECONFIG_NAME, ClusterOptions
from posse.runtime.process.run_options import DEFAULT_SCHEDULER_NAME, RunOptions, SetController
from posse.runtime.remote.control_process import ControlProcess
from posse.runtime.remote.remote import RemoteScheduler
from posse.runtime.watching.informers import Follower, Json, attend
from posse.store.data_directory import DataDirectory
from posse.transport.transport import Transport

SCHEDULER_NAMES = ("default-scheduler", DEFAULT_SCHEDULER_NAME)
DEFAULT_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default"
_WATCH_SECONDS = 0.5

Key = tuple[str, str]
Objects = dict[Key, Json]


class ObservedNodes:
    """The nodes and pods as the API server shows them, for what the live view shows of their use."""

    def __init__(self, transport: Transport) -> None:
        self._nodes: Objects = {}
        self._pods: Objects = {}
        self._followers = (_following(transport, NODE, self._nodes), _following(transport, POD, self._pods))

    async def run(self) -> None:
        """Follow both until cancelled."""
        await attend(self._followers)

    def usage(self) -> list[NodeUsage]:
        nodes = [self._nodes[key] for key in sorted(self._nodes)]
        return list(node_usage(nodes, self._pods.values()))


def _following(transport: Transport, kind: Kind, objects: Objects) -> Follower:
    def see(obj: Json) -> None:
        objects[_key(obj)] = obj

    def lose(obj: Json) -> None:
        objects.pop(_key(obj), None)

    return Follower(transport, kind, see, lose)


def _key(obj: Json) -> Key:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


class _Runnable(Protocol):
    async def run(self, on_ready: Callable[[], None]) -> None: ...

    def stop(self) -> None: ...


class KubernetesCluster:
    """`start`, use it, `stop`. `start` raises what EmbeddedCluster raises, and errors of programs."""

    def __init__(self, options: ClusterOptions, release: Release) -> None:
        self._options = options
        self._release = release
        self._clock = forward_clock()
        self._parts = AsyncExitStack()
        self._posse: list[asyncio.Task[None]] = []
        self.url = ""

    async def start(self) -> None:
        async with AsyncExitStack() as parts:
            parts.callback(DataDirectory(self._options.data_dir).release)
            await self._start_plane(parts)
            self._background = Background()
            connection = await self._connect(parts)
            parts.push_async_callback(self._background.stop)
            await install(connection)
            count = await self._furnish()
            self._plane.start_controller_manager(f"--node-monitor-grace-period={_grace_seconds(count)}s")
            await wait_served(connection, DEFAULT_ACCOUNT)
            self._observed = ObservedNodes(self._transport)
            self._background.start("the watch of nodes and pods", self._observed.run())
            heartbeats = HttpTransport(connection, RequestLimits())
            nodes = SimulatedNodes(self._transport, self._clock, heartbeats)
            self._background.start("the simulated nodes", nodes.run())
            drivers = ReconcilerRunner(self._transport, [VolumeProvisioner(), AttachingDriver()], self._clock)
            self._background.start("the simulated storage and devices", drivers.run())
            self._scheduler = RemoteScheduler(self._run_options(NAME))
            await self._start_posse(parts, self._scheduler)
            self._start_autoscaler()
            control = replace(self._run_options(CONTROLLERS), controllers=tuple(SetController), record=None)
            await self._start_posse(parts, ControlProcess(control))
            self._parts = parts.pop_all()

    async def stop(self) -> None:
        await self._parts.aclose()

    async def wait_failed(self) -> Exception:
        """Return why the cluster cannot go on, once that is so."""
        waits = [
            asyncio.ensure_future(wait) for wait in (self._background.wait_failed(), self._first_ended())
        ]
        try:
            done, _ = await asyncio.wait([*waits, *self._posse], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        ended = done.pop()
        error = ended.exception()
        if isinstance(error, Exception):
            return error
        return ended.result() or ProgramEndedError("Posse ended by itself")

    async def add(self, items: Sequence[Item]) -> None:
        """Create those that do not exist yet."""
        await create_missing(self._transport, items)

    async def scheduling(self) -> Overview:
        return await self._scheduler.overview()

    def node_usage(self) -> list[NodeUsage]:
        return self._observed.usage()

    async def _start_plane(self, parts: AsyncExitStack) -> None:
        directory, options = self._options.data_dir, self._options
        _check_free(options.port)
        _keep_former_logs(self._options)
        accounts = [service_account(DEFAULT_NAMESPACE, name) for name in (NAME, CONTROLLERS)]
        certificates = ensure_certificates(directory / "tls", time.time())
        kubelets = await serve_kubelets(HOST, certificates)
        parts.push_async_callback(kubelets.close)
        plane = self._plane = ControlPlane(directory, accounts, self._plane_options(kubelets.port))
        parts.push_async_callback(asyncio.to_thread, plane.stop)
        plane.start_programs()
        deadline = time.monotonic() + READY_SECONDS
        while not await asyncio.to_thread(plane.is_ready):
            if time.monotonic() > deadline:
                raise plane.too_late()
            await asyncio.sleep(POLL_SECONDS)
        self.url = plane.server
        for path in {directory / KUBECONFIG_NAME, options.kubeconfig}:
            write_kubeconfig(path, plane.access)

    def _plane_options(self, kubelet_port: int) -> PlaneOptions:
        options = self._options
        return PlaneOptions(
            self._release,
            binaries=options.binaries,
            port=options.port,
            fsync=options.fsync,
            has_kubelets=True,
            kubelet_port=kubelet_port,
            administrator=administrator(ensure_token(options.data_dir / "token")),
            switched_off=frozenset(gate.value for gate in ALL_GATES - options.gates),
        )

    async def _connect(self, parts: AsyncExitStack) -> Connection:
        connection = Connection(find_credentials(self._plane.kubeconfig(), None))
        await connection.open()
        parts.push_async_callback(connection.close)
        self._transport = HttpTransport(connection, RequestLimits())
        return connection

    async def _furnish(self) -> int:
        """Create simulated nodes, devices and storage, and return the number of nodes."""
        existing = len((await self._transport.list(NODE)).items)
        if not existing:
            await create_missing(self._transport, [(STORAGE_CLASS, "", default_storage_class())])
        wanted = self._options.node_count
        if wanted is None:
            wanted = existing or DEFAULT_NODE_COUNT
        self.nodes = await ensure_nodes(self._transport, wanted, self._options.topology, self._clock())
        await ensure_devices(self._transport, self._options.devices)
        return max(existing, wanted)

    def _run_options(self, account: str) -> RunOptions:
        options = self._options
        return RunOptions(
            kubeconfig=self._plane.kubeconfig(service_account(DEFAULT_NAMESPACE, account).name),
            config=options.config,
            scheduler_names=SCHEDULER_NAMES,
            record=options.record,
            record_max=options.record_max,
            gates=options.gates,
            exact_search=options.exact_search,
            bind_address=HOST,
            port=0,
        )

    async def _start_posse(self, parts: AsyncExitStack, program: _Runnable) -> None:
        """Start it, and return when it serves. It is stopped kindly, so that it releases its lease."""
        ready = asyncio.Event()
        running = asyncio.create_task(program.run(ready.set))
        self._posse.append(running)
        parts.push_async_callback(_stop_kindly, program, running)
        serving = asyncio.create_task(ready.wait())
        await asyncio.wait([serving, running], return_when=asyncio.FIRST_COMPLETED)
        serving.cancel()
        if running.done():
            running.result()

    def _start_autoscaler(self) -> None:
        delay = self._options.autoscale_seconds
        if delay is not None:
            autoscaler = SimulatedAutoscaler(
                self._scheduler.missing_nodes, self._transport, self._clock, delay
            )
            self._background.start("the simulated autoscaler", autoscaler.run())

    async def _first_ended(self) -> Exception:
        while True:
            for program in self._plane.running:
                if not program.is_running:
                    return program.failure("ended")
            await asyncio.sleep(_WATCH_SECONDS)


async def _stop_kindly(program: _Runnable, running: "asyncio.Task[None]") -> None:
    program.stop()
    await asyncio.wait([running])


def _check_free(port: int) -> None:
    """PortInUse: another process listens there. kube-apiserver would only say so in its log."""
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        raise PortInUse(HOST, port) from error


def _keep_former_logs(options: ClusterOptions) -> None:
    """Keep the logs of the last run beside those of this one."""
    for log in options.data_dir.glob("*.log"):
        log.rename(log.with_suffix(".log.old"))


def _grace_seconds(node_count: int) -> int:
    """Many simulated nodes report less often."""
    return round(MISSED_HEARTBEATS * heartbeat_seconds(node_count)) + 10
