"""How to reach a cluster: its address, who we are, and which certificates are trusted."""

import os
import ssl
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

_THIS_MACHINE = frozenset({"127.0.0.1", "::1", "localhost"})


class CredentialsError(Exception):
    """The credentials are unusable; the message names the file and the problem."""


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    server: str
    authorization: str
    """The value of that header; empty when a certificate says who we are."""
    tls: ssl.SSLContext | None
    tls_name: str | None = None
    proxy: str | None = None


@lru_cache(maxsize=4)
def tls_context(
    authority: bytes, certificate: bytes = b"", key: bytes = b"", is_verified: bool = True
) -> ssl.SSLContext:
    """Keep one context for equal contents, because connections are shared per context. ValueError, OSError.

    Without an authority the system's are trusted.
    """
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    # The certificates that clusters make for themselves often lack what the strict rules ask for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not is_verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate:
        _load_certificate(context, certificate, key)
    return context


def usual_proxy(server: str) -> str | None:
    """What $HTTPS_PROXY and its kin say about this server. Asked here once, because asking is slow."""
    address = urlsplit(server)
    host = address.hostname or ""
    if host in _THIS_MACHINE or proxy_bypass(host):
        return None
    return getproxies().get(address.scheme)


def _load_certificate(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """The standard library reads certificates from files only; this one is there for a moment."""
    handle, path = tempfile.mkstemp(prefix="posse-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(certificate.rstrip() + b"\n" + key)
        context.load_cert_chain(path)
    finally:
        Path(path).unlink()
