"""Requests to autoscalers: made once, kept while nodes come, withdrawn, and made again after a failure."""

import asyncio
import json

from aiohttp import web

from posse.engine.cycle.advice import MissingNodes, MissingPods
from posse.engine.keys import GroupKey, PodRef
from posse.runtime.remote.provisioning import GRACE_SECONDS, RETRY_SECONDS, ProvisioningRequests
from tests.support.scripted_server import ScriptedServer, connected, status

POD = {"metadata": {"name": "p", "labels": {}}, "spec": {"containers": []}}
NOW = 1_000_000.0
FAILED_AT = "1970-01-12T13:46:40Z"


class Cluster:
    """Keeps requests and templates by their path."""

    def __init__(self):
        self.kept = {}
        self.patched = []

    async def answer(self, request):
        path = request.path
        match request.method:
            case "GET" if path.endswith("/provisioningrequests"):
                items = [obj for obj in self.kept.values() if obj["kind"] == "ProvisioningRequest"]
                return web.json_response({"items": items})
            case "GET":
                return web.json_response(POD)
            case "POST":
                obj = json.loads(await request.read())
                self.kept[f"{path}/{obj['metadata']['name']}"] = obj
                return web.json_response(obj)
            case "DELETE":
                return web.json_response(self.kept.pop(path))
            case _:
                self.patched.append(path)
                return web.json_response(POD)

    @property
    def kinds(self):
        return sorted(obj["kind"] for obj in self.kept.values())


def missing(count=2, nodes=1):
    refs = tuple(PodRef("team", f"p-{number}", f"uid-{number}") for number in range(3))
    return MissingNodes(GroupKey("team", "g"), (("n1", nodes),), (MissingPods(refs, count),))


def looked(cluster, *looks):
    """Look at these times with these groups in need; return what exists after each look."""
    times = iter([time for time, _ in looks])
    lacking = iter([lack for _, lack in looks])

    async def ask():
        return next(lacking)

    async def main():
        found = []
        async with connected(ScriptedServer(cluster.answer)) as connection:
            asking = ProvisioningRequests(connection, ask, lambda: next(times))
            for _ in looks:
                await asking.look()
                found.append(dict(cluster.kept))
        return found

    return asyncio.run(main())


def test_a_group_gets_one_request_while_nodes_come():
    cluster = Cluster()
    first, second = looked(cluster, (NOW, [missing(nodes=3)]), (NOW + 5, [missing(nodes=1)]))
    assert cluster.kinds == ["PodTemplate", "ProvisioningRequest"]
    assert first == second
    assert len(cluster.patched) == 3


def test_another_demand_replaces_the_request_and_an_end_withdraws_it():
    cluster = Cluster()
    before, after, later = looked(
        cluster, (NOW, [missing(2)]), (NOW + 1, [missing(3)]), (NOW + 1 + GRACE_SECONDS, [missing(3)])
    )
    assert (len(before), len(after), len(later)) == (2, 4, 2)
    assert not set(before) & set(later)
    *_, gone = looked(cluster, (NOW, []), (NOW + GRACE_SECONDS, []))
    assert gone == {}


def test_a_short_absence_withdraws_nothing():
    cluster = Cluster()
    looks = [
        (NOW, [missing()]),
        (NOW + 1, []),
        (NOW + GRACE_SECONDS, [missing()]),
        (NOW + 2 * GRACE_SECONDS, []),
    ]
    assert len(looked(cluster, *looks)[-1]) == 2


def test_an_autoscaler_that_gave_up_is_asked_again_later():
    cluster = Cluster()
    looked(cluster, (NOW, [missing()]))
    [request] = [obj for obj in cluster.kept.values() if obj["kind"] == "ProvisioningRequest"]
    failed = {"type": "Failed", "status": "True", "lastTransitionTime": FAILED_AT}
    request["status"] = {"conditions": [failed]}
    early, late, again = looked(
        cluster,
        (NOW + 1, [missing()]),
        (NOW + RETRY_SECONDS, [missing()]),
        (NOW + RETRY_SECONDS, [missing()]),
    )
    assert (len(early), len(late), len(again)) == (2, 0, 2)
    assert cluster.kinds == ["PodTemplate", "ProvisioningRequest"]


def test_where_the_api_is_not_served_nothing_is_asked_for():
    async def main():
        server = ScriptedServer(status(404, "NotFound"))
        async with connected(server) as connection:
            await ProvisioningRequests(connection, lambda: 1 / 0, lambda: NOW).look()
        return [request.method for request in server.requests]

    assert asyncio.run(main()) == ["GET"]
