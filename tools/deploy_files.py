"""Write deploy/ again: the Kustomize base and the Helm chart, from what `posse install` prints; and monitoring.

Options of `posse install` are values of the chart. It has no Namespace, because Helm creates that.
"""

import re
import shutil
import sys
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from posse.cli.manifest_text import manifest_text
from posse.installation.bundle import groups, what_runs
from posse.installation.monitoring import monitoring
from posse.installation.namespace import quota
from posse.installation.options import (
    DEFAULT_IMAGE,
    DEFAULT_SCHEDULER_NAME,
    SYSTEM_NAMESPACE,
    InstallOptions,
)
from posse.installation.page import page
from posse.kinds.machinery.kind import Json
from posse.version import VERSION
from tools.monitoring_files import monitoring_files

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
_ORIGIN = "# Written by `make deploy` from what `posse install` prints; change that instead.\n"
_KUSTOMIZE_VERSION = "kustomize.config.k8s.io"
_IN_CHART = InstallOptions(
    image="{{ .Values.image }}",
    namespace="{{ .Release.Namespace }}",
    scheduler_name="{{ .Values.schedulerName }}",
)
_ELSEWHERE = f'ne .Release.Namespace "{SYSTEM_NAMESPACE}"'
_CLUSTER_WIDE = re.compile(r"^(.*name: [a-z-]+)(:{{ .Release.Namespace }})$", re.MULTILINE)


class ChartValue(NamedTuple):
    """A setting that the chart has beside those of `posse install`, and where it stands in the Deployment."""

    name: str
    path: tuple[str | int, ...]
    comment: str

    @property
    def mark(self) -> str:
        return f"VALUE-{self.name}"


_POD = ("spec", "template", "spec")
CHART_VALUES = (
    ChartValue("replicas", ("spec", "replicas"), "One of them leads; the others take over."),
    ChartValue(
        "resources", (*_POD, "containers", 0, "resources"), "See docs/guides/sizing.md for larger clusters."
    ),
    ChartValue("tolerations", (*_POD, "tolerations"), "Taints of nodes that its pods may go to."),
    ChartValue("nodeSelector", (*_POD, "nodeSelector"), "Labels of nodes that its pods may go to."),
    ChartValue("priorityClassName", (*_POD, "priorityClassName"), "The class of its own pods."),
)
_PROFILES_TEXT = re.compile(r"^( *)profiles:\n *- schedulerName: .*\n", re.MULTILINE)
_ARGUMENT = re.compile(r"^( *)- --log-format=json\n", re.MULTILINE)
_BY_HELM = frozenset({"Namespace", "ResourceQuota"})


def deploy_files() -> dict[str, str]:
    """The text of every file, by its path in deploy/."""
    return (
        {f"kustomize/{path}": text for path, text in _kustomize().items()}
        | {f"chart/{path}": text for path, text in _chart().items()}
        | {f"monitoring/{path}": text for path, text in monitoring_files().items()}
    )


def _kustomize() -> Mapping[str, str]:
    options = InstallOptions()
    return {
        "base/kustomization.yaml": _kustomization("Kustomization", "v1beta1", "scheduler.yaml"),
        "base/scheduler.yaml": _ORIGIN + manifest_text(what_runs(options)),
        "crd/kustomization.yaml": _kustomization("Kustomization", "v1beta1", "groups.yaml", "../base"),
        "crd/groups.yaml": _ORIGIN + manifest_text(groups()),
        "page/kustomization.yaml": _kustomization("Component", "v1alpha1", "page.yaml"),
        "page/page.yaml": _ORIGIN + manifest_text(page(options)),
        "monitoring/kustomization.yaml": _kustomization("Component", "v1alpha1", "monitoring.yaml"),
        "monitoring/monitoring.yaml": _ORIGIN + manifest_text(monitoring(options)),
    }


def _kustomization(kind: str, version: str, *resources: str) -> str:
    api_version = f"{_KUSTOMIZE_VERSION}/{version}"
    return _ORIGIN + manifest_text([{"apiVersion": api_version, "kind": kind, "resources": list(resources)}])


def _chart() -> Mapping[str, str]:
    running = [_configurable(obj) for obj in what_runs(_IN_CHART) if obj["kind"] not in _BY_HELM]
    return {
        "Chart.yaml": _ORIGIN + manifest_text([_chart_description()]),
        "values.yaml": _values(),
        "templates/groups.yaml": _when('eq .Values.form "crd"', [_kept(obj) for obj in groups()]),
        "templates/scheduler.yaml": _ORIGIN + _named_by_release(_with_values(manifest_text(running))),
        "templates/critical-pods.yaml": _when(_ELSEWHERE, [quota(_IN_CHART)]),
        "templates/page.yaml": _named_by_release(_when(".Values.page", page(_IN_CHART))),
        "templates/monitoring.yaml": _when(".Values.monitoring", monitoring(_IN_CHART)),
    }


def _named_by_release(text: str) -> str:
    """Names of objects of the whole cluster hold the namespace, unless it is the usual one."""
    return _CLUSTER_WIDE.sub(rf"\g<1>{{{{ if {_ELSEWHERE} }}}}\g<2>{{{{ end }}}}", text)


def _configurable(obj: Json) -> Json:
    """The object with marks where values go."""
    if obj["kind"] != "Deployment":
        return obj
    marked = deepcopy(obj)
    for value in CHART_VALUES:
        *path, last = value.path
        place: Any = marked
        for step in path:
            place = place[step]
        place[last] = value.mark
    return marked


def _with_values(text: str) -> str:
    """Values are JSON, which is YAML on one line, wherever they stand."""
    for value in CHART_VALUES:
        text = text.replace(value.mark, f"{{{{ toJson .Values.{value.name} }}}}")
    gates = "{{- range $name, $on := .Values.featureGates }}"
    option = "--feature-gates={{ $name }}={{ $on }}"
    text = _ARGUMENT.sub(rf"\g<0>\g<1>{gates}\n\g<1>- {option}\n\g<1>{{{{- end }}}}\n", text)
    return _PROFILES_TEXT.sub(_profiles, text)


def _profiles(found: re.Match[str]) -> str:
    """The profiles that are given, or else one with the name of the scheduler."""
    indent, usual = found[1], found[0]
    given = f"{indent}profiles: {{{{ toJson .Values.profiles }}}}\n"
    return f"{indent}{{{{- if .Values.profiles }}}}\n{given}{indent}{{{{- else }}}}\n{usual}{indent}{{{{- end }}}}\n"


def chart_defaults() -> Mapping[str, Any]:
    """What `posse install` prints at the places of the values."""
    (deployment,) = (obj for obj in what_runs(InstallOptions()) if obj["kind"] == "Deployment")
    found = {}
    for value in CHART_VALUES:
        place: Any = deployment
        for step in value.path:
            place = place[step]
        found[value.name] = place
    return found


def _chart_description() -> Json:
    return {
        "apiVersion": "v2",
        "name": "posse",
        "description": "A workload-aware scheduler: pods that belong together start together or not at all.",
        "type": "application",
        "version": VERSION,
        "appVersion": VERSION,
        "kubeVersion": ">=1.28.0-0",
    }


def _values() -> str:
    return f"""\
{_ORIGIN}
# crd brings groups along as custom resources; native uses those of the cluster (Kubernetes 1.35 and newer).
form: crd

image: {DEFAULT_IMAGE}

# Pods with this schedulerName are scheduled by Posse.
schedulerName: {DEFAULT_SCHEDULER_NAME}

# The page, with an account that may only read (docs/guides/page.md).
page: false

# A ServiceMonitor, for clusters with the Prometheus operator.
monitoring: false

# Profiles of the KubeSchedulerConfiguration instead of a single one for schedulerName (docs/guides/configuration.md).
profiles: []

# Feature gates by name, as in {{GangScheduling: true}} (docs/guides/feature-gates.md).
featureGates: {{}}
{"".join(_value_text(value) for value in CHART_VALUES)}"""


def _value_text(value: ChartValue) -> str:
    default = manifest_text([{value.name: chart_defaults()[value.name]}]).removeprefix("---\n")
    return f"\n# {value.comment}\n{default}"


def _when(condition: str, objects: list[Json]) -> str:
    return f"{_ORIGIN}{{{{- if {condition} }}}}\n{manifest_text(objects)}{{{{- end }}}}\n"


def _kept(obj: Json) -> Json:
    """Removing the chart keeps the groups: with a definition all objects of its kind would go."""
    if obj["kind"] != "CustomResourceDefinition":
        return obj
    annotations = {"annotations": {"helm.sh/resource-policy": "keep"}}
    return obj | {"metadata": obj["metadata"] | annotations}


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else DEPLOY
    shutil.rmtree(target, ignore_errors=True)
    for path, text in deploy_files().items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text)


if __name__ == "__main__":
    main()
