"""Helm and kubectl against the cluster: a chart installed, changed, rolled back and removed; everyday kubectl."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests.clients.outcome import ran

CHART = Path(__file__).parent / "chart"
WAITING = ("--wait", "--timeout", "120s")
MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: '1'}\n"


def use_helm(program: Path, environment: Mapping[str, str], home: Path) -> None:
    home.mkdir()
    environment = {
        **environment,
        "HOME": str(home),
        "HELM_CACHE_HOME": str(home),
        "HELM_DATA_HOME": str(home),
    }
    name = program.name

    def helm(*words: str) -> str:
        return ran([program, *words, "--namespace", name], environment)

    def colours() -> str:
        command = [
            "kubectl",
            "get",
            "configmap",
            "trial-settings",
            "-n",
            name,
            "-o",
            "jsonpath={.data.colour}",
        ]
        return ran(command, environment)

    helm("install", "trial", str(CHART), "--create-namespace", *WAITING)
    assert colours() == "red"
    helm("upgrade", "trial", str(CHART), "--set", "colour=blue", "--set", "servers=3", *WAITING)
    assert colours() == "blue"
    helm("rollback", "trial", "1", *WAITING)
    assert colours() == "red"
    [release] = json.loads(helm("list", "-o", "json"))
    assert (release["revision"], release["status"]) == ("3", "deployed")
    helm("uninstall", "trial", *WAITING)
    assert ran(["kubectl", "get", "jobs,services,deployments", "-n", name, "-o", "name"], environment) == ""


def use_kubectl(program: Path, environment: Mapping[str, str], home: Path) -> None:
    home.mkdir()
    manifest = home / "settings.yaml"
    manifest.write_text(MANIFEST)
    environment = {**environment, "HOME": str(home)}

    namespace = f"{home.name}-client"

    def kubectl(words: str) -> str:
        return ran([program, *words.split(), "-n", namespace], environment)

    kubectl(f"create namespace {namespace}")
    kubectl("run a --image=app:1")
    kubectl("create service clusterip web --tcp=80")
    kubectl(f"apply -f {manifest}")
    kubectl(f"apply --server-side -f {manifest}")
    kubectl("label pod a x=y")
    assert kubectl("get pods -l x=y -o name") == "pod/a\n"
    kubectl("wait --for=condition=PodScheduled pod/a --timeout=60s")
    assert "ConfigMap" in kubectl("explain configmap")
    kubectl(f"delete namespace {namespace} --wait=false")
