"""The kubeconfig through which kubectl and every other client reaches the server.

It is self-contained (authority and token are embedded), so it can be copied or pointed at from anywhere.
"""

import base64
from dataclasses import dataclass
from pathlib import Path

import yaml

from posse.apiserver.http.private_files import write_private

CONTEXT = "posse"


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """What a client must know to reach the server."""

    server: str
    authority_pem: bytes
    token: str


def write_kubeconfig(path: Path, access: ServerAccess) -> None:
    write_private(path, yaml.safe_dump(kubeconfig(access), sort_keys=False).encode())


def kubeconfig(access: ServerAccess) -> dict[str, object]:
    authority = base64.b64encode(access.authority_pem).decode()
    cluster = {"server": access.server, "certificate-authority-data": authority}
    context = {"cluster": CONTEXT, "user": CONTEXT, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "users": [{"name": CONTEXT, "user": {"token": access.token}}],
        "contexts": [{"name": CONTEXT, "context": context}],
        "current-context": CONTEXT,
    }
