"""Asks cluster autoscalers for the nodes that waiting groups lack, and withdraws what is no longer needed.

Nothing happens where ProvisioningRequests are not served.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from posse.client.connection import Call, Connection
from posse.controllers.provisioning import (
    API_VERSION,
    MAX_POD_SETS,
    OWN_LABELS,
    ProvisioningDemand,
    demand_of,
    has_failed,
)
from posse.engine.cycle.advice import MissingNodes
from posse.kinds.machinery.errors import CONFLICT, NOT_FOUND, ApiError
from posse.model.timestamps import parse_timestamp

log = logging.getLogger(__name__)

Json = dict[str, Any]
Place = tuple[str, str]

LOOK_SECONDS = 5.0
GRACE_SECONDS = 30.0
"""A request is withdrawn when its group has needed no more nodes for so long: what helps is computed again
whenever the cluster changes."""
RETRY_SECONDS = 600.0
"""After this, an autoscaler that gave up is asked again."""
_REQUESTS = f"/apis/{API_VERSION}"
_MERGE = "application/merge-patch+json"


class ProvisioningRequests:
    def __init__(
        self,
        connection: Connection,
        ask: Callable[[], Awaitable[Sequence[MissingNodes]]],
        clock: Callable[[], float],
    ) -> None:
        self._connection = connection
        self._ask = ask
        self._clock = clock
        self._demands: dict[object, ProvisioningDemand] = {}
        """Those of the last look, by what they depend on."""
        self._unneeded_since: dict[Place, float] = {}
        self._annotated: dict[str, str] = {}
        """The request that each pod names, by uid."""

    async def run(self, may_begin: asyncio.Event) -> None:
        await may_begin.wait()
        while True:
            try:
                await self.look()
            except ApiError as error:
                log.warning("autoscalers cannot be asked for nodes, trying again: %s", error)
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Request what is missing, and withdraw the rest."""
        existing = await self._existing()
        if existing is None:
            return
        wanted: dict[Place, tuple[MissingNodes, ProvisioningDemand]] = {}
        demands: dict[object, ProvisioningDemand] = {}
        for missing in await self._ask():
            if 0 < len(missing.pods) <= MAX_POD_SETS:
                key = missing, missing.topology_key, tuple((one.pods[0], one.count) for one in missing.pods)
                demands[key] = demand = self._demands.get(key) or await self._demand(missing)
                wanted[demand.namespace, demand.name] = missing, demand
        self._demands = demands
        for place, (missing, demand) in wanted.items():
            if place not in existing:
                await self._request(missing, demand)
            await self._annotate(missing, demand)
        await self._withdraw(existing, wanted)

    async def _existing(self) -> dict[Place, Json] | None:
        """Return the requests of Posse; None if the cluster serves none."""
        selector = ",".join(f"{key}={value}" for key, value in OWN_LABELS.items())
        call = Call("GET", f"{_REQUESTS}/provisioningrequests", {"labelSelector": selector})
        try:
            answer = json.loads(await self._connection.ask(call))
        except ApiError as error:
            if error.code != NOT_FOUND:
                raise
            return None
        metadata = [one["metadata"] for one in answer["items"]]
        places = [(one["namespace"], one["name"]) for one in metadata]
        return dict(zip(places, answer["items"], strict=True))

    async def _demand(self, missing: MissingNodes) -> ProvisioningDemand:
        examples = [one.pods[0] for one in missing.pods]
        pods = [await self._get(f"/api/v1/namespaces/{ref.namespace}/pods/{ref.name}") for ref in examples]
        domain: dict[str, str] = {}
        if missing.topology_key:
            node = await self._get(f"/api/v1/nodes/{missing.nodes[0][0]}")
            value = (node["metadata"].get("labels") or {}).get(missing.topology_key)
            domain = {missing.topology_key: value} if value else {}
        counts = [one.count for one in missing.pods]
        return demand_of(missing.group, list(zip(pods, counts, strict=True)), domain)

    async def _request(self, missing: MissingNodes, demand: ProvisioningDemand) -> None:
        core = f"/api/v1/namespaces/{demand.namespace}/podtemplates"
        for template in demand.templates:
            await self._create(core, template)
        await self._create(f"{_REQUESTS}/namespaces/{demand.namespace}/provisioningrequests", demand.request)
        nodes = ", ".join(f"{count} like {like}" for like, count in missing.nodes)
        log.info("asked for nodes (%s), so that %s can start: %s", nodes, missing.group, demand.name)

    async def _annotate(self, missing: MissingNodes, demand: ProvisioningDemand) -> None:
        """Status is the part of a pod that a scheduler may write, and its metadata can be written with it."""
        patch = json.dumps({"metadata": {"annotations": demand.pod_annotations}}).encode()
        for ref in (ref for one in missing.pods for ref in one.pods):
            if self._annotated.get(ref.uid) == demand.name:
                continue
            path = f"/api/v1/namespaces/{ref.namespace}/pods/{ref.name}/status"
            await self._unless_gone(Call("PATCH", path, None, patch, _MERGE))
            self._annotated[ref.uid] = demand.name

    async def _withdraw(self, existing: Mapping[Place, Json], wanted: Mapping[Place, object]) -> None:
        now = self._clock()
        unneeded = [place for place in existing if place not in wanted]
        self._unneeded_since = {place: self._unneeded_since.get(place, now) for place in unneeded}
        names = {name for _, name in wanted}
        self._annotated = {uid: name for uid, name in self._annotated.items() if name in names}
        for place, request in existing.items():
            failed = has_failed(request)
            is_stale = bool(failed) and now - parse_timestamp(failed) >= RETRY_SECONDS
            if is_stale or now - self._unneeded_since.get(place, now) >= GRACE_SECONDS:
                await self._delete(place, request)

    async def _delete(self, place: Place, request: Json) -> None:
        namespace, name = place
        path = f"{_REQUESTS}/namespaces/{namespace}/provisioningrequests/{name}"
        await self._unless_gone(Call("DELETE", path))
        for one in request["spec"]["podSets"]:
            template = f"/api/v1/namespaces/{namespace}/podtemplates/{one['podTemplateRef']['name']}"
            await self._unless_gone(Call("DELETE", template))
        log.info("withdrew the request for nodes %s/%s", namespace, name)

    async def _get(self, path: str) -> Json:
        found: Json = json.loads(await self._connection.ask(Call("GET", path)))
        return found

    async def _create(self, path: str, obj: Json) -> None:
        try:
            await self._connection.ask(Call("POST", path, None, json.dumps(obj).encode()))
        except ApiError as error:
            if error.code != CONFLICT:
                raise

    async def _unless_gone(self, call: Call) -> None:
        try:
            await self._connection.ask(call)
        except ApiError as error:
            if error.code != NOT_FOUND:
                raise
