"""Holds the lease that a scheduler waits for, so that it is warm and knows everything when its race begins.

Both contenders elect leaders by a Lease. While this process holds it they watch and wait; the race begins at the moment
at which one of them has it.
"""

import asyncio
from datetime import UTC, datetime

from bench.cluster.api import LEASES, Api
from bench.cluster.shapes import Json

_HOLDER = "race"
_POLL_SECONDS = 0.02
_HELD_SECONDS = 3600


async def hold(api: Api, name: str) -> None:
    path = f"{LEASES}/{name}"
    await api.create(LEASES, {"metadata": {"name": name, "namespace": "kube-system"}})
    while not await api.replace(path, _held(await api.get(path))):
        pass


def _held(lease: Json) -> Json:
    now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    spec = {
        "holderIdentity": _HOLDER,
        "leaseDurationSeconds": _HELD_SECONDS,
        "acquireTime": now,
        "renewTime": now,
    }
    return {**lease, "spec": spec}


async def hand_over(api: Api, name: str) -> float:
    """Let go of the lease; returns when a scheduler took it, by its own word and the clock on the wall."""
    await api.patch(f"{LEASES}/{name}", {"spec": {"holderIdentity": "", "leaseDurationSeconds": 1}})
    while True:
        spec = (await api.get(f"{LEASES}/{name}"))["spec"]
        if spec.get("holderIdentity"):
            return datetime.fromisoformat(spec["acquireTime"]).timestamp()
        await asyncio.sleep(_POLL_SECONDS)
