"""Write deploy/ anew: the Kustomize base and the Helm chart, from what `posse install` prints.

Options of `posse install` are values of the chart. It has no Namespace, because Helm creates that.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from posse.cli.manifest_text import manifest_text
from posse.installation.bundle import groups, what_runs
from posse.installation.monitoring import monitoring
from posse.installation.namespace import quota
from posse.installation.options import (
    DEFAULT_IMAGE,
    DEFAULT_SCHEDULER_NAME,
    NAME,
    SYSTEM_NAMESPACE,
    InstallOptions,
)
from posse.kinds.machinery.kind import Json
from posse.version import VERSION

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
_ORIGIN = "# Written by `make deploy` from what `posse install` prints; change that instead.\n"
_KUSTOMIZE_VERSION = "kustomize.config.k8s.io"
_IN_CHART = InstallOptions(
    image="{{ .Values.image }}",
    namespace="{{ .Release.Namespace }}",
    scheduler_name="{{ .Values.schedulerName }}",
)
_ELSEWHERE = f'ne .Release.Namespace "{SYSTEM_NAMESPACE}"'
_CLUSTER_WIDE_NAME = f"{NAME}{{{{ if {_ELSEWHERE} }}}}:{{{{ .Release.Namespace }}}}{{{{ end }}}}"


def deploy_files() -> dict[str, str]:
    """The text of every file, by its path in deploy/."""
    return {f"kustomize/{path}": text for path, text in _kustomize().items()} | {
        f"chart/{path}": text for path, text in _chart().items()
    }


def _kustomize() -> Mapping[str, str]:
    options = InstallOptions()
    return {
        "base/kustomization.yaml": _kustomization("Kustomization", "v1beta1", "scheduler.yaml"),
        "base/scheduler.yaml": _ORIGIN + manifest_text(what_runs(options)),
        "crd/kustomization.yaml": _kustomization("Kustomization", "v1beta1", "groups.yaml", "../base"),
        "crd/groups.yaml": _ORIGIN + manifest_text(groups()),
        "monitoring/kustomization.yaml": _kustomization("Component", "v1alpha1", "monitoring.yaml"),
        "monitoring/monitoring.yaml": _ORIGIN + manifest_text(monitoring(options)),
    }


def _kustomization(kind: str, version: str, *resources: str) -> str:
    api_version = f"{_KUSTOMIZE_VERSION}/{version}"
    return _ORIGIN + manifest_text([{"apiVersion": api_version, "kind": kind, "resources": list(resources)}])


def _chart() -> Mapping[str, str]:
    running = [obj for obj in what_runs(_IN_CHART) if obj["kind"] not in {"Namespace", "ResourceQuota"}]
    return {
        "Chart.yaml": _ORIGIN + manifest_text([_chart_description()]),
        "values.yaml": _values(),
        "templates/groups.yaml": _when('eq .Values.form "crd"', [_kept(obj) for obj in groups()]),
        "templates/scheduler.yaml": _ORIGIN
        + manifest_text(running).replace(_IN_CHART.in_the_cluster(NAME), _CLUSTER_WIDE_NAME),
        "templates/critical-pods.yaml": _when(_ELSEWHERE, [quota(_IN_CHART)]),
        "templates/monitoring.yaml": _when(".Values.monitoring", monitoring(_IN_CHART)),
    }


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

# A ServiceMonitor, for clusters with the Prometheus operator.
monitoring: false
"""


def _when(condition: str, objects: list[Json]) -> str:
    return f"{_ORIGIN}{{{{- if {condition} }}}}\n{manifest_text(objects)}{{{{- end }}}}\n"


def _kept(obj: Json) -> Json:
    """Whoever removes the chart keeps the groups: with a definition all objects of its kind would go."""
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
