"""The page of `posse run`: the command that serves it for the same cluster, by the same rules."""

import os
import secrets
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from posse.client.credentials import HOME_KUBECONFIG, SERVICE_HOST
from posse.page.process import PageProcess
from posse.runtime.process.run_options import RunOptions


@asynccontextmanager
async def page_of_run(options: RunOptions, scheduler_url: str) -> AsyncIterator[str]:
    """Serve the page, and yield its address; on the port after that of the scheduler if that is free."""
    with tempfile.TemporaryDirectory(prefix="posse-page-") as folder:
        token = Path(folder) / "token"
        token.write_text(secrets.token_urlsafe(24))
        words = ["ui", "--token-file", str(token), *page_words(options, scheduler_url)]
        page = PageProcess(words, options.port + 1 if options.port else 0)
        page.start()
        try:
            yield page.address(token.read_text())
        finally:
            await page.stop()


def page_words(options: RunOptions, scheduler_url: str) -> list[str]:
    """Options of `posse ui` for the same cluster and the same rules."""
    words = []
    if kubeconfig := _kubeconfig(options):
        words += ["--kubeconfig", str(kubeconfig)]
    if options.context:
        words += ["--context", options.context]
    if options.config is not None:
        words += ["--config", str(options.config)]
    else:
        words += [word for name in options.scheduler_names for word in ("--scheduler-name", name)]
    if options.record is not None:
        words += ["--recording", str(options.record)]
    if scheduler_url.startswith("http://"):
        words += ["--metrics", f"{scheduler_url}/metrics"]
    return words


def _kubeconfig(options: RunOptions) -> Path | None:
    """None where `posse ui` finds the same cluster by itself."""
    if options.kubeconfig is not None:
        return options.kubeconfig
    is_found = os.environ.get("KUBECONFIG") or os.environ.get(SERVICE_HOST)
    return None if is_found else HOME_KUBECONFIG.expanduser()
