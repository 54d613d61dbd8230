"""Users of a control plane: names, groups and tokens, and a kubeconfig for each.

RBAC limits every user but the administrator.
"""

import csv
import io
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from posse.apiserver.http.kubeconfig import ServerAccess, write_kubeconfig
from posse.apiserver.http.private_files import write_private


def new_token() -> str:
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class User:
    name: str
    groups: tuple[str, ...] = ()
    token: str = field(default_factory=new_token)


def administrator(token: str = "") -> User:
    return User("admin", ("system:masters",), token or new_token())


def service_account(namespace: str, name: str) -> User:
    """Return a user that acts as a service account, to test the roles bound to that account."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return User(f"system:serviceaccount:{namespace}:{name}", groups)


def write_tokens(path: Path, users: Iterable[User]) -> None:
    """Write the file from which kube-apiserver learns who is who."""
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerows((user.token, user.name, user.name, ",".join(user.groups)) for user in users)
    write_private(path, text.getvalue().encode())


def write_kubeconfigs(
    folder: Path, users: Iterable[User], server: str, authority_pem: bytes
) -> dict[str, Path]:
    written = {user.name: folder / f"{user.name.replace(':', '-')}.kubeconfig" for user in users}
    for user in users:
        write_kubeconfig(written[user.name], ServerAccess(server, authority_pem, user.token))
    return written
