"""Runs an embedded cluster in the foreground until SIGTERM or SIGINT."""

import asyncio
import shutil
import sys
from pathlib import Path

import typer
import uvloop

from posse.apiserver.http.server import PortInUse
from posse.cli.configuration_file import unusable
from posse.cli.locations import default_data_dir
from posse.cli.manifests import Manifest
from posse.cli.problems import Problem
from posse.cli.up.examples import examples_dir
from posse.cli.up.watching import watch_cluster
from posse.configuration.problems import ConfigurationError
from posse.recording.segments import RecordingError
from posse.runtime.embedded.cluster import EmbeddedCluster
from posse.runtime.process.gc_tuning import collect_seldom
from posse.runtime.process.logs import configure_logging
from posse.runtime.process.options import ClusterOptions
from posse.runtime.process.stopping import on_stop_signal
from posse.store.errors import DataDirError
from posse.version import VERSION


def serve(options: ClusterOptions, examples: list[Manifest]) -> None:
    """Serve until a stop signal. Problem: it could not start, or it failed."""
    configure_logging()
    collect_seldom()
    try:
        uvloop.run(_serve(options, examples))
    except ConfigurationError as error:
        raise unusable(error, options.config) from error
    except (DataDirError, PortInUse, RecordingError) as error:
        raise Problem(str(error)) from error
    except OSError as error:
        raise Problem(_refused_by_system(error, options)) from error


def _refused_by_system(error: OSError, options: ClusterOptions) -> str:
    what = error.filename or f"port {options.port}"
    return f"{what}: {(error.strerror or str(error)).lower()}; check it, or use another --data-dir or --port"


async def _serve(options: ClusterOptions, examples: list[Manifest]) -> None:
    serving = asyncio.create_task(_serve_until_cancelled(options, examples))
    on_stop_signal(serving.cancel)
    await serving


async def _serve_until_cancelled(options: ClusterOptions, examples: list[Manifest]) -> None:
    cluster = EmbeddedCluster(options)
    try:
        await cluster.start()
        await cluster.add([(item.kind, item.namespace or "default", item.obj) for item in examples])
        typer.echo(welcome(cluster.url, options))
        await _watch_until_failure(cluster)
    except asyncio.CancelledError:
        typer.echo("Stopping ...")
    finally:
        await cluster.stop()


async def _watch_until_failure(cluster: EmbeddedCluster) -> None:
    watching = asyncio.create_task(watch_cluster(cluster))
    failing = asyncio.create_task(cluster.wait_failed())
    try:
        await asyncio.wait([watching, failing], return_when=asyncio.FIRST_COMPLETED)
        if watching.done():
            watching.result()
        raise Problem(f"{failing.result()}; all acknowledged writes are saved; start Posse again")
    finally:
        watching.cancel()
        failing.cancel()
        await asyncio.wait([watching, failing])


def _own_command() -> str:
    """Return the command to type: `posse` if the shell finds this program by that name, else its path."""
    installed = Path(sys.executable).with_name("posse")
    return str(installed) if installed.exists() and shutil.which("posse") != str(installed) else "posse"


def welcome(url: str, options: ClusterOptions) -> str:
    """Text at the start: where everything is and what to try next."""
    gang = examples_dir() / "gang-too-big.yaml"
    reach = "" if options.data_dir == default_data_dir() else f" --kubeconfig {options.kubeconfig}"
    posse = _own_command()
    return f"""\
Posse {VERSION} is ready at {url}
  data        {options.data_dir}
  kubeconfig  {options.kubeconfig}

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
