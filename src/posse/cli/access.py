"""How the command line reaches a cluster: by a kubeconfig, or as the pod that it runs in."""

import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from posse.cli.problems import Problem
from posse.client import credentials
from posse.client.cluster_access import CredentialsError
from posse.client.kubeconfig import read_kubeconfig


@dataclass(frozen=True, slots=True)
class Access:
    """`source` is the file it was read from, for messages."""

    source: Path
    host: str
    port: int
    authorization: str
    """Value of that header; empty with a client certificate."""
    namespace: str
    tls: ssl.SSLContext | None
    tls_name: str | None = None
    """The name that the certificate of the server has, if that is not the host."""

    @property
    def server(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"


def read_access(path: Path) -> Access:
    if not path.exists():
        raise Problem(f"{path}: no such file or directory; is there a cluster? `posse up` starts one")
    try:
        namespace = read_kubeconfig(str(path)).namespace
    except CredentialsError as error:
        raise Problem(str(error)) from error
    return _loaded(credentials.Kubeconfig(str(path), None), path, namespace)


def access_of_pod() -> Access:
    """The cluster that this pod runs in, by its service account."""
    found = credentials.ServiceAccountCredentials()
    return _loaded(found, credentials.SERVICE_ACCOUNT, credentials.own_namespace() or "default")


def _loaded(found: credentials.Credentials, path: Path, namespace: str) -> Access:
    try:
        access = found.read()
    except CredentialsError as error:
        raise Problem(str(error)) from error
    address = urlsplit(access.server)
    if not address.hostname:
        raise Problem(f"{path}: cannot be used: its cluster has no server address but {access.server!r}")
    return Access(
        source=path,
        host=address.hostname,
        port=address.port or (443 if access.tls else 80),
        authorization=access.authorization,
        namespace=namespace,
        tls=access.tls,
        tls_name=access.tls_name,
    )
