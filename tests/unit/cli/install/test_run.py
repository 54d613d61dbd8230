"""posse install and a cluster: asking it which form its groups have, and applying everything to it."""

import asyncio
import json

import pytest
import yaml
from aiohttp import web

from posse.apiserver.http.discovery import documents
from posse.cli.install import run as installing
from posse.cli.install.run import NoClusterError, apply_over, form_over
from posse.cli.problems import Problem
from posse.client.connection import Connection
from posse.installation.bundle import objects
from posse.installation.options import InstallOptions
from posse.installation.set_definitions import set_definitions
from posse.kinds.discovered import ClusterForm
from posse.kinds.registry import KINDS, POD, POSSE_POD_GROUP, PRIORITY_CLASS
from posse.model.feature_gates import ALL_GATES, Gate
from posse.runtime.remote.applying import path_of
from tests.support.live_server import running_server
from tests.support.scripted_server import FixedCredentials, ScriptedServer, connected, status

EVERYTHING = objects(InstallOptions(namespace="batch", monitoring=True))


def over(server, ask):
    async def main():
        async with connected(server) as connection:
            return await ask(connection)

    return asyncio.run(main())


def serving(*kinds):
    served = documents(kinds)

    async def answer(request):
        found = served.get(request.path)
        return status(404, "NotFound") if found is None else web.json_response(found)

    return ScriptedServer(answer)


@pytest.mark.parametrize(
    ("kinds", "form"),
    [
        (KINDS, ClusterForm.NATIVE),
        ((POD, PRIORITY_CLASS), ClusterForm.CRD),
        ((POD, PRIORITY_CLASS, POSSE_POD_GROUP), ClusterForm.CRD),
    ],
)
def test_the_form_is_what_the_cluster_serves(kinds, form):
    assert over(serving(*kinds), form_over) is form


def test_a_cluster_that_does_not_let_us_ask_is_none():
    with pytest.raises(NoClusterError, match="not you"):
        over(ScriptedServer(status(403, "Forbidden", "not you")), form_over)


def test_a_cluster_that_does_not_answer_is_none(monkeypatch):
    monkeypatch.setattr(installing, "ANSWER_SECONDS", 0.1)

    async def silence(_request):
        await asyncio.sleep(60)

    with pytest.raises(NoClusterError, match=r"no answer from http://127\.0\.0\.1:\d+ within"):
        over(ScriptedServer(silence), form_over)


def test_a_cluster_that_is_not_there_is_told_by_its_address(monkeypatch):
    monkeypatch.setattr(installing, "ANSWER_SECONDS", 0.3)

    async def main():
        connection = Connection(FixedCredentials("http://127.0.0.1:9"))
        await connection.open()
        try:
            await form_over(connection)
        finally:
            await connection.close()

    with pytest.raises(NoClusterError, match=r"cannot talk to http://127\.0\.0\.1:9"):
        asyncio.run(main())


def test_everything_is_applied_by_the_server_in_order():
    server, told = ScriptedServer(web.json_response({})), []
    over(server, lambda connection: apply_over(connection, EVERYTHING, told.append))
    assert [json.loads(body) for body in server.bodies] == EVERYTHING
    assert {request.method for request in server.requests} == {"PATCH"}
    assert {request.content_type for request in server.requests} == {"application/apply-patch+yaml"}
    assert {request.query["force"] for request in server.requests} == {"true"}
    assert told[0] == "customresourcedefinition/workloads.scheduling.posse.dev applied"
    assert len(told) == len(EVERYTHING)


@pytest.mark.parametrize(
    ("found", "is_applied"),
    [
        (status(404, "NotFound"), True),
        (web.json_response({"metadata": {"labels": {"app.kubernetes.io/name": "posse"}}}), True),
        (web.json_response({"metadata": {}}), False),
    ],
)
def test_a_definition_of_others_is_left_as_it_is(found, is_applied):
    server, told = ScriptedServer(found, web.json_response({})), []
    definitions = set_definitions(["jobsets"])
    over(server, lambda connection: apply_over(connection, definitions, told.append))
    assert [request.method for request in server.requests] == (["GET", "PATCH"] if is_applied else ["GET"])
    assert told[0].endswith("applied" if is_applied else "was installed by others; unchanged")


@pytest.mark.parametrize("answer", [status(403, "Forbidden", "you may not"), web.Response(text="<html>")])
def test_a_definition_that_cannot_be_looked_at_is_named(answer):
    with pytest.raises(Problem, match=r"customresourcedefinition/jobsets"):
        over(
            ScriptedServer(answer),
            lambda connection: apply_over(connection, set_definitions(["jobsets"]), print),
        )


def test_a_refusal_ends_it_and_says_of_what():
    server = ScriptedServer(web.json_response({}), status(403, "Forbidden", "you may not"))
    told = []
    with pytest.raises(Problem, match=r"customresourcedefinition/podgroups.* you may not"):
        over(server, lambda connection: apply_over(connection, EVERYTHING, told.append))
    assert len(told) == 1


def test_a_kind_that_the_cluster_lacks_is_named():
    with pytest.raises(Problem, match=r"the cluster has no ServiceMonitor of monitoring\.coreos"):
        over(
            ScriptedServer(status(404, "NotFound", "could not find the requested resource")),
            lambda connection: apply_over(connection, EVERYTHING[-1:], print),
        )


def test_paths_are_those_of_the_kinds():
    paths = {obj["kind"]: path_of(obj) for obj in EVERYTHING}
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    assert paths == {
        "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
        "compositepodgroups.scheduling.posse.dev",
        "Namespace": "/api/v1/namespaces/batch",
        "ResourceQuota": "/api/v1/namespaces/batch/resourcequotas/posse-critical-pods",
        "ServiceAccount": "/api/v1/namespaces/batch/serviceaccounts/posse",
        "ClusterRole": f"{rbac}/clusterroles/posse:batch",
        "ClusterRoleBinding": f"{rbac}/clusterrolebindings/posse:batch",
        "Role": f"{rbac}/namespaces/batch/roles/posse",
        "RoleBinding": f"{rbac}/namespaces/batch/rolebindings/posse",
        "ConfigMap": "/api/v1/namespaces/batch/configmaps/posse",
        "NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/batch/networkpolicies/posse",
        "Deployment": "/apis/apps/v1/namespaces/batch/deployments/posse",
        "PodDisruptionBudget": "/apis/policy/v1/namespaces/batch/poddisruptionbudgets/posse",
        "Service": "/api/v1/namespaces/batch/services/posse",
        "ServiceMonitor": "/apis/monitoring.coreos.com/v1/namespaces/batch/servicemonitors/posse",
    }


@pytest.mark.parametrize(
    ("gates", "told", "is_native"),
    [
        (ALL_GATES, "the cluster serves PodGroups of scheduling.k8s.io; using --form native", True),
        (frozenset(), "the cluster does not serve PodGroups of scheduling.k8s.io; using --form crd", False),
    ],
)
def test_what_was_found_out_is_said_beside_the_manifests(posse, tmp_path, gates, told, is_native):
    assert Gate.GENERIC_WORKLOAD not in gates or is_native
    with running_server(tmp_path, gates) as server:
        done = posse("install", "--kubeconfig", server.kubeconfig)
    assert done.code == 0
    assert told in done.err
    assert ("CustomResourceDefinition" not in done.out) == is_native


def test_the_cluster_is_that_of_the_context(posse, tmp_path):
    with running_server(tmp_path) as server:
        config = yaml.safe_load(server.kubeconfig.read_text())
        (known,) = config["contexts"]
        nowhere = {"name": "nowhere", "cluster": {"server": "http://127.0.0.1:9"}}
        config["clusters"].append(nowhere)
        config["contexts"].append({"name": "other", "context": known["context"] | {"cluster": "nowhere"}})
        config["current-context"] = "other"
        server.kubeconfig.write_text(yaml.safe_dump(config))
        named = ("--kubeconfig", server.kubeconfig, "--context", known["name"])
        assert "using --form native" in posse("install", *named).err
        unknown = posse("install", "--kubeconfig", server.kubeconfig, "--context", "nobody")
    assert unknown.code == 1
    assert "nobody" in unknown.err


def test_a_form_that_the_cluster_lacks_is_warned_of_before_it_is_applied(posse, tmp_path):
    with running_server(tmp_path, frozenset()) as server:
        done = posse("install", "--form", "native", "--apply", "--kubeconfig", server.kubeconfig)
    assert "Warning: the cluster does not serve PodGroups" in done.err


def test_without_a_cluster_it_prints_what_works_everywhere(posse, monkeypatch, tmp_path):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    done = posse("install")
    assert done.code == 0
    assert "no cluster reachable" in done.err
    assert "kind: CustomResourceDefinition" in done.out


@pytest.mark.parametrize("words", [["--apply"], ["--kubeconfig", "nowhere"], ["--apply", "--form", "crd"]])
def test_whoever_names_a_cluster_or_changes_one_must_have_one(posse, monkeypatch, tmp_path, words):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    done = posse("install", *words)
    assert done.code == 1
    assert "no such file" in done.err
    assert done.out == ""
