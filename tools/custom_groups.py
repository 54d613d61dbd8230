"""Serves the custom resources of Posse as groups of scheduling.k8s.io, on a Kubernetes without those.

A proxy on loopback for the conformance scenarios: requests for scheduling.k8s.io go to scheduling.posse.dev,
and pods that name a group in their spec get a label. Responses are not changed.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, TCPConnector, web

from posse.client.cluster_access import ClusterAccess
from posse.client.credentials import find_credentials

SHOWN, KEPT = "scheduling.k8s.io/v1beta1", "scheduling.posse.dev/v1alpha1"
GROUP_LABEL = "scheduling.posse.dev/pod-group"
# The classes of priority are in the same API group, and every Kubernetes has them.
_DISCOVERED = {"kind": "APIGroup", "versions": [{"version": "v1"}, {"version": "v1beta1"}]}


class Proxy:
    def __init__(self, access: ClusterAccess, session: ClientSession) -> None:
        self._access = access
        self._session = session

    async def answer(self, request: web.Request) -> web.Response:
        if request.path == "/apis/scheduling.k8s.io":
            return web.json_response(_DISCOVERED)
        body = await request.read()
        path = request.path_qs.replace(f"/apis/{SHOWN}", f"/apis/{KEPT}", 1)
        headers = {"Authorization": self._access.authorization}
        if body:
            headers["Content-Type"] = request.content_type
        async with self._session.request(
            request.method,
            self._access.server + path,
            data=json.dumps(kept(json.loads(body))) if body else None,
            headers=headers,
        ) as answer:
            return web.Response(
                status=answer.status, body=await answer.read(), content_type=answer.content_type
            )


def kept(obj: dict[str, Any]) -> dict[str, Any]:
    """Return an object as it is kept in a cluster without native groups."""
    if obj.get("apiVersion") == SHOWN:
        return obj | {"apiVersion": KEPT}
    spec = obj.get("spec")
    if obj.get("kind") != "Pod" or not spec or "schedulingGroup" not in spec:
        return obj
    own = {key: value for key, value in spec.items() if key != "schedulingGroup"}
    labels = obj["metadata"].get("labels", {}) | {GROUP_LABEL: spec["schedulingGroup"]["podGroupName"]}
    return obj | {"spec": own, "metadata": obj["metadata"] | {"labels": labels}}


async def serve(kubeconfig: Path, port: int) -> None:
    access = await find_credentials(kubeconfig, None).load()
    async with ClientSession(connector=TCPConnector(ssl=access.tls or True)) as session:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", Proxy(access, session).answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2])))
