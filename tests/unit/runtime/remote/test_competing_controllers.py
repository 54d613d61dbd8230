"""Whether another controller controls JobSets or LeaderWorkerSets, as the objects of a cluster show."""

import asyncio

import pytest
from aiohttp import web

from posse.client import repeating
from posse.kinds.registry import JOB_SET, LEADER_WORKER_SET
from posse.runtime.remote.competing_controllers import find_rival
from tests.support.scripted_server import ScriptedServer, connected


def answering(mutating=(), validating=(), deployments=()):
    found = {
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": mutating,
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": validating,
    }
    for item in deployments:
        path = f"/apis/apps/v1/namespaces/{item['metadata']['namespace']}/deployments"
        found[path] = [*found.get(path, ()), item]

    async def answer(request):
        wanted = request.query["fieldSelector"].removeprefix("metadata.name=")
        items = [item for item in found.get(request.path, ()) if item["metadata"]["name"] == wanted]
        return web.json_response({"items": items})

    return answer


def rival(kind, *answers):
    async def main():
        async with connected(ScriptedServer(*answers)) as connection:
            return await find_rival(connection, kind)

    return asyncio.run(main())


def named(*names):
    return [{"metadata": {"name": name}} for name in names]


@pytest.mark.parametrize(("kind", "project"), [(JOB_SET, "jobset"), (LEADER_WORKER_SET, "lws")])
def test_the_webhooks_of_a_project_are_those_of_its_controller(kind, project):
    mutating, validating = (f"{project}-{what}-webhook-configuration" for what in ("mutating", "validating"))
    assert rival(kind, answering(mutating=named(mutating))) == f"MutatingWebhookConfiguration {mutating}"
    assert (
        rival(kind, answering(validating=named(validating))) == f"ValidatingWebhookConfiguration {validating}"
    )


def test_others_may_have_webhooks_about_the_kind():
    rule = {"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"]}
    queueing = named("kueue-mutating-webhook-configuration", "lws-mutating-webhook-configuration")
    theirs = [configuration | {"webhooks": [{"rules": [rule]}]} for configuration in queueing]
    assert rival(JOB_SET, answering(mutating=theirs, validating=theirs)) == ""


@pytest.mark.parametrize("namespace", ["lws-system", "kube-system"])
def test_a_deployment_of_the_name_is_their_controller(namespace):
    names = ("coredns", "lws-controller-manager")
    there = [{"metadata": {"name": name, "namespace": namespace}} for name in names]
    found = rival(LEADER_WORKER_SET, answering(deployments=there))
    assert found == f"Deployment {namespace}/lws-controller-manager"
    assert rival(JOB_SET, answering(deployments=there)) == ""


def test_a_deployment_of_a_tenant_switches_nothing_off():
    """Anybody who has a namespace can give a Deployment that name."""
    there = [{"metadata": {"name": "jobset-controller-manager", "namespace": "tenant"}}]
    assert rival(JOB_SET, answering(deployments=there)) == ""


def test_a_page_of_somebody_before_the_server_is_no_answer(monkeypatch):
    monkeypatch.setattr(repeating, "FIRST_PAUSE_SECONDS", 0.0001)
    page = web.Response(text="<html>maintenance</html>")
    there = answering(mutating=named("jobset-mutating-webhook-configuration"))
    assert rival(JOB_SET, page, there) == "MutatingWebhookConfiguration jobset-mutating-webhook-configuration"
