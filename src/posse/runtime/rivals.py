"""Whether somebody else controls the objects of a kind in a cluster already: the project that the kind comes from.

Two controllers of one object undo each other's work. Those of the projects are known by their webhooks, which they cannot do
without, and by the names of their Deployments.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from posse.client.connection import Call, Connection
from posse.client.repeating import repeated
from posse.kinds.kind import Kind
from posse.kinds.registry import JOB_SET, LEADER_WORKER_SET

Json = dict[str, Any]

DEPLOYMENTS: Mapping[Kind, str] = {
    JOB_SET: "jobset-controller-manager",
    LEADER_WORKER_SET: "lws-controller-manager",
}
_WEBHOOKS = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}


async def find_rival(connection: Connection, kind: Kind) -> str:
    """Name what shows that somebody else controls the kind; nothing if nobody does."""
    for name, plural in _WEBHOOKS.items():
        path = f"/apis/admissionregistration.k8s.io/v1/{plural}"
        for configuration in await _listed(connection, Call("GET", path)):
            if speaks_of(configuration, kind):
                return f"{name} {configuration['metadata']['name']}"
    selection = {"fieldSelector": f"metadata.name={DEPLOYMENTS[kind]}"}
    for deployment in await _listed(connection, Call("GET", "/apis/apps/v1/deployments", selection)):
        metadata = deployment["metadata"]
        return f"Deployment {metadata['namespace']}/{metadata['name']}"
    return ""


def speaks_of(configuration: Json, kind: Kind) -> bool:
    rules = [rule for hook in configuration.get("webhooks") or () for rule in hook.get("rules") or ()]
    return any(
        kind.group in (rule.get("apiGroups") or ()) and kind.plural in (rule.get("resources") or ())
        for rule in rules
    )


async def _listed(connection: Connection, call: Call) -> list[Json]:
    answer = await repeated(lambda: connection.ask(call))
    return msgspec.json.decode(answer)["items"] or []
