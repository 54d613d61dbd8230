"""Whether a server answers at all: tells when it has not for a while, and when it does again.

A request without an answer is repeated without a word, since most pass. Whether to repeat it is decided
elsewhere.
"""

import logging
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

QUIET_SECONDS = 1.0
"""Connections break all the time, and servers are back at once."""


class Reachability:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.trouble = ""
        """What became of the last request, if none was answered since; else empty."""
        self._since = 0.0
        self._is_told = False

    def failed(self, trouble: str, asked_at: float) -> None:
        if not self.trouble:
            self._since = asked_at
        self.trouble = trouble
        if not self._is_told and self.clock() - self._since >= QUIET_SECONDS:
            self._is_told = True
            log.warning("%s; asking again until it answers", trouble)

    def answered(self) -> None:
        if not self.trouble:
            return
        if self._is_told:
            log.info("the API server answers again")
        self.trouble, self._is_told = "", False
