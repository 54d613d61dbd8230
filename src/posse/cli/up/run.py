"""Runs the cluster of `posse up` in the foreground until SIGTERM or SIGINT."""

import asyncio
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import typer
import uvloop

from posse.apiserver.http.server import PortInUse
from posse.apiserver.http.tokens import ensure_token
from posse.cli.configuration_file import unusable
from posse.cli.locations import default_data_dir
from posse.cli.manifests import Manifest
from posse.cli.problems import Problem
from posse.cli.run.start import on_unclaimed_error
from posse.cli.up.examples import examples_dir
from posse.cli.up.notices import continuation_notice
from posse.cli.up.watching import Watchable, watch_cluster
from posse.configuration.problems import ConfigurationError
from posse.control_plane.program import ProgramEndedError
from posse.kinds.machinery.errors import ApiError
from posse.page.process import PageProcess
from posse.recording.segments import RecordingError
from posse.runtime.embedded.bootstrap import EnsuredNodes, Item
from posse.runtime.embedded.cluster import EmbeddedCluster
from posse.runtime.process.gc_tuning import leave_memory_to_the_system
from posse.runtime.process.logs import configure_logging
from posse.runtime.process.memory_return import LARGE_SERVER_BYTES, return_memory
from posse.runtime.process.options import KUBECONFIG_NAME, ClusterOptions, ControlPlaneMode
from posse.runtime.process.stopping import on_stop_signal
from posse.store.errors import DataDirError
from posse.version import VERSION


def page_of(options: ClusterOptions) -> PageProcess:
    """On the port after that of the API server if that is free."""
    folder = options.data_dir
    words = ["ui", "--kubeconfig", str(folder / KUBECONFIG_NAME), "--token-file", str(page_token(options))]
    if options.record is not None:
        words += ["--recording", str(options.record)]
    return PageProcess(words, options.port + 1 if options.port else 0, folder / "page.log")


def page_token(options: ClusterOptions) -> Path:
    """It stays the same, so that an open page finds the cluster again after a restart."""
    return options.data_dir / "page-token"


class LocalCluster(Watchable, Protocol):
    """The embedded cluster, or one on programs of Kubernetes."""

    url: str
    nodes: EnsuredNodes

    async def start(self) -> None: ...

    async def add(self, items: Sequence[Item]) -> None: ...

    async def wait_failed(self) -> Exception: ...

    async def stop(self) -> None: ...


def serve(options: ClusterOptions, examples: list[Manifest]) -> None:
    """Serve until a stop signal. Problem: it could not start, or it failed."""
    configure_logging()
    return_memory(LARGE_SERVER_BYTES)
    make = _cluster_maker(options)
    try:
        uvloop.run(_serve(make, options, examples))
    except ConfigurationError as error:
        raise unusable(error, options.config) from error
    except (DataDirError, PortInUse, RecordingError, ApiError, ProgramEndedError) as error:
        raise Problem(str(error)) from error
    except OSError as error:
        raise Problem(_refused_by_system(error, options)) from error
    finally:
        leave_memory_to_the_system()


def _cluster_maker(options: ClusterOptions) -> Callable[[], LocalCluster]:
    """Problem: programs of Kubernetes are missing."""
    if options.control_plane is ControlPlaneMode.EMBEDDED:
        return lambda: EmbeddedCluster(options)
    from posse.cli.up.programs import ready_programs  # noqa: PLC0415 - the embedded cluster needs neither
    from posse.runtime.kubernetes.cluster import KubernetesCluster  # noqa: PLC0415

    release = ready_programs(options.binaries)
    return lambda: KubernetesCluster(options, release)


def _refused_by_system(error: OSError, options: ClusterOptions) -> str:
    what = error.filename or f"port {options.port}"
    return f"{what}: {(error.strerror or str(error)).lower()}; check it, or use another --data-dir or --port"


async def _serve(make: Callable[[], LocalCluster], options: ClusterOptions, examples: list[Manifest]) -> None:
    asyncio.get_running_loop().set_exception_handler(on_unclaimed_error)
    serving = asyncio.create_task(_serve_until_cancelled(make(), options, examples))
    on_stop_signal(serving.cancel)
    await serving


async def _serve_until_cancelled(
    cluster: LocalCluster, options: ClusterOptions, examples: list[Manifest]
) -> None:
    page: PageProcess | None = None
    try:
        await cluster.start()
        await cluster.add([(item.kind, item.namespace or "default", item.obj) for item in examples])
        if options.has_page:
            page = page_of(options)
            page.start()
        address = page.address(ensure_token(page_token(options))) if page else ""
        typer.echo(welcome(cluster.url, options, address))
        if notice := continuation_notice(options, cluster.nodes):
            typer.echo(f"{notice}\n", err=True)
        await _watch_until_failure(cluster)
    except asyncio.CancelledError:
        typer.echo("Stopping ...")
    finally:
        if page is not None:
            await page.stop()
        await cluster.stop()


async def _watch_until_failure(cluster: LocalCluster) -> None:
    watching = asyncio.create_task(watch_cluster(cluster))
    failing = asyncio.create_task(cluster.wait_failed())
    try:
        await asyncio.wait([watching, failing], return_when=asyncio.FIRST_COMPLETED)
        if watching.done():
            watching.result()
        failure = failing.result()
        if isinstance(failure, ProgramEndedError):
            raise failure
        raise Problem(f"{failure}; all acknowledged writes are saved; start Posse again")
    finally:
        watching.cancel()
        failing.cancel()
        await asyncio.wait([watching, failing])


def _own_command() -> str:
    """Return the command to type: `posse` if the shell finds this program by that name, else its path."""
    installed = Path(sys.executable).with_name("posse")
    return str(installed) if installed.exists() and shutil.which("posse") != str(installed) else "posse"


def welcome(url: str, options: ClusterOptions, page: str = "") -> str:
    """Text at the start: where everything is and what to try next."""
    gang = examples_dir() / "gang-too-big.yaml"
    reach = "" if options.data_dir == default_data_dir() else f" --kubeconfig {options.kubeconfig}"
    posse = _own_command()
    page_line = f"\n  page        {page}" if page else ""
    return f"""\
Posse {VERSION} is ready at {url}
  data        {options.data_dir}
  kubeconfig  {options.kubeconfig}{page_line}

In another terminal:
  export KUBECONFIG={options.kubeconfig}
  kubectl get nodes
  kubectl apply -f {gang}
  kubectl get podgroups,pods -o wide
or, without kubectl:
  {posse} apply{reach} -f {gang}
  {posse} get{reach} podgroups,pods -o wide

Ctrl-C stops it; the same command starts it again with all its objects.
"""
