"""Whether the devices of a pod are ready: a node starts no pod whose claims are not reserved for it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from posse.controllers.devices.claims import (
    claim_names,
    consumers_of,
    entries_of,
    group_name,
    is_allocated,
    is_group,
    is_pod,
    statuses_of,
)

Json = dict[str, Any]
Place = tuple[str, str]


class PreparedClaims:
    def __init__(self) -> None:
        self._claims: dict[Place, Json] = {}
        self._waiting: defaultdict[Place, dict[Place, None]] = defaultdict(dict)
        """Pods that wait for a claim."""

    def put(self, claim: Json) -> Iterable[Place]:
        """Return the pods that waited for it."""
        place = _place(claim)
        self._claims[place] = claim
        return self._waiting.pop(place, ())

    def drop(self, claim: Json) -> None:
        self._claims.pop(_place(claim), None)

    def obstacle(self, pod: Json) -> str:
        """Why the pod cannot start; empty if it can. It is returned by `put` when a claim changes."""
        namespace = pod["metadata"]["namespace"]
        made = statuses_of(pod)
        for entry in entries_of(pod):
            if entry.get("resourceClaimTemplateName") and entry["name"] not in made:
                return f"the claim of entry {entry['name']} has not been made"
        for name in _names(pod):
            claim = self._claims.get((namespace, name))
            if claim is None or not _is_ready(claim, pod):
                self._waiting[namespace, name][_place(pod)] = None
                state = "not found" if claim is None else f"not reserved for pod {pod['metadata']['name']}"
                return f"resourceclaim {namespace}/{name}: {state}"
        return ""


def _names(pod: Json) -> Iterator[str]:
    for _, name in claim_names(pod):
        yield name
    extended = (pod.get("status") or {}).get("extendedResourceClaimStatus")
    if extended:
        yield extended["resourceClaimName"]


def _is_ready(claim: Json, pod: Json) -> bool:
    uid, group = pod["metadata"]["uid"], group_name(pod)
    return is_allocated(claim) and any(
        (is_pod(consumer) and consumer["uid"] == uid) or (is_group(consumer) and consumer["name"] == group)
        for consumer in consumers_of(claim)
    )


def _place(obj: Json) -> Place:
    return obj["metadata"]["namespace"], obj["metadata"]["name"]
