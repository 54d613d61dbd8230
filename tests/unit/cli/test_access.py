import os
from pathlib import Path

import pytest
import yaml

from posse.apiserver.http.certificates import ensure_certificates
from posse.apiserver.http.kubeconfig import ServerAccess, kubeconfig
from posse.cli.access import read_access
from posse.cli.locations import default_data_dir, kubeconfig_in_force
from posse.cli.problems import Problem


@pytest.fixture
def config(tmp_path):
    certificates = ensure_certificates(tmp_path / "certificates", 1_800_000_000.0)
    return kubeconfig(ServerAccess("https://127.0.0.1:1234", certificates.authority_pem, "secret-token"))


def written(directory, config):
    path = directory / "kubeconfig"
    path.write_text(config if isinstance(config, str) else yaml.safe_dump(config))
    return path


def test_what_posse_writes_posse_reads(tmp_path, config):
    access = read_access(written(tmp_path, config))
    assert access.server == "https://127.0.0.1:1234"
    assert (access.authorization, access.namespace) == ("Bearer secret-token", "default")
    assert access.tls.get_ca_certs()


def test_authorities_in_files_and_plain_http(tmp_path, config):
    cluster = config["clusters"][0]["cluster"]
    del cluster["certificate-authority-data"]
    cluster["certificate-authority"] = "certificates/ca.crt"
    assert read_access(written(tmp_path, config)).tls.get_ca_certs()
    cluster["server"] = "http://localhost"
    config["contexts"][0]["context"]["namespace"] = "team"
    access = read_access(written(tmp_path, config))
    assert (access.server, access.tls, access.namespace) == ("http://localhost:80", None, "team")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda config: "[unclosed", "not valid YAML"),
        (lambda config: "kind: Pod", "kind is not Config"),
        (lambda config: "- a", "kind is not Config"),
        (lambda config: config | {"current-context": "other"}, '"other" in contexts'),
        (lambda config: config | {"users": None}, '"posse" in users'),
        (lambda config: config | {"users": [{"name": "posse", "user": {"exec": {}}}]}, "cannot be used"),
        (lambda config: config | {"clusters": [{"name": "posse", "cluster": {}}]}, "no server address"),
        (
            lambda config: (
                config
                | {
                    "clusters": [
                        {
                            "name": "posse",
                            "cluster": {"server": "https://x", "certificate-authority-data": "%%"},
                        }
                    ]
                }
            ),
            "cannot be used",
        ),
    ],
)
def test_a_bad_kubeconfig_is_named_with_what_is_wrong(tmp_path, config, damage, says):
    path = written(tmp_path, damage(config))
    with pytest.raises(Problem) as raised:
        read_access(path)
    assert str(path) in str(raised.value)
    assert says in str(raised.value)


def test_who_has_no_token_is_known_as_on_any_cluster(tmp_path, config):
    token = tmp_path / "token"
    token.write_text("from-a-file")
    config["users"][0]["user"] = {"tokenFile": str(token)}
    access = read_access(written(tmp_path, config))
    assert (access.server, access.authorization) == ("https://127.0.0.1:1234", "Bearer from-a-file")
    assert access.tls.get_ca_certs()


def test_a_missing_kubeconfig_suggests_posse_up(tmp_path):
    with pytest.raises(Problem, match="posse up"):
        read_access(tmp_path / "none")


def test_the_data_directory_follows_xdg():
    assert default_data_dir({"XDG_DATA_HOME": "/data"}) == Path("/data/posse/default")
    assert default_data_dir({}) == Path.home() / ".local/share/posse/default"


def test_which_kubeconfig_is_in_force(tmp_path):
    environment = {
        "XDG_DATA_HOME": str(tmp_path),
        "KUBECONFIG": os.pathsep.join(["/nowhere", str(tmp_path / "a")]),
    }
    unset = {"XDG_DATA_HOME": str(tmp_path)}
    with pytest.raises(Problem, match="posse up"):
        kubeconfig_in_force(None, unset)
    own = tmp_path / "posse" / "default" / "kubeconfig"
    own.parent.mkdir(parents=True)
    own.touch()
    assert kubeconfig_in_force(None, unset) == own
    with pytest.raises(Problem, match=r"\$KUBECONFIG names /nowhere, .* which does not exist"):
        kubeconfig_in_force(None, environment)
    (tmp_path / "a").touch()
    assert kubeconfig_in_force(None, environment) == tmp_path / "a"
    assert kubeconfig_in_force(Path("chosen"), environment) == Path("chosen")
