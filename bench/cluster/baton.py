"""Holds the Lease by which both contenders elect a leader, until the race begins.

While this process holds it, a scheduler reads the cluster and waits.
The race begins when the scheduler acquires the Lease.
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
    """Release the Lease. Return the time at which a scheduler says it acquired it."""
    await api.patch(f"{LEASES}/{name}", {"spec": {"holderIdentity": "", "leaseDurationSeconds": 1}})
    while True:
        spec = (await api.get(f"{LEASES}/{name}"))["spec"]
        if spec.get("holderIdentity"):
            return datetime.fromisoformat(spec["acquireTime"]).timestamp()
        await asyncio.sleep(_POLL_SECONDS)
