"""A simulated cluster autoscaler: adds the nodes that would let a waiting group start, all at once.

One group is served at a time, because what helps one is computed as if it were alone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import count, islice

from posse.engine.cycle.advice import MissingNodes
from posse.kinds.machinery.errors import NOT_FOUND, ApiError
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import NODE
from posse.kubelet.nodes import is_simulated
from posse.runtime.embedded.bootstrap import create_missing
from posse.transport.transport import Transport

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
SETTLE_SECONDS = 30.0
"""New nodes are given this long to be used before nodes are added for the same group again."""
MAX_ADDED = 1000
"""A group that needs more nodes than this gets none."""
PREFIX = "autoscaled-"
_HOSTNAME = "kubernetes.io/hostname"
_PASSING_TAINTS = "node.kubernetes.io/"
"""Taints of nodes that are not ready, or not to be used now."""


class SimulatedAutoscaler:
    def __init__(
        self,
        ask: Callable[[], Awaitable[Sequence[MissingNodes]]],
        transport: Transport,
        clock: Callable[[], float],
        delay_seconds: float,
    ) -> None:
        self._ask = ask
        self._transport = transport
        self._clock = clock
        self._delay = delay_seconds
        self._since: dict[MissingNodes, float] = {}
        """Since when nodes are missing."""
        self._busy_until = 0.0

    async def run(self) -> None:
        """Look periodically, until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Add nodes for the group that has waited longest, if it has waited long enough."""
        now = self._clock()
        missing = await self._ask()
        if not missing:
            self._busy_until = 0.0
        self._since = {each: self._since.get(each, now) for each in missing}
        if not missing or now < self._busy_until:
            return
        each = min(missing, key=self._since.__getitem__)
        if now - self._since[each] >= self._delay:
            self._busy_until = now + SETTLE_SECONDS
            # If it still waits then, others come first.
            self._since[each] = now
            try:
                await self._add(each)
            except ApiError as error:
                log.warning("nodes for %s are not added, trying again: %s", each.group, error)

    async def _add(self, missing: MissingNodes) -> None:
        wanted = sum(number for _, number in missing.nodes)
        if wanted > MAX_ADDED:
            log.warning("%s needs %d more nodes; none are added above %d", missing.group, wanted, MAX_ADDED)
            return
        existing = {node["metadata"]["name"] for node in (await self._transport.list(NODE)).items}
        free = (name for name in (f"{PREFIX}{number:04d}" for number in count(1)) if name not in existing)
        try:
            shapes = [(await self._transport.get(NODE, "", like), number) for like, number in missing.nodes]
        except ApiError as error:
            if error.code != NOT_FOUND:
                raise
            return
        new = [made for shape, number in shapes for made in _copies(shape, free, number)]
        await create_missing(self._transport, [(NODE, "", node) for node in new])
        log.info("added %d nodes, so that %s can start", len(new), missing.group)


def _copies(shape: Json, names: Iterable[str], number: int) -> list[Json]:
    """New, empty nodes with the labels, taints and capacity of an existing one."""
    return [_copy(shape, name) for name in islice(names, number)] if is_simulated(shape) else []


def _copy(shape: Json, name: str) -> Json:
    """What its kubelet reports besides comes with its first report."""
    labels = (shape["metadata"].get("labels") or {}) | {_HOSTNAME: name}
    taints = [
        taint
        for taint in shape.get("spec", {}).get("taints") or ()
        if not taint["key"].startswith(_PASSING_TAINTS)
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints} if taints else {},
        "status": {field: dict(shape["status"][field]) for field in ("capacity", "allocatable")},
    }
