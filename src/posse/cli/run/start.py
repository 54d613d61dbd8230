"""Runs the scheduler for a real cluster in the foreground until SIGTERM or SIGINT."""

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import uvloop

from posse.apiserver.http.server import PortInUse
from posse.cli.configuration_file import unusable
from posse.cli.problems import Problem
from posse.cli.run.page import page_of_run
from posse.client.cluster_access import CredentialsError
from posse.client.http_responses import AnswerBroken
from posse.configuration.problems import ConfigurationError
from posse.recording.segments import RecordingError
from posse.runtime.process.background import BackgroundFailed
from posse.runtime.process.gc_tuning import leave_memory_to_the_system
from posse.runtime.process.logs import LogForm, configure_logging
from posse.runtime.process.memory_return import return_memory
from posse.runtime.process.run_options import RunOptions
from posse.runtime.process.stopping import on_stop_signal
from posse.runtime.remote.remote import RemoteScheduler
from posse.version import VERSION

if TYPE_CHECKING:
    from posse.runtime.remote.control_process import ControlProcess

log = logging.getLogger(__name__)


def run_scheduler(options: RunOptions, level: str, form: LogForm) -> None:
    """Problem: it could not start, or it broke."""
    configure_logging(logging.getLevelNamesMapping()[level], form)
    try:
        uvloop.run(_run(options))
    except ConfigurationError as error:
        raise unusable(error, options.config) from error
    except (CredentialsError, PortInUse, BackgroundFailed, RecordingError) as error:
        raise Problem(str(error)) from error
    except OSError as error:
        raise Problem(_refused_by_system(error, options)) from error
    finally:
        leave_memory_to_the_system()


def _refused_by_system(error: OSError, options: RunOptions) -> str:
    """Only listening on the address can fail with OSError."""
    where = f"{options.bind_address}:{options.port}" if options.bind_address else f"port {options.port}"
    return f"{where}: {(error.strerror or str(error)).lower()}; use another --bind-address or --port"


async def _run(options: RunOptions) -> None:
    asyncio.get_running_loop().set_exception_handler(on_unclaimed_error)
    scheduler = RemoteScheduler(options) if options.schedules else _control_process(options)
    on_stop_signal(scheduler.stop)
    ready = asyncio.Event()
    telling = asyncio.create_task(_tell_ready(options, scheduler, ready))
    try:
        await scheduler.run(ready.set)
    finally:
        telling.cancel()
        await asyncio.wait([telling])
    log.info("stopped")


def _control_process(options: RunOptions) -> "ControlProcess":
    # A scheduler does without it.
    from posse.runtime.remote.control_process import ControlProcess  # noqa: PLC0415

    return_memory()
    return ControlProcess(options)


async def _tell_ready(
    options: RunOptions, scheduler: "RemoteScheduler | ControlProcess", ready: asyncio.Event
) -> None:
    """Say where the scheduler serves, and serve its page until cancelled."""
    await ready.wait()
    log.info("Posse %s serves %s/healthz", VERSION, scheduler.url)
    if options.has_page:
        async with page_of_run(options, scheduler.url) as address:
            log.info("the page is at %s", address)
            await asyncio.Event().wait()


def on_unclaimed_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ignore idle connections that break: the next request notices it."""
    error = context.get("exception")
    if isinstance(error, OSError | AnswerBroken):
        log.debug("a connection broke: %s: %s", context.get("message"), error)
    else:
        loop.default_exception_handler(context)
