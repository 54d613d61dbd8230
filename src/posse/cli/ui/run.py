"""Runs `posse ui`: reads a cluster, a snapshot or a recording, and serves the page until it is stopped."""

import asyncio
import logging
import os
import secrets
import socket
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer
import uvloop

from posse.apiserver.http.server import Listener, PortInUse, serve, serve_on
from posse.apiserver.http.tokens import ensure_token
from posse.cli.configuration_file import rules_in_force
from posse.cli.locations import kubeconfig_in_force
from posse.cli.problems import Problem
from posse.cli.reading.recorded import recorded_source
from posse.cli.reading.snapshot_file import SnapshotSource, read_snapshot
from posse.cli.session import Rules
from posse.cli.ui.answers import PageAnswers, RecordedCluster
from posse.cli.ui.live_cluster import LiveCluster
from posse.cli.ui.page_state import PageState
from posse.client.cluster_access import CredentialsError
from posse.client.connection import Connection
from posse.client.credentials import SERVICE_HOST, find_credentials
from posse.client.kubeconfig import read_kubeconfig
from posse.installation.page import PAGE_PATH
from posse.page.app import build_page
from posse.page.feed import LiveFeed
from posse.page.guard import Admit, admitting
from posse.recording.segments import RecordingError
from posse.runtime.process.logs import configure_logging
from posse.runtime.process.recordings import recorded_options
from posse.runtime.process.stopping import on_stop_signal
from posse.runtime.process.worker_thread import WorkerThread
from posse.runtime.remote.page_access import PageAccess

HOST = "127.0.0.1"
PAUSE_SECONDS = 0.25
MAX_SHARE_OF_TIME = 0.25
"""The largest share of time that reading a large cluster again may take."""
NICENESS = 5
"""The page of a scheduler yields the processor to it."""


@dataclass(frozen=True, slots=True)
class PageOptions:
    kubeconfig: Path | None
    context: str | None
    snapshot: Path | None
    recording: Path | None
    rules: Rules
    is_live: bool
    port: int
    listen_fd: int | None
    """A socket that listens already, and belongs to the process that started this one."""
    token_file: Path | None
    metrics: str
    has_cluster_tokens: bool = False
    """Users of the cluster are admitted by their own tokens."""


def serve_page(options: PageOptions) -> None:
    """Serve until a stop signal. Problem: it could not start."""
    configure_logging(logging.WARNING)
    if options.listen_fd is not None:
        os.nice(NICENESS)
    try:
        uvloop.run(_run(options))
    except (CredentialsError, PortInUse, RecordingError) as error:
        raise Problem(str(error)) from error


async def _run(options: PageOptions) -> None:
    serving = asyncio.ensure_future(_serve(options))
    on_stop_signal(serving.cancel)
    if options.listen_fd is not None:
        # Standard input ends with the process that started this one.
        asyncio.get_running_loop().add_reader(sys.stdin, serving.cancel)
    await asyncio.wait([serving])
    if not serving.cancelled():
        serving.result()


async def _serve(options: PageOptions) -> None:
    worker, feed = WorkerThread("page"), LiveFeed()
    async with AsyncExitStack() as parts:
        parts.callback(worker.close)
        recorded = _recorded(options)
        cluster = await _live(options, parts) if options.is_live else None
        answers = PageAnswers(
            worker, recorded, cluster.events if cluster else None, cluster.metrics if cluster else None
        )
        admit, token = _admission(options, cluster)
        listener = await _listen(options, feed, answers, admit)
        parts.push_async_callback(listener.close)
        if options.listen_fd is None:
            typer.echo(f"The page is at {listener.url}/#token={token}\nCtrl-C ends it.")
        if cluster is not None:
            await cluster.run(lambda: _refresh(options, cluster, answers, feed))
            return
        source = await worker.call(lambda: _read(options))
        answers.state = await worker.call(lambda: PageState(source, rules_in_force(options.rules, source)))
        feed.publish(await worker.call(answers.state.document) | _about(options, source))
        await asyncio.Event().wait()


def _admission(options: PageOptions, cluster: LiveCluster | None) -> tuple[Admit, str]:
    """Return which tokens open the page, and the one to print."""
    if options.has_cluster_tokens and cluster is not None:
        access = PageAccess(cluster.connection)
        return lambda authorization: access.admit(authorization, PAGE_PATH), "TOKEN"
    token = ensure_token(options.token_file) if options.token_file else secrets.token_urlsafe(24)
    return admitting(token), token


async def _listen(options: PageOptions, feed: LiveFeed, answers: PageAnswers, admit: Admit) -> Listener:
    app = build_page(feed, answers.answer, admit)
    if options.listen_fd is not None:
        return await serve_on(app, socket.socket(fileno=options.listen_fd))
    return await serve(app, HOST, options.port, None)


async def _refresh(options: PageOptions, cluster: LiveCluster, answers: PageAnswers, feed: LiveFeed) -> None:
    """Publish the state of the cluster whenever it has changed."""
    engine_options = rules_in_force(options.rules, cluster.snapshot())
    while True:
        await cluster.changed.wait()
        cluster.changed.clear()
        started = time.monotonic()
        state = await answers.worker.call(partial(PageState, cluster.snapshot(), engine_options))
        document = await answers.worker.call(state.document)
        # First, because pages ask about what they are shown.
        answers.state = state
        feed.publish(document | _about(options, state.source))
        spent = time.monotonic() - started
        await asyncio.sleep(max(PAUSE_SECONDS, spent / MAX_SHARE_OF_TIME))


def _about(options: PageOptions, source: SnapshotSource) -> dict[str, object]:
    return {
        "source": {
            "isLive": options.is_live,
            "hasRecording": options.recording is not None,
            "time": "" if options.is_live else source.header.time,
            "namespace": source.default_namespace,
        }
    }


async def _live(options: PageOptions, parts: AsyncExitStack) -> LiveCluster:
    in_pod = options.kubeconfig is None and bool(os.environ.get(SERVICE_HOST))
    path = None if in_pod else kubeconfig_in_force(options.kubeconfig)
    connection = Connection(find_credentials(path, options.context))
    await connection.open()
    parts.push_async_callback(connection.close)
    namespace = read_kubeconfig(str(path), options.context).namespace if path else "default"
    return LiveCluster(connection, namespace, options.metrics)


def _recorded(options: PageOptions) -> RecordedCluster | None:
    if options.recording is None:
        return None
    header, engine_options = recorded_options(options.recording)
    return RecordedCluster(options.recording, header, engine_options)


def _read(options: PageOptions) -> SnapshotSource:
    if options.snapshot is not None:
        return read_snapshot(options.snapshot.expanduser())
    assert options.recording is not None  # noqa: S101 - one of them is there if the cluster is not live
    header, _ = recorded_options(options.recording)
    return recorded_source(options.recording, None, header)
