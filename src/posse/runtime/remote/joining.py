"""How a process joins a real cluster: the connection, whether there is an election, and under which name."""

import platform
import uuid
from contextlib import AsyncExitStack
from pathlib import Path

from posse.client.connection import Connection
from posse.client.credentials import find_credentials
from posse.configuration.running import Running
from posse.runtime.process.run_options import RunOptions


async def connected(options: RunOptions, running: Running, parts: AsyncExitStack) -> Connection:
    """CredentialsError: there is no way to try."""
    configured = Path(running.kubeconfig) if running.kubeconfig else None
    connection = Connection(find_credentials(options.kubeconfig or configured, options.context))
    await connection.open()
    parts.push_async_callback(connection.close)
    return connection


def is_elected(options: RunOptions, running: Running) -> bool:
    chosen, configured = options.leader_elect, running.leader_elect
    return chosen if chosen is not None else configured if configured is not None else True


def new_identity() -> str:
    return f"{platform.node()}_{uuid.uuid4()}"
