import asyncio
import base64
import json
import ssl
import stat
import sys

import pytest
import yaml
from kubernetes_asyncio.config import incluster_config

from posse.apiserver.http.certificates import ensure_certificates
from posse.client import credentials
from posse.client.credentials import (
    CredentialsError,
    Kubeconfig,
    ServiceAccountCredentials,
    find_credentials,
    own_namespace,
)


@pytest.fixture
def authority(tls_files):
    return tls_files.authority_pem


@pytest.fixture
def tls_files(tmp_path):
    return ensure_certificates(tmp_path / "tls", 1_700_000_000.0)


def kubeconfig(path, user, cluster=None, **more):
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster or {"server": "http://127.0.0.1:1/"}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [
            {"name": "one", "context": {"cluster": "c", "user": "u"}},
            {"name": "two", "context": {"cluster": "c", "user": "nobody"}},
        ],
        "current-context": "one",
        **more,
    }
    path.write_text(yaml.safe_dump(config))
    return path


def loaded(path, context=None):
    return asyncio.run(Kubeconfig(str(path), context).load())


def refused(path, context=None):
    with pytest.raises(CredentialsError) as error:
        loaded(path, context)
    return str(error.value)


def test_a_token_in_the_file(tmp_path):
    access = loaded(kubeconfig(tmp_path / "k", {"token": "secret"}))
    assert (access.server, access.authorization, access.tls) == ("http://127.0.0.1:1", "Bearer secret", None)


def test_a_token_in_a_file_of_its_own_is_read_every_time(tmp_path):
    token = tmp_path / "token"
    token.write_text("first\n")
    found = Kubeconfig(str(kubeconfig(tmp_path / "k", {"tokenFile": str(token)})), None)
    assert asyncio.run(found.load()).authorization == "Bearer first"
    token.write_text("second\n")
    assert asyncio.run(found.load()).authorization == "Bearer second"


def test_a_token_that_a_program_hands_out(tmp_path):
    program = tmp_path / "login"
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "made"},
    }
    program.write_text(f"#!{sys.executable}\nprint('''{json.dumps(answer)}''')\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    login = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": str(program),
        "interactiveMode": "Never",
    }
    assert loaded(kubeconfig(tmp_path / "k", {"exec": login})).authorization == "Bearer made"


def test_a_program_that_fails_is_told(tmp_path):
    login = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "/bin/false",
        "interactiveMode": "Never",
    }
    assert "cannot be used" in refused(kubeconfig(tmp_path / "k", {"exec": login}))


def test_the_context_says_who_we_are(tmp_path):
    path = kubeconfig(tmp_path / "k", {"token": "secret"})
    assert loaded(path, "two").authorization == ""
    assert "three" in refused(path, "three")


def test_an_authority_makes_a_context_that_is_kept_while_it_stays_the_same(tmp_path, authority):
    cluster = {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": base64.b64encode(authority).decode(),
        "tls-server-name": "elsewhere",
    }
    path = kubeconfig(tmp_path / "k", {"token": "secret"}, cluster)
    first, second = loaded(path), loaded(path)
    assert first.tls is not None
    assert first.tls is second.tls
    assert first.tls_name == "elsewhere"


def test_a_cluster_may_be_trusted_without_looking(tmp_path):
    cluster = {"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}
    assert loaded(kubeconfig(tmp_path / "k", {"token": "t"}, cluster)).tls.verify_mode is ssl.CERT_NONE


@pytest.mark.parametrize("text", ["", "just words", "kind: Config", "a: [b"])
def test_what_is_no_kubeconfig_is_told_by_its_name(tmp_path, text):
    path = tmp_path / "k"
    path.write_text(text)
    assert refused(path).startswith(f"{path}: ")


def test_a_file_that_is_not_there_is_told_with_what_to_do(tmp_path):
    assert refused(tmp_path / "none").endswith("no such file; pass --kubeconfig FILE, or set $KUBECONFIG")


def test_a_cluster_without_address_is_told(tmp_path):
    assert "server" in refused(kubeconfig(tmp_path / "k", {"token": "t"}, {"server": "nonsense"}))


def test_the_account_of_a_pod(tmp_path, monkeypatch, authority):
    (tmp_path / "token").write_text("mounted\n")
    (tmp_path / "ca.crt").write_bytes(authority)
    (tmp_path / "namespace").write_text("posse-system\n")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    monkeypatch.setattr(credentials, "SERVICE_ACCOUNT", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    access = asyncio.run(ServiceAccountCredentials().load())
    assert (access.server, access.authorization) == ("https://[fd00::1]:443", "Bearer mounted")
    assert own_namespace() == "posse-system"
    (tmp_path / "token").unlink()
    with pytest.raises(CredentialsError, match="the service account of this pod"):
        asyncio.run(ServiceAccountCredentials().load())


def test_outside_of_a_pod_there_is_no_own_namespace(tmp_path, monkeypatch):
    monkeypatch.setattr(credentials, "SERVICE_ACCOUNT", tmp_path)
    assert own_namespace() == ""


def test_what_is_named_comes_before_what_is_found(tmp_path):
    everything = {"KUBECONFIG": "from/environment", "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    assert find_credentials(tmp_path / "named", None, everything).source == str(tmp_path / "named")
    assert find_credentials(None, None, everything).source == "from/environment"
    del everything["KUBECONFIG"]
    assert find_credentials(None, None, everything).source == "the service account of this pod"
    assert find_credentials(None, None, {}).source.endswith("/.kube/config")
