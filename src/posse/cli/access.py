"""Reads a kubeconfig: address and certificate authority of the cluster, credentials, namespace.

Tokens, which `posse up` writes, are read here. Client certificates and exec plugins are left to posse.client,
which takes longer to load.
"""

import asyncio
import base64
import binascii
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import yaml

from posse.cli.problems import Problem

if TYPE_CHECKING:
    from posse.client.credentials import Credentials

Json = dict[str, Any]


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

    @property
    def server(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"


def read_access(path: Path) -> Access:
    config = _load(path)
    context = _named(config, "contexts", config.get("current-context"), path).get("context") or {}
    cluster = _named(config, "clusters", context.get("cluster"), path).get("cluster") or {}
    user = _named(config, "users", context.get("user"), path).get("user") or {}
    namespace = context.get("namespace") or "default"
    if not user.get("token"):
        return _access_of_real_cluster(path, namespace)
    try:
        return _access(path, cluster, str(user["token"]), namespace)
    except (OSError, ValueError, binascii.Error) as error:
        raise Problem(f"{path}: cannot be used: {error}") from error


def access_of_pod() -> Access:
    """The cluster that this pod runs in, by its service account."""
    from posse.client import credentials  # noqa: PLC0415 - see above

    found = credentials.ServiceAccountCredentials()
    return _loaded(found, credentials.SERVICE_ACCOUNT, credentials.own_namespace() or "default")


def _access_of_real_cluster(path: Path, namespace: str) -> Access:
    from posse.client.credentials import Kubeconfig  # noqa: PLC0415 - see above

    return _loaded(Kubeconfig(str(path), None), path, namespace)


def _loaded(credentials: "Credentials", path: Path, namespace: str) -> Access:
    from posse.client.credentials import CredentialsError  # noqa: PLC0415 - see above

    try:
        found = asyncio.run(credentials.load())
    except CredentialsError as error:
        raise Problem(str(error)) from error
    address = urlsplit(found.server)
    return Access(
        source=path,
        host=address.hostname or "",
        port=address.port or (443 if found.tls else 80),
        authorization=found.authorization,
        namespace=namespace,
        tls=found.tls,
    )


def _access(path: Path, cluster: Json, token: str, namespace: str) -> Access:
    address = urlsplit(str(cluster.get("server") or ""))
    if address.scheme not in {"https", "http"} or not address.hostname:
        raise ValueError("its cluster has no server address")
    is_tls = address.scheme == "https"
    return Access(
        source=path,
        host=address.hostname,
        port=address.port or (443 if is_tls else 80),
        authorization=f"Bearer {token}",
        namespace=namespace,
        tls=_tls_context(cluster, path.parent) if is_tls else None,
    )


def _load(path: Path) -> Json:
    try:
        config = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise Problem(
            f"{path}: {(error.strerror or str(error)).lower()}; is there a cluster? `posse up` starts one"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Problem(f"{path}: not a kubeconfig: it is not valid YAML") from error
    if not isinstance(config, dict) or config.get("kind") != "Config":
        raise Problem(f"{path}: not a kubeconfig: kind is not Config")
    return config


def _named(config: Json, section: str, name: str | None, path: Path) -> Json:
    for entry in config.get(section) or []:
        if isinstance(entry, dict) and entry.get("name") == name:
            return entry
    raise Problem(f'{path}: not a usable kubeconfig: there is no entry "{name}" in {section}')


def _tls_context(cluster: Json, directory: Path) -> ssl.SSLContext:
    if cluster.get("certificate-authority-data"):
        authority = base64.b64decode(cluster["certificate-authority-data"], validate=True)
        return ssl.create_default_context(cadata=authority.decode())
    if cluster.get("certificate-authority"):
        return ssl.create_default_context(cafile=directory / cluster["certificate-authority"])
    return ssl.create_default_context()
