"""The objects that run the scheduler: Deployment with two replicas, ConfigMap, PodDisruptionBudget.

Pods run as the strictest of the Pod Security Standards asks for, so any namespace can enforce it.
"""

from posse.installation.namespace import CRITICAL
from posse.installation.objects import LABELS, named
from posse.installation.options import NAME, InstallOptions
from posse.installation.permissions import LEASE
from posse.kinds.machinery.kind import Json

PORT = 10259
PORT_NAME = "https"
CONFIGURATION_FILE = "scheduler.yaml"

_REPLICAS = 2
_NOBODY = 65532
_CONFIGURATION_DIRECTORY = "/etc/posse"


def running(options: InstallOptions) -> list[Json]:
    return [_configuration(options), _deployment(options), _disruption_budget(options)]


def _configuration(options: InstallOptions) -> Json:
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


def _deployment(options: InstallOptions) -> Json:
    return named("apps/v1", "Deployment", NAME, options.namespace) | {
        "spec": {
            "replicas": _REPLICAS,
            "selector": {"matchLabels": dict(LABELS)},
            "template": {"metadata": {"labels": dict(LABELS)}, "spec": _pod(options)},
        }
    }


def _pod(options: InstallOptions) -> Json:
    return {
        "serviceAccountName": NAME,
        "priorityClassName": CRITICAL,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [
            {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}
        ],
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": dict(LABELS)},
            }
        ],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(options)],
        "volumes": [
            {"name": "configuration", "configMap": {"name": NAME}},
            {"name": "temporary", "emptyDir": {}},
        ],
    }


def _container(options: InstallOptions) -> Json:
    control = [f"--controllers={','.join(options.controllers)}"] if options.controllers else []
    configuration = f"--config={_CONFIGURATION_DIRECTORY}/{CONFIGURATION_FILE}"
    return {
        "name": "scheduler",
        "image": options.image,
        "args": ["run", configuration, *control, "--log-format=json"],
        "ports": [{"name": PORT_NAME, "containerPort": PORT}],
        "startupProbe": _probe("/healthz", period_seconds=2, failures=30),
        "livenessProbe": _probe("/healthz", period_seconds=10, failures=6),
        "readinessProbe": _probe("/readyz", period_seconds=5, failures=3),
        "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"memory": "4Gi"}},
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


def _disruption_budget(options: InstallOptions) -> Json:
    """Draining nodes evicts one replica at a time."""
    return named("policy/v1", "PodDisruptionBudget", NAME, options.namespace) | {
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": dict(LABELS)}}
    }
