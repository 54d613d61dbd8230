"""Whether quotas ration priority classes, as the objects of a cluster show."""

import asyncio

from aiohttp import web

from posse.runtime.remote.rationed_classes import rationing_quotas
from tests.support.scripted_server import ScriptedServer, connected


def quota(name, namespace="team", **spec):
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


def by_class(*names):
    return {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": list(names)}]}


def found(*pages):
    async def answer(request):
        number = int(request.query.get("continue", 0))
        token = str(number + 1) if number + 1 < len(pages) else ""
        return web.json_response({"metadata": {"continue": token}, "items": pages[number]})

    async def main():
        async with connected(ScriptedServer(*[answer] * len(pages))) as connection:
            return await rationing_quotas(connection, "posse-system")

    return asyncio.run(main())


def test_quotas_with_a_scope_of_priority_classes_are_found_in_either_spelling():
    quotas = [
        quota("plain", hard={"pods": "3"}),
        quota("selected", scopeSelector=by_class("high")),
        quota("listed", scopes=["PriorityClass"]),
        quota(
            "other", scopes=["BestEffort"], scopeSelector={"matchExpressions": [{"scopeName": "Terminating"}]}
        ),
        quota("nulls", scopes=None, scopeSelector={"matchExpressions": None}),
    ]
    assert found(quotas) == ["team/selected", "team/listed"]


def test_all_pages_are_read():
    assert found([quota("a", scopes=["PriorityClass"])], [quota("b", scopes=["PriorityClass"])]) == [
        "team/a",
        "team/b",
    ]


def test_the_quota_of_the_installation_itself_is_left_out():
    assert (
        found(
            [quota("posse-critical-pods", "posse-system", scopeSelector=by_class("system-cluster-critical"))]
        )
        == []
    )
