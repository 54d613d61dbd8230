"""Drains a node: cordons it, and evicts its pods through the API, which respects disruption budgets."""

import time
from collections.abc import Callable
from typing import Any

from posse.cli.client import ApiClient, Refused
from posse.cli.problems import Problem
from posse.client.paths import path_of
from posse.kinds.machinery.errors import NOT_FOUND
from posse.kinds.registry import NODE, POD

Json = dict[str, Any]

TOO_MANY_REQUESTS = 429
PAUSE_SECONDS = 1.0


def drain_node(client: ApiClient, name: str, timeout: float, say: Callable[[str], None]) -> None:
    """Return when all pods are asked to leave; raise a Problem if budgets do not allow it in time."""
    client.patch(path_of(NODE, "v1", "", name), {"spec": {"unschedulable": True}})
    say(f'node "{name}" takes no new pods')
    give_up_at = time.monotonic() + timeout
    refusals = _evict_all(client, name, say)
    while refusals:
        if time.monotonic() >= give_up_at:
            pod, refusal = next(iter(refusals.items()))
            raise Problem(f"{len(refusals)} pods stay on {name}, such as {pod}: {refusal}")
        time.sleep(PAUSE_SECONDS)
        refusals = _evict_all(client, name, say)
    say(f'node "{name}" is drained')


def _evict_all(client: ApiClient, node: str, say: Callable[[str], None]) -> dict[str, Refused]:
    """Evict what may go, and return why the others may not yet."""
    refusals = {}
    for pod in client.get(f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}")["items"]:
        if "deletionTimestamp" in pod["metadata"]:
            continue
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        try:
            client.create(path_of(POD, "v1", namespace, name, "eviction"), _eviction(namespace, name))
        except Refused as refusal:
            if refusal.code == TOO_MANY_REQUESTS:
                refusals[f"{namespace}/{name}"] = refusal
            elif refusal.code != NOT_FOUND:
                raise
        else:
            say(f'pod "{namespace}/{name}" evicted')
    return refusals


def _eviction(namespace: str, name: str) -> Json:
    metadata = {"namespace": namespace, "name": name}
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
