"""The page in a cluster: a Deployment whose account may only read.

It listens inside its pod alone, so the way to it is `kubectl port-forward`, which the API server
authenticates and authorizes. The token of the address is one of the cluster, too: the page has it reviewed.
"""

from posse.installation.deployment import CONFIGURED, hardened_container, hardened_pod
from posse.installation.network_policy import network_policy
from posse.installation.objects import NAME_LABEL, named
from posse.installation.options import NAME, InstallOptions
from posse.installation.permissions import LEASE, Permission
from posse.installation.roles import account, identity
from posse.kinds.machinery.kind import Json

PAGE = f"{NAME}-page"
VIEWER = f"{NAME}-page-viewer"
PAGE_PATH = "/posse/page"
"""Who may get this path may see the page."""
PAGE_PORT = 6555

_LOOK = ("get", "list", "watch")
_LABELS = {NAME_LABEL: PAGE}

TO_SHOW = (
    Permission("authentication.k8s.io", ("tokenreviews",), ("create",), "know who opens the page"),
    Permission("authorization.k8s.io", ("subjectaccessreviews",), ("create",), "know who may see the page"),
    Permission("", ("pods", "nodes", "namespaces", "services", "events"), _LOOK, "show what runs where"),
    Permission("", ("persistentvolumes", "persistentvolumeclaims"), _LOOK, "explain what waits for volumes"),
    Permission(
        "storage.k8s.io",
        ("storageclasses", "csinodes", "csidrivers"),
        _LOOK,
        "explain what waits for volumes",
    ),
    Permission(
        "resource.k8s.io",
        ("resourceslices", "deviceclasses", "devicetaintrules", "resourceclaims"),
        _LOOK,
        "explain what waits for devices",
    ),
    Permission("policy", ("poddisruptionbudgets",), _LOOK, "preview what would be evicted"),
    Permission(
        "scheduling.k8s.io",
        ("priorityclasses", "workloads", "podgroups", "compositepodgroups"),
        _LOOK,
        "show groups",
    ),
    *(
        Permission(group, ("podgroups", "compositepodgroups"), _LOOK, "show groups")
        for group in ("scheduling.posse.dev", "scheduling.x-k8s.io", "scheduling.volcano.sh")
    ),
    Permission("batch", ("jobs", "cronjobs"), _LOOK, "name owners of groups"),
    Permission(
        "apps", ("statefulsets", "deployments", "replicasets", "daemonsets"), _LOOK, "name owners of groups"
    ),
    Permission("jobset.x-k8s.io", ("jobsets",), _LOOK, "name owners of groups"),
    Permission("leaderworkerset.x-k8s.io", ("leaderworkersets",), _LOOK, "name owners of groups"),
)
TO_READ_THE_LEASE = (
    Permission(
        "coordination.k8s.io", ("leases",), ("get",), "know the rules that the scheduler uses", (LEASE,)
    ),
)


def page(options: InstallOptions) -> list[Json]:
    return [
        *identity(options, PAGE, TO_SHOW, TO_READ_THE_LEASE),
        # Tokens of this account open the page, and nothing else.
        *account(options, VIEWER, [{"nonResourceURLs": [PAGE_PATH], "verbs": ["get"]}]),
        network_policy(options, PAGE, _LABELS, is_asked=False),
        _deployment(options),
    ]


def _deployment(options: InstallOptions) -> Json:
    arguments = ["ui", CONFIGURED, "--cluster-tokens", f"--port={PAGE_PORT}"]
    container = hardened_container("page", options.image, arguments)
    return named("apps/v1", "Deployment", PAGE, options.namespace) | {
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": dict(_LABELS)},
            "template": {"metadata": {"labels": dict(_LABELS)}, "spec": hardened_pod(PAGE, container)},
        }
    }
