"""Lets the Prometheus operator find the metrics. Optional: clusters without the operator lack the kind."""

from posse.installation.deployment import PORT, PORT_NAME
from posse.installation.objects import LABELS, named
from posse.installation.options import NAME, InstallOptions
from posse.kinds.machinery.kind import Json


def monitoring(options: InstallOptions) -> list[Json]:
    service = named("v1", "Service", NAME, options.namespace) | {
        "spec": {
            "selector": dict(LABELS),
            "ports": [{"name": PORT_NAME, "port": PORT, "targetPort": PORT_NAME}],
        }
    }
    monitor = named("monitoring.coreos.com/v1", "ServiceMonitor", NAME, options.namespace) | {
        "spec": {
            "selector": {"matchLabels": dict(LABELS)},
            "endpoints": [
                {
                    "port": PORT_NAME,
                    "path": "/metrics",
                    "scheme": "https",
                    # Its certificate is made when a pod starts; the token tells who asks.
                    "tlsConfig": {"insecureSkipVerify": True},
                    "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
                }
            ],
        }
    }
    return [service, monitor]
