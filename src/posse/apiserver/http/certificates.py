"""The server's own certificate authority and a server certificate for the loopback names.

Both live in one directory and are reused on restart, so that a kubeconfig written once keeps working.
A pair is replaced when it is missing, unreadable, about to expire or does not belong together.
Knows nothing of sockets; the time is an argument.
"""

import datetime as dt
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from posse.apiserver.http.private_files import write_private

LOOPBACK_ADDRESSES = ("127.0.0.1", "::1")
LOOPBACK_NAMES = ("localhost",)
AUTHORITY_LIFETIME = dt.timedelta(days=3650)
# Apple's and Go's verifiers dislike server certificates that live longer than about 13 months.
SERVER_LIFETIME = dt.timedelta(days=365)
RENEW_BEFORE = dt.timedelta(days=30)
# A client whose clock is a little behind must accept a certificate made just now.
BACKDATE = dt.timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Certificates:
    """Where the server's TLS material lies, and the authority clients should trust."""

    authority_pem: bytes
    server_certificate: Path
    server_key: Path

    def server_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.load_cert_chain(self.server_certificate, self.server_key)
        return context


@dataclass(frozen=True, slots=True)
class _Identity:
    """A certificate with the private key that belongs to it."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)


def ensure_certificates(directory: Path, now: float) -> Certificates:
    """Return the certificates kept in the directory, making or renewing what is not usable at `now`."""
    moment = dt.datetime.fromtimestamp(now, dt.UTC)
    authority = _load(directory, "ca")
    if authority is None or _expires_soon(authority, moment):
        authority = _make_authority(moment)
        _save(directory, "ca", authority)
    server = _load(directory, "server")
    if server is None or _expires_soon(server, moment) or not _is_issued_by(server, authority):
        server = _make_server(authority, moment)
        _save(directory, "server", server)
    return Certificates(authority.pem(), directory / "server.crt", directory / "server.key")


def _load(directory: Path, name: str) -> _Identity | None:
    """Return the stored pair, or nothing when it is missing, damaged or mismatched (half a renewal)."""
    try:
        certificate = x509.load_pem_x509_certificate((directory / f"{name}.crt").read_bytes())
        key = serialization.load_pem_private_key((directory / f"{name}.key").read_bytes(), password=None)
    except (FileNotFoundError, ValueError, TypeError, UnsupportedAlgorithm):
        return None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        return None
    return _Identity(certificate, key)


def _save(directory: Path, name: str, identity: _Identity) -> None:
    key_pem = identity.key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    write_private(directory / f"{name}.key", key_pem)
    write_private(directory / f"{name}.crt", identity.pem())


def _expires_soon(identity: _Identity, moment: dt.datetime) -> bool:
    certificate = identity.certificate
    return not certificate.not_valid_before_utc <= moment < certificate.not_valid_after_utc - RENEW_BEFORE


def _is_issued_by(server: _Identity, authority: _Identity) -> bool:
    try:
        server.certificate.verify_directly_issued_by(authority.certificate)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _make_authority(moment: dt.datetime) -> _Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    # The serial number makes each authority's name unique: trust stores match issuers by name.
    name = _name(f"posse-ca-{x509.random_serial_number():x}"[:40])
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = (
        _certificate(name, key, moment, AUTHORITY_LIFETIME)
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
    )
    return _Identity(builder.sign(key, hashes.SHA256()), key)


def _make_server(authority: _Identity, moment: dt.datetime) -> _Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    addresses = [x509.IPAddress(ipaddress.ip_address(address)) for address in LOOPBACK_ADDRESSES]
    names = [x509.DNSName(name) for name in LOOPBACK_NAMES]
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    builder = (
        _certificate(_name("posse-apiserver"), key, moment, SERVER_LIFETIME)
        .issuer_name(authority.certificate.subject)
        .add_extension(x509.SubjectAlternativeName([*names, *addresses]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(issuer_key, critical=False)
    )
    return _Identity(builder.sign(authority.key, hashes.SHA256()), key)


def _certificate(
    subject: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    moment: dt.datetime,
    lifetime: dt.timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(moment - BACKDATE)
        .not_valid_after(moment + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
