"""How the process is asked to stop: the first SIGINT or SIGTERM asks kindly, the second is obeyed at once."""

import asyncio
import os
import signal
from collections.abc import Callable

SIGNALS = (signal.SIGINT, signal.SIGTERM)
# What a shell reports for a process that a signal ended.
SIGNAL_EXIT_CODE = 128


def on_stop_signal(stop: Callable[[], object]) -> None:
    """Have `stop` called on the first signal. Needs a running event loop."""
    loop = asyncio.get_running_loop()
    asked = False

    def receive(number: int) -> None:
        nonlocal asked
        if asked:
            # Everything acknowledged is durable already, so nothing is lost by leaving on the spot.
            os._exit(SIGNAL_EXIT_CODE + number)
        asked = True
        stop()

    for number in SIGNALS:
        loop.add_signal_handler(number, receive, number)
