"""The simulated nodes of Posse beside a real API server: `python -m tests.cluster.simulated_kubelets KUBECONFIG COUNT`."""

import asyncio
import sys
import time
from pathlib import Path

from posse.client.connection import Connection
from posse.client.credentials import find_credentials
from posse.client.http_transport import HttpTransport
from posse.client.write_priorities import RequestLimits
from posse.runtime.embedded.bootstrap import ensure_nodes
from posse.runtime.embedded.simulated_nodes import SimulatedNodes


async def main(kubeconfig: Path, count: int) -> None:
    connection = Connection(find_credentials(kubeconfig, None))
    await connection.open()
    transport = HttpTransport(connection, RequestLimits())
    await ensure_nodes(transport, count, (), time.time())
    await SimulatedNodes(transport, time.time).run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
