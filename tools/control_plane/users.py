"""Who may speak to a control plane: names, groups and tokens, and a kubeconfig for each.

Every control plane has new tokens. RBAC limits every user but the administrator.
"""

import csv
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from posse.apiserver.http.kubeconfig import ServerAccess, write_kubeconfig


def new_token() -> str:
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class User:
    name: str
    groups: tuple[str, ...] = ()
    token: str = field(default_factory=new_token)


def administrator() -> User:
    return User("admin", ("system:masters",))


def service_account(namespace: str, name: str) -> User:
    """Return a user that acts as a service account, to test the roles bound to that account."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return User(f"system:serviceaccount:{namespace}:{name}", groups)


def write_tokens(path: Path, users: Iterable[User]) -> None:
    """Write the file from which kube-apiserver learns who is who."""
    with path.open("w", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerows((user.token, user.name, user.name, ",".join(user.groups)) for user in users)


def write_kubeconfigs(
    folder: Path, users: Iterable[User], server: str, authority_pem: bytes
) -> dict[str, Path]:
    written = {user.name: folder / f"{user.name.replace(':', '-')}.kubeconfig" for user in users}
    for user in users:
        write_kubeconfig(written[user.name], ServerAccess(server, authority_pem, user.token))
    return written
