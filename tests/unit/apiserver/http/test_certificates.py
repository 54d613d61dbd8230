"""Certificates are made once, kept, renewed in time, and trusted by a standard TLS client."""

import ssl
import stat
import threading
import time
from contextlib import closing
from pathlib import Path
from socket import create_server, socket

import pytest
from cryptography import x509

from posse.apiserver.http.certificates import (
    AUTHORITY_LIFETIME,
    RENEW_BEFORE,
    SERVER_LIFETIME,
    Certificates,
    ensure_certificates,
)

NOW = 1_790_000_000.0
DAY = 86_400.0


def load(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_a_restart_reuses_what_is_there(tmp_path):
    ensure_certificates(tmp_path, NOW)
    before = contents(tmp_path)
    ensure_certificates(tmp_path, NOW + DAY)
    assert contents(tmp_path) == before
    assert set(before) == {"ca.crt", "ca.key", "server.crt", "server.key"}


def test_keys_are_for_the_owner_only(tmp_path):
    ensure_certificates(tmp_path / "tls", NOW)
    for name in ("ca.key", "server.key"):
        assert stat.S_IMODE((tmp_path / "tls" / name).stat().st_mode) == 0o600


def test_the_server_certificate_is_renewed_before_it_expires_and_the_authority_stays(tmp_path):
    ensure_certificates(tmp_path, NOW)
    before = contents(tmp_path)
    late = NOW + (SERVER_LIFETIME - RENEW_BEFORE).total_seconds() + 1
    ensure_certificates(tmp_path, late)
    after = contents(tmp_path)
    assert after["ca.crt"] == before["ca.crt"]
    assert after["server.crt"] != before["server.crt"]
    assert load(tmp_path / "server.crt").not_valid_after_utc.timestamp() > late + 300 * DAY


def test_an_authority_about_to_expire_takes_the_server_certificate_with_it(tmp_path):
    ensure_certificates(tmp_path, NOW)
    before = contents(tmp_path)
    ensure_certificates(tmp_path, NOW + (AUTHORITY_LIFETIME - RENEW_BEFORE).total_seconds() + 1)
    after = contents(tmp_path)
    assert all(after[name] != before[name] for name in before)


def test_a_clock_set_back_does_not_leave_a_certificate_from_the_future(tmp_path):
    ensure_certificates(tmp_path, NOW)
    ensure_certificates(tmp_path, NOW - 10 * DAY)
    assert load(tmp_path / "server.crt").not_valid_before_utc.timestamp() < NOW - 10 * DAY


@pytest.mark.parametrize("name", ["ca.crt", "ca.key", "server.crt", "server.key"])
@pytest.mark.parametrize("damage", [b"", b"not a certificate", None])
def test_damaged_or_missing_files_are_replaced(tmp_path, name, damage):
    ensure_certificates(tmp_path, NOW)
    (tmp_path / name).unlink() if damage is None else (tmp_path / name).write_bytes(damage)
    certificates = ensure_certificates(tmp_path, NOW)
    certificates.server_context()
    load(certificates.server_certificate).verify_directly_issued_by(load(tmp_path / "ca.crt"))


def test_a_server_certificate_of_another_authority_is_replaced(tmp_path):
    ensure_certificates(tmp_path / "one", NOW)
    ensure_certificates(tmp_path / "two", NOW)
    for name in ("server.crt", "server.key"):
        (tmp_path / "one" / name).write_bytes((tmp_path / "two" / name).read_bytes())
    certificates = ensure_certificates(tmp_path / "one", NOW)
    load(certificates.server_certificate).verify_directly_issued_by(load(tmp_path / "one" / "ca.crt"))


def test_the_certificate_names_every_loopback_address(tmp_path):
    certificates = ensure_certificates(tmp_path, NOW)
    names = load(certificates.server_certificate).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert names.value.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(address) for address in names.value.get_values_for_type(x509.IPAddress)] == [
        "127.0.0.1",
        "::1",
    ]


def test_a_strict_client_trusts_the_server_by_the_authority_alone(tmp_path):

    certificates = ensure_certificates(tmp_path, time.time())
    client = ssl.create_default_context(cadata=certificates.authority_pem.decode())
    client.verify_flags |= ssl.VerifyFlags.VERIFY_X509_STRICT
    assert shake_hands(certificates, client) in {"TLSv1.2", "TLSv1.3"}


def shake_hands(certificates: Certificates, client: ssl.SSLContext) -> str | None:
    """Connect through a real socket and return the protocol spoken."""
    with closing(create_server(("127.0.0.1", 0))) as listener:
        server = threading.Thread(target=accept_once, args=(certificates.server_context(), listener))
        server.start()
        with (
            closing(socket()) as plain,
            client.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped,
        ):
            wrapped.connect(listener.getsockname())
            version = wrapped.version()
            wrapped.recv(1)
        server.join()
    return version


def accept_once(context: ssl.SSLContext, listener: socket) -> None:
    connection, _ = listener.accept()
    with context.wrap_socket(connection, server_side=True) as wrapped:
        wrapped.send(b".")
