"""Who we are to a cluster: from a kubeconfig, or from what a pod is given.

Everything is read again on every load, because tokens and certificates are rotated.
"""

import asyncio
import base64
import binascii
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from posse.client.cluster_access import ClusterAccess, CredentialsError, tls_context, usual_proxy
from posse.client.exec_plugin import Issued, run_plugin
from posse.client.kubeconfig import AuthProvider, ChosenContext, read_kubeconfig

HOME_KUBECONFIG = Path("~/.kube/config")
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SERVICE_HOST, SERVICE_PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
IN_CLUSTER = "the service account of this pod"


class Credentials(Protocol):
    source: str
    """Where they are from, such as the path of a file."""

    def read(self) -> ClusterAccess:
        """CredentialsError: they cannot be used."""

    async def load(self) -> ClusterAccess:
        """The same, beside other work."""


def find_credentials(
    kubeconfig: Path | None, context: str | None, environment: Mapping[str, str] = os.environ
) -> Credentials:
    """Take the named kubeconfig, else $KUBECONFIG, else those of the pod, else that of the home directory."""
    if kubeconfig is not None:
        return Kubeconfig(str(kubeconfig), context)
    if environment.get("KUBECONFIG"):
        return Kubeconfig(environment["KUBECONFIG"], context)
    if environment.get(SERVICE_HOST):
        return ServiceAccountCredentials()
    return Kubeconfig(str(HOME_KUBECONFIG.expanduser()), context)


class Kubeconfig:
    """`source` may name several files, as $KUBECONFIG does."""

    def __init__(self, source: str, context: str | None) -> None:
        self.source = source
        self._context = context

    def read(self) -> ClusterAccess:
        chosen = read_kubeconfig(self.source, self._context)
        try:
            return _access(chosen)
        except (OSError, ValueError) as error:
            raise CredentialsError(f"{self.source}: cannot be used: {error}") from error

    async def load(self) -> ClusterAccess:
        return await asyncio.to_thread(self.read)


class ServiceAccountCredentials:
    source = IN_CLUSTER

    def read(self) -> ClusterAccess:
        try:
            return _access_of_pod(os.environ.get(SERVICE_HOST, ""), os.environ.get(SERVICE_PORT, ""))
        except (OSError, ValueError) as error:
            raise CredentialsError(f"{self.source}: cannot be used: {error}") from error

    async def load(self) -> ClusterAccess:
        return await asyncio.to_thread(self.read)


def _access_of_pod(host: str, port: str) -> ClusterAccess:
    if not (host and port):
        raise ValueError(f"${SERVICE_HOST} and ${SERVICE_PORT} are not both set")
    authorization = _bearer((SERVICE_ACCOUNT / "token").read_text("utf-8"))
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    tls = tls_context((SERVICE_ACCOUNT / "ca.crt").read_bytes())
    return ClusterAccess(server, authorization, tls, proxy=usual_proxy(server))


def own_namespace() -> str:
    """The namespace of this pod, empty outside of one."""
    try:
        return (SERVICE_ACCOUNT / "namespace").read_text("utf-8").strip()
    except OSError:
        return ""


def _access(chosen: ChosenContext) -> ClusterAccess:
    cluster, plugin = chosen.cluster, chosen.user.exec
    server = cluster.server.rstrip("/")
    if not server.startswith(("https://", "http://")):
        raise ValueError(f"its cluster has no server address but {server!r}")
    issued = run_plugin(chosen, plugin) if plugin is not None else Issued()
    tls = None
    if server.startswith("https://"):
        certificate = issued.client_certificate_data.encode() or chosen.certificate()
        key = issued.client_key_data.encode() or chosen.key()
        if bool(certificate) != bool(key):
            raise ValueError("of client-certificate and client-key its user has only one")
        tls = tls_context(chosen.authority(), certificate, key, not cluster.insecure_skip_tls_verify)
    return ClusterAccess(
        server,
        _bearer(issued.token) if issued.token else _authorization(chosen),
        tls,
        cluster.tls_server_name or None,
        cluster.proxy_url or usual_proxy(server),
    )


def _bearer(text: str) -> str:
    """The header for a token. ValueError: it is empty, or has what no header may have."""
    token = text.strip()
    if not token or not (token.isascii() and token.isprintable()):
        raise ValueError("its token is empty, or has characters that no token has")
    return f"Bearer {token}"


def _authorization(chosen: ChosenContext) -> str:
    user = chosen.user
    if user.auth_provider is not None:
        return _bearer(_id_token(user.auth_provider, time.time()))
    if user.token_file:
        return _bearer((chosen.user_folder / user.token_file).read_text("utf-8"))
    if user.token:
        return _bearer(user.token)
    if user.username:
        return f"Basic {base64.b64encode(f'{user.username}:{user.password}'.encode()).decode()}"
    return ""


class _Claims(msgspec.Struct):
    exp: float = float("inf")


def _id_token(provider: AuthProvider, now: float) -> str:
    """The token that kubectl keeps in the file. ValueError: it has expired, or the provider is not known."""
    if provider.name != "oidc":
        raise ValueError(
            f"the auth provider {provider.name!r} is not known: use an exec plugin, as kubectl does"
        )
    token = provider.config.get("id-token", "")
    try:
        claims = token.split(".")[1]
        expires = msgspec.json.decode(
            base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)), type=_Claims
        ).exp
    except (IndexError, binascii.Error, msgspec.DecodeError) as error:
        raise ValueError("the id-token of its auth provider oidc is not a token") from error
    if expires <= now:
        raise ValueError(
            "the id-token of its auth provider oidc has expired: any kubectl command renews it, "
            "or use an exec plugin"
        )
    return token
