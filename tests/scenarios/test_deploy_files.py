"""deploy/ in step with `posse install`: the files are the ones that would be written now, and mean the same objects.

There is no Helm here; of its templates the chart uses so little that a few lines of this test can stand in for it.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from posse.installation.bundle import objects
from posse.installation.options import InstallOptions
from posse.kinds.discovered import ClusterForm
from tools.deploy_files import chart_defaults

ROOT = Path(__file__).parents[2]
KUSTOMIZE = ROOT / "deploy" / "kustomize"
CHART = ROOT / "deploy" / "chart"


def texts(folder):
    return {path.relative_to(folder): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_the_files_are_those_that_would_be_written_now(tmp_path):
    command = [sys.executable, "-m", "tools.deploy_files", str(tmp_path / "deploy")]
    subprocess.run(command, cwd=ROOT, check=True)
    assert texts(ROOT / "deploy") == texts(tmp_path / "deploy"), "make deploy writes them again"


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
        (["crd", "page"], InstallOptions(page=True)),
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
        text = "\n".join(rendered_lines(template.read_text().splitlines(), known))
        assert "{{" not in text, template
        found += filter(None, yaml.safe_load_all(text))
    return found


BLOCK = re.compile(r"\s*\{\{- (if|range|else|end) ?(.*?) ?\}\}")


def rendered_lines(lines, known):
    """Blocks are lines of their own: if, else, and range over a mapping."""
    rest = list(lines)
    while rest:
        line = rest.pop(0)
        block = BLOCK.fullmatch(line)
        if block is None:
            yield expanded(line, known)
            continue
        inner, other = taken_block(rest)
        word, condition = block.groups()
        if word == "if":
            yield from rendered_lines(inner if holds(condition, known) else other, known)
        else:
            for name, value in known[condition.rpartition(" ")[2]].items():
                yield from rendered_lines(inner, known | {"$name": name, "$on": str(value).lower()})


def taken_block(rest):
    """Take the lines up to the end of the block: those before its else, and those behind it."""
    parts, depth = [[], []], 0
    while True:
        line = rest.pop(0)
        block = BLOCK.fullmatch(line)
        word = block.group(1) if block else ""
        if word == "end" and depth == 0:
            return parts[0], parts[-1] if len(parts) == 3 else []
        depth += (word in {"if", "range"}) - (word == "end")
        if word == "else" and depth == 0:
            parts = [parts[0], [], []]
        else:
            parts[-1 if len(parts) == 3 else 0].append(line)


def expanded(line, known):
    line = re.sub(
        r"\{\{ if (.*?) \}\}(.*?)\{\{ end \}\}",
        lambda part: part.group(2) if holds(part.group(1), known) else "",
        line,
    )
    line = re.sub(r"\{\{ toJson (\S+) \}\}", lambda place: json.dumps(known[place.group(1)]), line)
    return re.sub(r"\{\{ (\S+) \}\}", lambda place: str(known[place.group(1)]), line)


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
@pytest.mark.parametrize(("monitoring", "page"), [(False, False), (True, True)])
@pytest.mark.parametrize("namespace", ["kube-system", "batch"])
def test_the_chart_renders_what_is_installed(form, monitoring, page, namespace):
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    chosen = {
        "form": form.value,
        "image": "registry.example/posse:7",
        "schedulerName": "gangs",
        "monitoring": monitoring,
        "page": page,
    }
    options = InstallOptions(form, chosen["image"], namespace, chosen["schedulerName"], monitoring, page=page)
    found = [without_policy_of_helm(obj) for obj in rendered(values | chosen, namespace)]
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
        "page": options.page,
        "profiles": [],
        "featureGates": {},
        **chart_defaults(),
    }


def test_values_of_the_chart_reach_the_deployment_and_the_configuration():
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    profiles = [{"schedulerName": "a"}, {"schedulerName": "b", "plugins": {}}]
    tolerations = [{"key": "x", "operator": "Exists"}]
    chosen = {"replicas": 3, "tolerations": tolerations, "nodeSelector": {"pool": "system"}, "resources": {}}
    chosen |= {"priorityClassName": "", "profiles": profiles, "featureGates": {"GangScheduling": False}}
    objects_by_kind = {obj["kind"]: obj for obj in rendered(values | chosen, "batch")}
    deployment = objects_by_kind["Deployment"]["spec"]
    pod = deployment["template"]["spec"]
    (container,) = pod["containers"]
    found = (deployment["replicas"], pod["tolerations"], pod["nodeSelector"], pod["priorityClassName"])
    assert found == (3, tolerations, {"pool": "system"}, "")
    assert container["resources"] == {}
    assert container["args"][-1] == "--feature-gates=GangScheduling=false"
    settings = yaml.safe_load(objects_by_kind["ConfigMap"]["data"]["scheduler.yaml"])
    assert settings["profiles"] == profiles
    assert settings["leaderElection"]["resourceNamespace"] == "batch"
