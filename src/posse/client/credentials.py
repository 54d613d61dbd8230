"""How to reach a cluster and prove who we are: from a kubeconfig, or from what a pod is given.

What the files mean, and running the programs that hand out credentials, is left to kubernetes_asyncio.
Everything is read again on every load, because tokens and certificates are rotated.
"""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import yaml

HOME_KUBECONFIG = Path("~/.kube/config")
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SERVICE_HOST = "KUBERNETES_SERVICE_HOST"
_THIS_MACHINE = frozenset({"127.0.0.1", "::1", "localhost"})
IN_CLUSTER = "the service account of this pod"


class CredentialsError(Exception):
    """The credentials are unusable; the message names the file and the problem."""


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """`authorization` is the value of that header, empty when a certificate says who we are."""

    server: str
    authorization: str
    tls: ssl.SSLContext | None
    tls_name: str | None
    proxy: str | None


class Credentials(Protocol):
    source: str
    """Where they are from, such as the path of a file."""

    async def load(self) -> ClusterAccess:
        """CredentialsError: they cannot be used."""


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

    async def load(self) -> ClusterAccess:
        # The library takes a second to load, so it is loaded only if needed.
        from kubernetes_asyncio import client, config  # noqa: PLC0415

        found: Any = client.Configuration()
        self._check_there()
        try:
            await config.load_kube_config(self.source, self._context, found, persist_config=False)
            return _access(found)
        except (config.ConfigException, OSError, ValueError, yaml.YAMLError) as error:
            raise CredentialsError(f"{self.source}: cannot be used: {error}") from error
        except (AssertionError, AttributeError, TypeError, KeyError) as error:
            # What the library stumbled over tells about the library.
            raise CredentialsError(f"{self.source}: not a kubeconfig, or parts of one are missing") from error

    def _check_there(self) -> None:
        paths = [Path(part).expanduser() for part in self.source.split(os.pathsep) if part]
        if not any(path.exists() for path in paths):
            raise CredentialsError(f"{self.source}: no such file; pass --kubeconfig FILE, or set $KUBECONFIG")


class ServiceAccountCredentials:
    source = IN_CLUSTER

    async def load(self) -> ClusterAccess:
        from kubernetes_asyncio import client, config  # noqa: PLC0415 - as above

        found: Any = client.Configuration()
        try:
            # The library left the types of this one out.
            config.load_incluster_config(found, try_refresh_token=False)  # type: ignore[no-untyped-call]
            return _access(found)
        except (config.ConfigException, OSError, ValueError) as error:
            raise CredentialsError(f"{self.source}: cannot be used: {error}") from error


def own_namespace() -> str:
    """The namespace of this pod, empty outside of one."""
    try:
        return (SERVICE_ACCOUNT / "namespace").read_text("utf-8").strip()
    except OSError:
        return ""


def _access(found: Any) -> ClusterAccess:
    server = str(found.host)
    if not server.startswith(("https://", "http://")):
        raise ValueError(f"its cluster has no server address but {server!r}")
    return ClusterAccess(
        server=server,
        authorization=str(found.api_key.get("BearerToken", "")).strip(),
        tls=_tls(found) if server.startswith("https://") else None,
        tls_name=found.tls_server_name,
        proxy=found.proxy or _usual_proxy(server),
    )


def _usual_proxy(server: str) -> str | None:
    """What $HTTPS_PROXY and its kin say about this server. Asked here once, because asking is slow."""
    address = urlsplit(server)
    host = address.hostname or ""
    if host in _THIS_MACHINE or proxy_bypass(host):
        return None
    return getproxies().get(address.scheme)


def _tls(found: Any) -> ssl.SSLContext:
    contents = tuple(
        Path(path).read_bytes() if path else b""
        for path in (found.ssl_ca_cert, found.cert_file, found.key_file)
    )
    return _context((found.ssl_ca_cert, found.cert_file, found.key_file), contents, bool(found.verify_ssl))


@lru_cache(maxsize=4)
def _context(
    paths: tuple[str | None, str | None, str | None],
    contents: tuple[bytes, ...],  # noqa: ARG001 - what tells the same files with new contents apart
    is_verified: bool,
) -> ssl.SSLContext:
    """Keep one context while the files are unchanged, because connections are shared per context."""
    authority, certificate, key = paths
    context = ssl.create_default_context(cafile=authority)
    # The certificates that clusters make for themselves often lack what the strict rules ask for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not is_verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(certificate, key)
    return context
