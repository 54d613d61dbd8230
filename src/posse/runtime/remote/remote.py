"""A scheduler for a real cluster: watches it, waits to lead, schedules while it leads, and stops cleanly.

Everything is rebuilt from the API when it starts to follow, and again whenever it was in charge and is not
any more: what it had decided and not written is forgotten then.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from posse.client.credentials import own_namespace
from posse.client.http_connections import open_fence
from posse.client.http_transport import HttpTransport
from posse.client.write_priorities import Pace, RequestLimits
from posse.configuration.reading import Configuration
from posse.controllers.group_protection import PodGroupProtection
from posse.engine.cycle.advice import MissingNodes
from posse.engine.engine import Engine
from posse.engine.events import ClusterObject
from posse.engine.explain.overview import Overview
from posse.engine.options import DEFAULT_SCHEDULER, EngineOptions
from posse.kinds.machinery.errors import ApiError
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import POSSE_POD_GROUP
from posse.runtime.control.jobset_counts import JobSetCounts
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.process.background import Background
from posse.runtime.process.clock import steady_clock
from posse.runtime.process.configuration import load_configuration
from posse.runtime.process.memory_return import keep_memory, return_memory
from posse.runtime.process.recordings import new_recorder
from posse.runtime.process.run_options import RunOptions
from posse.runtime.process.settings import SETTINGS_ANNOTATION, settings_of
from posse.runtime.process.stall_watch import StallWatch
from posse.runtime.remote.joining import connected, is_elected, new_identity
from posse.runtime.remote.leadership import Leadership
from posse.runtime.remote.probes import Checks, build_probes
from posse.runtime.remote.provisioning import ProvisioningRequests
from posse.runtime.remote.rationed_classes import rationing_quotas
from posse.runtime.remote.remote_gauges import RemoteGauges
from posse.runtime.remote.serving import serve_pages
from posse.runtime.scheduling.dry_run import DryRun
from posse.runtime.scheduling.scheduler import SchedulerLoop
from posse.runtime.scheduling.shadow import ShadowGauges, ShadowLedger, ShadowTransport
from posse.runtime.watching.followed_kinds import (
    FOLLOWED_KINDS,
    KINDS_OF_GROUPS,
    LEFT_OUT,
    LOOKED_FOR,
    OPTIONAL_KINDS,
    VOLUME_KINDS,
)
from posse.transport.transport import Transport

if TYPE_CHECKING:
    from posse.runtime.remote.remote_controllers import RemoteControllers

log = logging.getLogger(__name__)

SHADOW_SUMMARY_SECONDS = 60.0
PROTECTION_SECONDS = 30.0
_MAX_NAMED = 3
FINISH_SECONDS = 20.0
"""For what was decided before the process was asked to stop; a pod is killed after 30."""
TELL_SECONDS = 2.0
"""For writing the last events; the next leader waits meanwhile."""


class RemoteScheduler:
    """Errors of `run`: ConfigurationError, CredentialsError, PortInUse, OSError, BackgroundFailed."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._stop = asyncio.Event()
        self._clock = steady_clock()
        self._ledger: ShadowLedger | None = None
        self.url = ""

    def stop(self) -> None:
        """Finish what was decided, let another one lead, and end."""
        self._stop.set()

    async def overview(self) -> Overview:
        """Groups and the queue, once it is ready."""
        return await self._loop.overview()

    async def missing_nodes(self) -> list[MissingNodes]:
        """Nodes that would let waiting groups start, once it is ready."""
        return await self._loop.missing_nodes()

    async def run(self, on_ready: Callable[[], None]) -> None:
        self._configuration = load_configuration(self._options.config, is_embedded=False)
        self._engine_options = _engine_options(self._configuration, self._options)
        async with AsyncExitStack() as parts:
            await self._connect(parts)
            if self._options.shadow:
                self._ledger = ShadowLedger(self._clock, list(self._engine_options.profiles))
                parts.callback(self._tell_shadow)
            self._loop = self._new_loop()
            await self._serve(parts)
            on_ready()
            self._tell_task(parts)
            await self._term()
            while not self._stop.is_set():
                keep_memory()
                self._loop = self._new_loop()
                await self._term()

    async def _connect(self, parts: AsyncExitStack) -> None:
        running = self._configuration.running
        connection = self._connection = await connected(self._options, running, parts)
        limits = RequestLimits(self._options.writes_at_once, Pace(running.requests_per_second, running.burst))
        self._leadership: Leadership | None = None
        if self._is_elected():
            # With places of its own, so that renewing the lease never waits behind anything else.
            told = json.dumps(settings_of(self._configuration, self._engine_options))
            self._leadership = Leadership(
                HttpTransport(connection, RequestLimits()),
                running.terms,
                new_identity(),
                annotations={SETTINGS_ANNOTATION: told},
            )
        fence = self._leadership.fence if self._leadership else open_fence
        self._remote = HttpTransport(connection, limits, fence)
        # They have limits of their own, so that bindings wait for them only if one rate is set for all.
        self._controllers = self._new_controllers(HttpTransport(connection, limits, fence))

    def _new_controllers(self, transport: Transport) -> "RemoteControllers | None":
        if not self._options.controllers:
            return None
        # They take a while to load, and most schedulers have none.
        from posse.runtime.remote.remote_controllers import RemoteControllers  # noqa: PLC0415

        return RemoteControllers(self._connection, transport, self._options)

    def _is_elected(self) -> bool:
        only_looks = self._options.dry_run or self._options.shadow
        return not only_looks and is_elected(self._options, self._configuration.running)

    def _new_loop(self) -> SchedulerLoop:
        loop = SchedulerLoop(
            self._transport(),
            Engine(self._engine_options),
            self._clock,
            followed_kinds(self._options),
            self._ledger,
            new_recorder(
                self._options.record, self._options.record_max, self._configuration, self._engine_options
            ),
        )
        if self._options.record is not None:
            loop.keep_run_times(self._options.record)
        loop.metrics.add(RemoteGauges(self._remote.watches, self._leadership))
        # Without controllers their counters are there all the same, and stay empty.
        loop.metrics.add(self._controllers.counts if self._controllers else JobSetCounts())
        if self._ledger is not None:
            loop.metrics.add(ShadowGauges(self._ledger))
        return loop

    def _transport(self) -> Transport:
        if self._options.shadow:
            return ShadowTransport(self._remote)
        return DryRun(self._remote) if self._options.dry_run else self._remote

    async def _serve(self, parts: AsyncExitStack) -> None:
        listener = await serve_pages(
            lambda access: build_probes(self._alive, self._ready, self._metrics, self._settings, access),
            self._options,
            self._connection,
        )
        parts.push_async_callback(listener.close)
        self.url = listener.url

    async def _term(self) -> None:
        """From following the cluster to not leading any more, or being asked to stop."""
        background, may_begin = Background(), asyncio.Event()
        is_at_rest = False
        if self._leadership is not None:
            await self._leadership.observe()
        returning = asyncio.ensure_future(self._return_memory())
        background.start("the watch for stalls", StallWatch(self._loop.metrics.stalled).run())
        background.start("the scheduler", self._loop.run(may_begin))
        if not (self._options.dry_run or self._options.shadow):
            background.start("the protection of groups", self._protect_groups(may_begin))
            if self._options.provisioning_requests:
                asking = ProvisioningRequests(self._connection, self.missing_nodes, self._clock)
                background.start("requests to autoscalers", asking.run(may_begin))
        if self._controllers is not None:
            background.start("the controllers", self._controllers.run(may_begin))
        try:
            if self._leadership is None:
                may_begin.set()
                await self._first(background, self._stop.wait(), self._tell_shadow_for_ever())
            else:
                await self._first(background, self._lead(self._leadership, may_begin), self._stop.wait())
            is_at_rest = not (self._stop.is_set() and may_begin.is_set()) or await self._finish()
        finally:
            returning.cancel()
            await background.stop()
            # While writes may be cut off half-way, the lease is not released: it has to expire.
            if self._leadership is not None and is_at_rest:
                await self._leadership.release()

    async def _return_memory(self) -> None:
        """Once reading is over, and beside the event loop: the lease is taken and renewed meanwhile."""
        await self._loop.has_absorbed_all.wait()
        await asyncio.to_thread(return_memory)

    async def _protect_groups(self, may_begin: asyncio.Event) -> None:
        """Custom resources have no admission and no controller of Kubernetes that would protect them."""
        await may_begin.wait()
        while POSSE_POD_GROUP not in self._loop.served_kinds():  # noqa: ASYNC110 - a definition may come
            await asyncio.sleep(PROTECTION_SECONDS)
        protection = PodGroupProtection(POSSE_POD_GROUP, adds_finalizer=True)
        await ReconcilerRunner(self._remote, [protection], self._clock).run()

    async def _lead(self, leadership: Leadership, may_begin: asyncio.Event) -> None:
        await self._loop.knows_all.wait()
        await leadership.acquire()
        async with asyncio.TaskGroup() as tasks:
            beginning = tasks.create_task(self._begin(leadership, may_begin))
            await leadership.keep()
            beginning.cancel()

    async def _begin(self, leadership: Leadership, may_begin: asyncio.Event) -> None:
        """Begin once all writes of the former leader are seen. A lease that was free meanwhile had none."""
        if not leadership.is_first_since_observed:
            await self._loop.catch_up(self._remote.versions)
        may_begin.set()

    async def _finish(self) -> bool:
        """Return whether all decisions are written; the lease is renewed meanwhile."""
        keeping = asyncio.ensure_future(self._leadership.keep() if self._leadership else asyncio.sleep(0))
        try:
            async with asyncio.timeout(FINISH_SECONDS):
                await self._loop.finish()
        except TimeoutError:
            log.warning("stopping although not everything decided is written; the next leader continues")
            return False
        else:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TELL_SECONDS):
                    await self._loop.flush_events()
            return True
        finally:
            keeping.cancel()
            await asyncio.wait([keeping])

    async def _first(self, background: Background, *awaited: Any) -> None:
        """Wait for one of these, or for the scheduler to fail."""
        failing = asyncio.ensure_future(background.wait_failed())
        waits = [asyncio.ensure_future(one) for one in awaited]
        try:
            await asyncio.wait([failing, *waits], return_when=asyncio.FIRST_COMPLETED)
            if failing.done():
                raise failing.result()
            for wait in waits:
                if wait.done():
                    wait.result()
        finally:
            for wait in (failing, *waits):
                wait.cancel()
            await asyncio.wait([failing, *waits])

    async def _tell_shadow_for_ever(self) -> None:
        while True:
            await asyncio.sleep(SHADOW_SUMMARY_SECONDS)
            self._tell_shadow()

    def _tell_shadow(self) -> None:
        if self._ledger is not None:
            log.info("shadow: %s", self._ledger.summary())

    def _tell_task(self, parts: AsyncExitStack) -> None:
        names = ", ".join(self._engine_options.profiles)
        log.info("%s pods with schedulerName %s at %s", self._mode(), names, self._connection.server)
        for later in (self._tell_groups(), self._tell_rationed_classes()):
            parts.callback(asyncio.ensure_future(later).cancel)

    def _mode(self) -> str:
        if self._options.shadow:
            return "shadow mode: comparing, without binding anything, the placement of"
        return "dry run: deciding, without writing anything, on" if self._options.dry_run else "working for"

    async def _tell_groups(self) -> None:
        """Pods of such groups would wait without an explanation."""
        loop, form = self._loop, self._options.form
        await loop.knows_all.wait()
        kinds = [kind for kind in loop.served_kinds() if kind in KINDS_OF_GROUPS]
        names = ", ".join(kind.group_resource for kind in kinds) or "nothing"
        if LOOKED_FOR[form].isdisjoint(kinds):
            log.warning(
                "groups are described by %s, which is none of what --form %s looks for; "
                "pods wait that name such a group",
                names,
                form,
            )
        else:
            log.info("groups are described by %s", names)

    async def _tell_rationed_classes(self) -> None:
        """A group could stand higher than its pods were admitted with."""
        if self._engine_options.members_must_match:
            return
        try:
            quotas = await rationing_quotas(self._connection, own_namespace())
        except ApiError as error:
            log.info("whether quotas ration priority classes is unknown: %s", error)
            return
        if quotas:
            more = f" and {len(quotas) - _MAX_NAMED} more" if len(quotas) > _MAX_NAMED else ""
            log.warning(
                "quotas ration priority classes (%s%s), and groups can get around them: the priority of a "
                "group "
                "counts, whatever class its pods were admitted with; memberPriority: MustMatch prevents that",
                ", ".join(quotas[:_MAX_NAMED]),
                more,
            )

    async def _metrics(self, accept: str) -> tuple[bytes, str]:
        return await self._loop.metrics_page(accept)

    def _alive(self) -> Checks:
        return {"ping": ""}

    def _ready(self) -> Checks:
        """One that waits to lead is ready to."""
        if not self._loop.knows_all.is_set():
            return {
                "cluster-known": f"still reading the cluster; {self._connection.trouble}".removesuffix("; ")
            }
        checks = {"cluster-known": ""}
        for kind, _ in followed_kinds(self._options):
            health = self._remote.watches.get(kind)
            if health is not None:
                is_well = "" if health.is_open else health.last_error or "not open yet"
                checks[f"watch-{kind.group_resource}"] = is_well
            elif kind not in OPTIONAL_KINDS:
                checks[f"watch-{kind.group_resource}"] = "not open yet"
        return checks

    def _settings(self) -> object:
        running = self._configuration.running
        return {
            **settings_of(self._configuration, self._engine_options),
            "form": self._options.form,
            "controllers": self._options.controllers,
            "dryRun": self._options.dry_run,
            "shadow": self._ledger.page() if self._ledger else None,
            "leaderElection": running.terms if self._leadership else None,
            "leader": self._leadership.holder if self._leadership else "",
            "identity": self._leadership.identity if self._leadership else "",
            "writesAtOnce": self._options.writes_at_once,
            "requestsPerSecond": running.requests_per_second,
        }


def followed_kinds(options: RunOptions) -> Sequence[tuple[Kind, type[ClusterObject]]]:
    """Return the kinds to watch, whether or not the cluster serves them."""
    left_out = LEFT_OUT[options.form] | (frozenset() if options.volumes else VOLUME_KINDS)
    return [(kind, struct) for kind, struct in FOLLOWED_KINDS if kind not in left_out]


def _engine_options(configuration: Configuration, options: RunOptions) -> EngineOptions:
    found = configuration.options
    if options.config is None:
        profile = found.profiles[DEFAULT_SCHEDULER]
        found = replace(found, profiles=dict.fromkeys(options.scheduler_names, profile))
    effort = options.exact_search
    return replace(found, gates=options.gates, asks=effort > 0, effort=effort)
