"""What pods of Posse may talk to: API server, name service, and programs that ask for probes or metrics.

An API server cannot be selected like a pod, so it is allowed by the ports that distributions give it.
"""

from posse.installation.deployment import PORT_NAME
from posse.installation.objects import named
from posse.installation.options import InstallOptions
from posse.kinds.machinery.kind import Json

API_SERVER_PORTS = (443, 6443, 8443, 16443)
_NAME_SERVICE_PORT = 53


def network_policy(
    options: InstallOptions, name: str, labels: dict[str, str], *, is_asked: bool = True
) -> Json:
    """For pods with these labels. Those that are not asked get no connections at all."""
    names = [{"protocol": protocol, "port": _NAME_SERVICE_PORT} for protocol in ("UDP", "TCP")]
    servers = [{"protocol": "TCP", "port": port} for port in API_SERVER_PORTS]
    return named("networking.k8s.io/v1", "NetworkPolicy", name, options.namespace) | {
        "spec": {
            "podSelector": {"matchLabels": labels},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"ports": [{"protocol": "TCP", "port": PORT_NAME}]}] if is_asked else [],
            "egress": [{"ports": names}, {"ports": servers}],
        }
    }
