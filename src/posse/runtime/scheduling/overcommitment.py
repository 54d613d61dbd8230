"""Tells of nodes that more is requested of than they have, once for each, until it is put right."""

import asyncio
import logging
from collections.abc import Callable, Iterable

from posse.engine.explain.statistics import Overcommitted
from posse.engine.placement.gang.shortfall import amount_text
from posse.runtime.watching.event_recorder import EventRecorder
from posse.transport.notes import Note, Subject

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
REPORTER = "posse"


class OvercommitmentReports:
    def __init__(self, look: Callable[[], Iterable[Overcommitted]], recorder: EventRecorder) -> None:
        self._look = look
        self._recorder = recorder
        self._told: set[tuple[str, str]] = set()

    async def run(self) -> None:
        """Look every now and then, until cancelled."""
        while True:
            self.tell()
            await asyncio.sleep(LOOK_SECONDS)

    def tell(self) -> None:
        found = {(each.node, each.resource): each for each in self._look()}
        for place, each in found.items():
            if place not in self._told:
                self._tell(each)
        self._told = set(found)

    def _tell(self, each: Overcommitted) -> None:
        requested, there = (amount_text(each.resource, one) for one in (each.requested, each.allocatable))
        text = f"its pods request {requested} of {each.resource}, and it has {there}"
        log.warning("node %s is overcommitted: %s", each.node, text)
        # Nodes go by their name where events about them are looked up.
        scheduling_class = Subject("v1", "Node", "", each.node, each.node)
        self._recorder.record(
            Note(
                REPORTER,
                scheduling_class,
                "Overcommitted",
                f"Overcommitted: {text}",
                "Observing",
                warning=True,
            )
        )
