import asyncio
import base64
import json
import os
import ssl
import stat
import sys

import pytest
import yaml
from kubernetes_asyncio import client, config

from posse.apiserver.http.certificates import ensure_certificates
from posse.client import credentials
from posse.client.cluster_access import CredentialsError
from posse.client.credentials import (
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
            {"name": "two", "context": {"cluster": "c"}},
            {"name": "stranger", "context": {"cluster": "c", "user": "nobody"}},
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


V1 = "client.authentication.k8s.io/v1"
ANSWER = {"apiVersion": V1, "kind": "ExecCredential", "status": {"token": "made"}}


def login(folder, *lines, **more):
    """A user whose credentials a program hands out, which lies beside the kubeconfig."""
    program = folder / "login"
    program.write_text("\n".join([f"#!{sys.executable}", "import json, os, sys", *lines]))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"apiVersion": V1, "command": "./login", "interactiveMode": "Never", **more}}


def answering(folder, answer, **more):
    return login(folder, f"print({json.dumps(answer)!r})", **more)


def test_a_token_that_a_program_hands_out(tmp_path):
    assert loaded(kubeconfig(tmp_path / "k", answering(tmp_path, ANSWER))).authorization == "Bearer made"


def test_a_program_is_told_what_the_kubeconfig_says(tmp_path):
    lines = [
        'info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])',
        'token = " ".join([sys.argv[1], os.environ["ZONE"], info["spec"]["cluster"]["server"]])',
        f'print(json.dumps({{"apiVersion": "{V1}", "kind": "ExecCredential", "status": {{"token": token}}}}))',
    ]
    more = {"args": ["--team"], "env": [{"name": "ZONE", "value": "north"}], "provideClusterInfo": True}
    access = loaded(kubeconfig(tmp_path / "k", login(tmp_path, *lines, **more)))
    assert access.authorization == "Bearer --team north http://127.0.0.1:1/"


def test_a_certificate_that_a_program_hands_out(tmp_path, tls_files, authority):
    status = {
        "clientCertificateData": tls_files.server_certificate.read_text(),
        "clientKeyData": tls_files.server_key.read_text(),
    }
    cluster = {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": base64.b64encode(authority).decode(),
    }
    user = answering(tmp_path, ANSWER | {"status": status})
    access = loaded(kubeconfig(tmp_path / "k", user, cluster))
    assert access.authorization == ""
    assert access.tls is not None


@pytest.mark.parametrize(
    ("user", "says"),
    [
        ({"exec": {"apiVersion": V1, "command": "/bin/false"}}, "/bin/false failed with exit code 1"),
        ({"exec": {"apiVersion": V1, "command": "/bin/echo"}}, "something else than an ExecCredential"),
        ({"exec": {"command": "/bin/echo"}}, "exec.apiVersion is ''"),
        (
            {"exec": {"apiVersion": V1, "command": "not-there", "installHint": "get it from us"}},
            "not-there cannot be run: no such file or directory; get it from us",
        ),
        ({"exec": {"apiVersion": V1, "command": "x", "interactiveMode": "Always"}}, "there is no terminal"),
        ({"exec": "login"}, "got `str` - at `$.users[0].user.exec`"),
        ({"auth-provider": {"name": "gcp"}}, "the auth provider 'gcp' is not known"),
        ({"auth-provider": {"name": "oidc"}}, "is not a token"),
        ({"tokenFile": "/not/there"}, "/not/there"),
        ({"token": "two\r\nlines"}, "characters that no token has"),
    ],
)
def test_a_user_that_cannot_be_used_is_told(tmp_path, user, says):
    assert says in refused(kubeconfig(tmp_path / "k", user))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (ANSWER | {"apiVersion": f"{V1}beta1"}, f"not {V1} ExecCredential"),
        (ANSWER | {"status": {}}, "neither token nor certificate"),
        (ANSWER | {"status": {"clientKeyData": "k"}}, "a key without certificate"),
    ],
)
def test_a_program_that_hands_out_something_else_is_told(tmp_path, answer, says):
    assert says in refused(kubeconfig(tmp_path / "k", answering(tmp_path, answer)))


def id_token(expires):
    claims = base64.urlsafe_b64encode(json.dumps({"exp": expires}).encode()).decode().rstrip("=")
    return f"head.{claims}.signature"


def test_the_token_that_kubectl_keeps_is_used_until_it_expires(tmp_path):
    def user(expires):
        return {"auth-provider": {"name": "oidc", "config": {"id-token": id_token(expires)}}}

    alive = loaded(kubeconfig(tmp_path / "k", user(4_000_000_000)))
    assert alive.authorization == f"Bearer {id_token(4_000_000_000)}"
    assert "any kubectl command renews it" in refused(kubeconfig(tmp_path / "k", user(1_000)))


def test_a_name_and_a_password(tmp_path):
    user = {"username": "u", "password": "p"}
    assert loaded(kubeconfig(tmp_path / "k", user)).authorization == "Basic dTpw"


def test_a_certificate_needs_its_key(tmp_path, tls_files):
    cluster = {"server": "https://127.0.0.1:1"}
    user = {"client-certificate": str(tls_files.server_certificate)}
    assert "has only one" in refused(kubeconfig(tmp_path / "k", user, cluster))
    whole = user | {"client-key": str(tls_files.server_key)}
    assert loaded(kubeconfig(tmp_path / "k", whole, cluster)).tls is not None


def test_of_several_files_the_first_that_has_a_name_counts(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "token").write_text("beside the second")
    first = kubeconfig(tmp_path / "first", {}, users=None)
    second = kubeconfig(tmp_path / "other" / "second", {"tokenFile": "token"}, {"server": "https://not.this"})
    access = loaded(os.pathsep.join([str(tmp_path / "missing"), str(first), str(second)]))
    assert (access.server, access.authorization) == ("http://127.0.0.1:1", "Bearer beside the second")


@pytest.mark.parametrize(
    "user", [{"token": "t"}, {"username": "u", "password": "p"}, {"tokenFile": "beside"}, {}]
)
def test_the_stock_client_reads_the_same(tmp_path, user):
    (tmp_path / "beside").write_text("t")
    cluster = {
        "server": "https://127.0.0.1:1/",
        "insecure-skip-tls-verify": True,
        "tls-server-name": "n",
        "proxy-url": "http://p:1",
    }
    path = kubeconfig(tmp_path / "k", user, cluster)
    access, theirs = loaded(path), client.Configuration()
    asyncio.run(config.load_kube_config(str(path), client_configuration=theirs, persist_config=False))
    assert access.server == theirs.host
    assert access.authorization == theirs.api_key.get("BearerToken", "")
    assert (access.tls_name, access.proxy) == (theirs.tls_server_name, theirs.proxy)
    assert (access.tls.verify_mode is ssl.CERT_NONE) == (not theirs.verify_ssl)


def test_the_context_says_who_we_are(tmp_path):
    path = kubeconfig(tmp_path / "k", {"token": "secret"})
    assert loaded(path, "two").authorization == ""
    assert 'no entry "three" in contexts; it has one, two, stranger' in refused(path, "three")
    assert 'no entry "nobody" in users; it has u' in refused(path, "stranger")


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


@pytest.mark.parametrize("text", ["", "just words", "kind: Config", "a: [b", "users: &a [*a]"])
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
