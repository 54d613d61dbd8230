"""The objects that run a program: Deployment of two replicas, PodDisruptionBudget, ConfigMap of both.

Pods run as the strictest of the Pod Security Standards asks for, so any namespace can enforce it.
"""

from posse.installation.namespace import CRITICAL
from posse.installation.objects import named
from posse.installation.options import NAME, InstallOptions
from posse.installation.permissions import LEASE
from posse.installation.programs import InstalledProgram
from posse.kinds.machinery.kind import Json

PORT = 10259
PORT_NAME = "https"
CONFIGURATION_FILE = "scheduler.yaml"

_REPLICAS = 2
_NOBODY = 65532
_TEMPORARY_SIZE, _DISK_SIZE = "64Mi", "512Mi"
"""For files that are left behind for a moment; for these and the log together."""
_CONFIGURATION_DIRECTORY = "/etc/posse"
CONFIGURED = f"--config={_CONFIGURATION_DIRECTORY}/{CONFIGURATION_FILE}"
"""The argument of a program that reads the ConfigMap."""


def running(options: InstallOptions, program: InstalledProgram) -> list[Json]:
    return [_deployment(options, program), _disruption_budget(options, program)]


def configuration(options: InstallOptions) -> Json:
    text = f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  resourceName: {LEASE}
  resourceNamespace: {options.namespace}
profiles:
  - schedulerName: {options.scheduler_name}
"""
    return named("v1", "ConfigMap", NAME, options.namespace) | {"data": {CONFIGURATION_FILE: text}}


def _deployment(options: InstallOptions, program: InstalledProgram) -> Json:
    return named("apps/v1", "Deployment", program.name, options.namespace) | {
        "spec": {
            "replicas": _REPLICAS,
            "selector": {"matchLabels": program.pod_labels},
            "template": {"metadata": {"labels": program.pod_labels}, "spec": _pod(options, program)},
        }
    }


def _pod(options: InstallOptions, program: InstalledProgram) -> Json:
    return hardened_pod(program.name, _container(options, program)) | {
        "priorityClassName": CRITICAL,
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": program.pod_labels},
            }
        ],
    }


def hardened_pod(account: str, container: Json) -> Json:
    return {
        "serviceAccountName": account,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [
            {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}
        ],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [
            {"name": "configuration", "configMap": {"name": NAME}},
            {"name": "temporary", "emptyDir": {"sizeLimit": _TEMPORARY_SIZE}},
        ],
    }


def _container(options: InstallOptions, program: InstalledProgram) -> Json:
    arguments = ["run", CONFIGURED, *program.arguments, "--log-format=json"]
    return hardened_container(program.container, options.image, arguments) | {
        "ports": [{"name": PORT_NAME, "containerPort": PORT}],
        "startupProbe": _probe("/healthz", period_seconds=2, failures=30),
        "livenessProbe": _probe("/healthz", period_seconds=10, failures=6),
        "readinessProbe": _probe("/readyz", period_seconds=5, failures=3),
    }


def hardened_container(name: str, image: str, arguments: list[str]) -> Json:
    return {
        "name": name,
        "image": image,
        "args": arguments,
        "resources": {
            "requests": {"cpu": "500m", "memory": "512Mi", "ephemeral-storage": _TEMPORARY_SIZE},
            "limits": {"memory": "4Gi", "ephemeral-storage": _DISK_SIZE},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [
            {"name": "configuration", "mountPath": _CONFIGURATION_DIRECTORY, "readOnly": True},
            {"name": "temporary", "mountPath": "/tmp"},  # noqa: S108 - a path in the container, not here
        ],
    }


def _probe(path: str, *, period_seconds: int, failures: int) -> Json:
    return {
        "httpGet": {"path": path, "port": PORT_NAME, "scheme": "HTTPS"},
        "periodSeconds": period_seconds,
        "failureThreshold": failures,
        "timeoutSeconds": 5,
    }


def _disruption_budget(options: InstallOptions, program: InstalledProgram) -> Json:
    """Draining nodes evicts one replica at a time."""
    return named("policy/v1", "PodDisruptionBudget", program.name, options.namespace) | {
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": program.pod_labels}}
    }
