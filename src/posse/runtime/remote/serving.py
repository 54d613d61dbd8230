"""Where a process in a cluster serves its pages, and how.

On loopback they are plain HTTP, for users of this machine. Elsewhere they are HTTPS with a certificate
made at start, and all but probes are for users that the cluster lets read them. kube-scheduler does the same.
"""

import ipaddress
import ssl
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from posse.apiserver.http.server import Listener, serve
from posse.client.connection import Connection
from posse.client.credentials import own_namespace
from posse.runtime.process.run_options import RunOptions
from posse.runtime.remote.page_access import PageAccess

LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104 - probes of a pod come from outside

Build = Callable[[PageAccess | None], web.Application]


async def serve_pages(build: Build, options: RunOptions, connection: Connection) -> Listener:
    """Errors: PortInUse, OSError."""
    host = options.bind_address or (EVERYWHERE if own_namespace() else LOOPBACK)
    if _is_loopback(host):
        return await serve(build(None), host, options.port, None)
    return await serve(build(PageAccess(connection)), host, options.port, _passing_certificate())


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _passing_certificate() -> ssl.SSLContext:
    """A certificate of no known authority; it keeps tokens from being read in transit."""
    # What makes certificates takes a while to load, and on loopback nothing needs them.
    from posse.apiserver.http.certificates import ensure_certificates  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="posse-") as folder:
        return ensure_certificates(Path(folder), time.time()).server_context()
