"""Whether somebody else controls JobSets or LeaderWorkerSets, as the objects of a cluster show."""

import asyncio

import pytest
from aiohttp import web

from posse.kinds.registry import JOB_SET, LEADER_WORKER_SET
from posse.runtime.rivals import find_rival
from tests.scripted_server import ScriptedServer, connected


def webhook(group, resource):
    rule = {"apiGroups": [group], "resources": [resource]}
    return {"metadata": {"name": "theirs"}, "webhooks": [{"rules": [rule]}, {}]}


def rival(kind, mutating=(), validating=(), deployments=()):
    found = {
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": mutating,
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": validating,
        "/apis/apps/v1/deployments": deployments,
    }

    async def answer(request):
        wanted = request.query.get("fieldSelector", "=").partition("=")[2]
        items = [item for item in found[request.path] if wanted in ("", item["metadata"]["name"])]
        return web.json_response({"items": items})

    async def main():
        async with connected(ScriptedServer(answer)) as connection:
            return await find_rival(connection, kind)

    return asyncio.run(main())


@pytest.mark.parametrize("kind", [JOB_SET, LEADER_WORKER_SET])
def test_webhooks_about_the_kind_are_those_of_its_controller(kind):
    theirs = webhook(kind.group, kind.plural)
    assert rival(kind, mutating=[theirs]) == "MutatingWebhookConfiguration theirs"
    assert rival(kind, validating=[theirs]) == "ValidatingWebhookConfiguration theirs"


def test_webhooks_about_others_are_not():
    others = [
        webhook("batch", "jobs"),
        webhook("jobset.x-k8s.io", "somethings"),
        {"metadata": {"name": "none"}},
    ]
    assert rival(JOB_SET, mutating=others, validating=others) == ""


def test_a_deployment_of_the_name_is_their_controller():
    named = [{"metadata": {"name": name, "namespace": "s"}} for name in ("coredns", "lws-controller-manager")]
    assert rival(LEADER_WORKER_SET, deployments=named) == "Deployment s/lws-controller-manager"
    assert rival(JOB_SET, deployments=named) == ""
