"""Reports each overcommitted node once, until it is no longer overcommitted: an event and a log line."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from posse.engine.explain.statistics import Overcommitted
from posse.engine.reporting.cause_messages import amount_text
from posse.runtime.watching.event_recorder import EventRecorder
from posse.transport.notes import Note, Subject

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
REPORTER = "posse"


class OvercommitmentReports:
    def __init__(
        self, look: Callable[[], Awaitable[Iterable[Overcommitted]]], recorder: EventRecorder
    ) -> None:
        self._look = look
        self._recorder = recorder
        self._reported: set[tuple[str, str]] = set()

    async def run(self) -> None:
        """Look periodically, until cancelled."""
        while True:
            await self.report()
            await asyncio.sleep(LOOK_SECONDS)

    async def report(self) -> None:
        found = {(each.node, each.resource): each for each in await self._look()}
        for key, each in found.items():
            if key not in self._reported:
                self._report_node(each)
        self._reported = set(found)

    def _report_node(self, each: Overcommitted) -> None:
        requested, available = (amount_text(each.resource, one) for one in (each.requested, each.allocatable))
        text = f"its pods request {requested} of {each.resource}, and it has {available}"
        log.warning("node %s is overcommitted: %s", each.node, text)
        # Events about nodes are looked up by the name of the node, not by its uid.
        subject = Subject("v1", "Node", "", each.node, each.node)
        self._recorder.record(
            Note(
                REPORTER,
                subject,
                "Overcommitted",
                f"Overcommitted: {text}",
                "Observing",
                warning=True,
            )
        )
