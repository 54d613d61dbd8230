"""The chart as Helm itself renders it: what `posse install` prints, and valid with every value changed."""

import subprocess
from pathlib import Path

import pytest
import yaml

from posse.installation.bundle import objects
from posse.installation.options import InstallOptions
from posse.kinds.discovered import ClusterForm

pytestmark = pytest.mark.helm

CHART = Path(__file__).parents[2] / "deploy" / "chart"


def helm(*words):
    done = subprocess.run(["helm", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def by_name(found):
    return {(obj["kind"], obj["metadata"]["name"]): obj for obj in found if obj["kind"] != "Namespace"}


def rendered(namespace, *settings):
    words = [word for setting in settings for word in ("--set-json", setting)]
    # A helm that was built by hand takes Kubernetes to be 1.20, which the chart refuses.
    cluster = ("--kube-version", "1.37.0", "--api-versions", "x")
    text = helm("template", "posse", str(CHART), "--namespace", namespace, *cluster, *words)
    found = [obj for obj in yaml.safe_load_all(text) if obj]
    for obj in found:
        if obj["kind"] == "CustomResourceDefinition":
            assert obj["metadata"].pop("annotations") == {"helm.sh/resource-policy": "keep"}
    return by_name(found)


@pytest.mark.parametrize("namespace", ["kube-system", "batch"])
@pytest.mark.parametrize("form", list(ClusterForm))
def test_the_chart_is_what_is_installed(namespace, form):
    options = InstallOptions(form=form, namespace=namespace, monitoring=True, page=True)
    assert rendered(namespace, f'form="{form.value}"', "monitoring=true", "page=true") == by_name(
        objects(options)
    )


def test_values_reach_their_places():
    found = rendered(
        "batch",
        "replicas=3",
        'profiles=[{"schedulerName":"a"},{"schedulerName":"b"}]',
        'featureGates={"GangScheduling":false,"WorkloadAwarePreemption":false}',
        'tolerations=[{"operator":"Exists"}]',
    )
    deployment = found["Deployment", "posse"]["spec"]
    assert deployment["replicas"] == 3
    pod = deployment["template"]["spec"]
    assert pod["tolerations"] == [{"operator": "Exists"}]
    assert pod["containers"][0]["args"][-2:] == [
        "--feature-gates=GangScheduling=false",
        "--feature-gates=WorkloadAwarePreemption=false",
    ]
    settings = yaml.safe_load(found["ConfigMap", "posse"]["data"]["scheduler.yaml"])
    assert [profile["schedulerName"] for profile in settings["profiles"]] == ["a", "b"]


def test_helm_finds_nothing_wrong_with_the_chart():
    assert "0 chart(s) failed" in helm("lint", str(CHART))
