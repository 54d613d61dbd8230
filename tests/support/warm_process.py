"""`posse` in processes that need not import it: they are forked from one that has.

Imports take most of the start of `posse up`. Tests of how a process starts or ends run `python -m posse`.
"""

import multiprocessing
import os
import sys
from pathlib import Path

from posse.cli.main import main

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["posse.cli.up.up", "posse.cli.up.run", "posse.cli.run.run"])


class WarmProcess:
    """A running `posse` that writes what it says to `log`."""

    def __init__(self, words, log, **environment):
        arguments = (list(map(str, words)), Path(log), os.environ | environment)
        self._process = _CONTEXT.Process(target=_run, args=arguments, daemon=True)
        self._process.start()

    def stop(self, seconds):
        """Ask it to stop, and return how it ended; None if it goes on."""
        self._process.terminate()
        self._process.join(seconds)
        return self._process.exitcode


def _run(words, log, environment):
    with log.open("w") as output:
        for number in (1, 2):
            os.dup2(output.fileno(), number)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["posse", *words]
    main()
