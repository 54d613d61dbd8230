"""The kubeconfig and the token: self-contained, private, whole, and the same after a restart."""

import base64
import stat

import pytest
import yaml

from posse.apiserver.http import private_files
from posse.apiserver.http.kubeconfig import ServerAccess, write_kubeconfig
from posse.apiserver.http.private_files import write_private
from posse.apiserver.http.tokens import TokenCheck, ensure_token

ACCESS = ServerAccess("https://127.0.0.1:6553", b"-----BEGIN CERTIFICATE-----\n", "s3cret-s3cret-s3cret")


def test_a_kubeconfig_holds_all_that_a_client_needs(tmp_path):
    path = tmp_path / "deep" / "kubeconfig"
    write_kubeconfig(path, ACCESS)
    config = yaml.safe_load(path.read_text())
    assert config["current-context"] == "posse"
    assert config["contexts"][0]["context"] == {"cluster": "posse", "user": "posse", "namespace": "default"}
    cluster = config["clusters"][0]["cluster"]
    assert cluster["server"] == "https://127.0.0.1:6553"
    assert base64.b64decode(cluster["certificate-authority-data"]) == ACCESS.authority_pem
    assert config["users"][0]["user"] == {"token": "s3cret-s3cret-s3cret"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_rewriting_replaces_a_readable_file_by_a_private_one(tmp_path):
    path = tmp_path / "kubeconfig"
    path.write_text("old")
    path.chmod(0o644)
    write_kubeconfig(path, ACCESS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["kubeconfig"]


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "token"
    path.write_text("old")

    def fail(_descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(private_files.os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_private(path, b"new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]


def test_a_token_is_made_once_and_kept(tmp_path):
    token = ensure_token(tmp_path / "token")
    assert len(token) >= 40
    assert ensure_token(tmp_path / "token") == token
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert ensure_token(tmp_path / "other") != token


@pytest.mark.parametrize("damage", [b"", b"short", b"with a blank inside it", b"\xff\xfe" * 20])
def test_a_damaged_token_file_is_replaced(tmp_path, damage):
    (tmp_path / "token").write_bytes(damage)
    token = ensure_token(tmp_path / "token")
    assert len(token) >= 40
    assert (tmp_path / "token").read_text() == token


@pytest.mark.parametrize(
    ("header", "admitted"),
    [
        ("Bearer right-token", True),
        ("bearer right-token", True),
        ("Bearer  right-token", True),
        ("Bearer wrong-token", False),
        ("Bearer right-token-and-more", False),
        ("Bearer", False),
        ("Basic right-token", False),
        ("right-token", False),
        ("", False),
        ("Bearer right-tok\udcffen", False),
        ("Bearer rïght-token", False),
    ],
)
def test_only_the_right_bearer_token_is_admitted(header, admitted):
    assert TokenCheck("right-token").admits(header) is admitted
