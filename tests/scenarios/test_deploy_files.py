"""deploy/ in step with `posse install`: the files are the ones that would be written now, and mean the same objects.

There is no Helm here; of its templates the chart uses so little that a few lines of this test can stand in for it.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from posse.installation.bundle import objects
from posse.installation.options import InstallOptions
from posse.kinds.discovered import ClusterForm

ROOT = Path(__file__).parents[2]
KUSTOMIZE = ROOT / "deploy" / "kustomize"
CHART = ROOT / "deploy" / "chart"


def texts(folder):
    return {path.relative_to(folder): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_the_files_are_those_that_would_be_written_now(tmp_path):
    command = [sys.executable, "-m", "tools.deploy_files", str(tmp_path / "deploy")]
    subprocess.run(command, cwd=ROOT, check=True)
    assert texts(ROOT / "deploy") == texts(tmp_path / "deploy"), "make deploy writes them anew"


def kustomized(folder):
    """The resources of a kustomization, followed as kustomize follows them."""
    found = []
    for name in yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]:
        path = folder / name
        found += kustomized(path) if path.is_dir() else yaml.safe_load_all(path.read_text())
    return found


def identity(obj):
    return obj["kind"], obj["metadata"]["name"]


def in_one_order(items):
    return sorted(items, key=identity)


@pytest.mark.parametrize(
    ("folders", "options"),
    [
        (["base"], InstallOptions(form=ClusterForm.NATIVE)),
        (["crd"], InstallOptions()),
        (["crd", "monitoring"], InstallOptions(monitoring=True)),
    ],
)
def test_kustomizations_are_what_is_installed(folders, options):
    found = [obj for folder in folders for obj in kustomized(KUSTOMIZE / folder)]
    assert in_one_order(found) == in_one_order(objects(options))


def rendered(values, namespace):
    """The objects of the chart for these values."""
    known = {f".Values.{name}": value for name, value in values.items()} | {".Release.Namespace": namespace}
    found = []
    for template in sorted((CHART / "templates").iterdir()):
        text = template.read_text()
        condition = re.search(r"^\{\{- if (.*) \}\}$", text, re.MULTILINE)
        if condition and not holds(condition.group(1), known):
            continue
        text = re.sub(r"^\{\{- (if .*|end) \}\}$", "", text, flags=re.MULTILINE)
        text = re.sub(
            r"\{\{ if (.*?) \}\}(.*?)\{\{ end \}\}",
            lambda part: part.group(2) if holds(part.group(1), known) else "",
            text,
        )
        text = re.sub(r"\{\{ (\S+) \}\}", lambda place: str(known[place.group(1)]), text)
        assert "{{" not in text, template
        found += yaml.safe_load_all(text)
    return found


def holds(condition, known):
    words = condition.split()
    if words[0] in {"eq", "ne"}:
        return (known[words[1]] == words[2].strip('"')) == (words[0] == "eq")
    (name,) = words
    return bool(known[name])


def without_policy_of_helm(obj):
    metadata = dict(obj["metadata"])
    if obj["kind"] == "CustomResourceDefinition":
        assert metadata.pop("annotations") == {"helm.sh/resource-policy": "keep"}
    return obj | {"metadata": metadata}


@pytest.mark.parametrize("form", list(ClusterForm))
@pytest.mark.parametrize("monitoring", [False, True])
@pytest.mark.parametrize("namespace", ["kube-system", "batch"])
def test_the_chart_renders_what_is_installed(form, monitoring, namespace):
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    chosen = {
        "form": form.value,
        "image": "registry.example/posse:7",
        "schedulerName": "gangs",
        "monitoring": monitoring,
    }
    assert set(values) == set(chosen)
    options = InstallOptions(form, chosen["image"], namespace, chosen["schedulerName"], monitoring)
    found = [without_policy_of_helm(obj) for obj in rendered(chosen, namespace)]
    wanted = [obj for obj in objects(options) if obj["kind"] != "Namespace"]
    assert in_one_order(found) == in_one_order(wanted)


def test_the_values_of_the_chart_are_the_defaults_of_the_command():
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    options = InstallOptions()
    assert values == {
        "form": options.form.value,
        "image": options.image,
        "schedulerName": options.scheduler_name,
        "monitoring": options.monitoring,
    }
