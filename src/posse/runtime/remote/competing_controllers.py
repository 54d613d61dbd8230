"""Whether the upstream controller of a kind runs in the cluster.

Two controllers of one object undo each other's work. Those of the projects are known by the names of their
webhooks, which no installation of them changes, and by their Deployments in the namespaces meant for them.
A Deployment elsewhere counts for nothing: any user may give one that name, and would switch off ours. Others
may have webhooks about the same kind without controlling it.
"""

from collections.abc import Mapping, Sequence

from posse.client.connection import Call, Connection
from posse.client.reading import WirePage, read, read_named, read_page
from posse.client.repeating import repeated
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import JOB_SET, LEADER_WORKER_SET

PROJECTS: Mapping[Kind, str] = {JOB_SET: "jobset", LEADER_WORKER_SET: "lws"}
_HOOKS = "/apis/admissionregistration.k8s.io/v1"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/{}/deployments"


def _signs(project: str) -> Sequence[tuple[str, str, str]]:
    """What a project brings along: its kind, where it is, and how its name ends."""
    return (
        (
            "MutatingWebhookConfiguration",
            f"{_HOOKS}/mutatingwebhookconfigurations",
            "mutating-webhook-configuration",
        ),
        (
            "ValidatingWebhookConfiguration",
            f"{_HOOKS}/validatingwebhookconfigurations",
            "validating-webhook-configuration",
        ),
        ("Deployment", _DEPLOYMENTS.format(f"{project}-system"), "controller-manager"),
        ("Deployment", _DEPLOYMENTS.format("kube-system"), "controller-manager"),
    )


async def find_rival(connection: Connection, kind: Kind) -> str:
    """Return evidence that another controller manages the kind, empty if there is none."""
    project = PROJECTS[kind]
    for sign, path, ending in _signs(project):
        selection = {"fieldSelector": f"metadata.name={project}-{ending}"}
        for name in await _names(connection, Call("GET", path, selection)):
            return f"{sign} {name}"
    return ""


async def _names(connection: Connection, call: Call) -> Sequence[str]:
    async def ask() -> WirePage:
        return read(await connection.ask(call), read_page)

    page = await repeated(ask)
    found = [read(bytes(item), read_named).metadata for item in page.items or ()]
    return ["/".join(filter(None, (item.namespace, item.name))) for item in found]
