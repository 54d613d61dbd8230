"""Where the programs of Kubernetes come from: pinned, built once, or brought along; and what is said when they are missing."""

import re

import pytest

from posse.control_plane.assets import (
    NATIVE,
    NEEDED,
    RELEASES,
    WITHOUT_GROUPS,
    MissingProgramError,
    built_programs,
    find_program,
    release_in,
)
from posse.control_plane.go_modules import ETCD, BuiltProgram, cache_folder
from tools import cluster_assets

FAKE_GO = """#!/bin/sh
if [ "$1" = list ]; then echo k8s.io/some/package; exit; fi
echo "$@" >> {calls}
echo k8s.io/some/package >&2
while [ "$1" != -o ]; do shift; done
echo program > "$2"
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("POSSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.argv", ["cluster_assets"])
    return tmp_path / "cache"


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def go(tmp_path, monkeypatch):
    """A compiler that only notes what it was asked for."""
    calls = tmp_path / "calls"
    calls.touch()
    executable(tmp_path / "bin" / "go", FAKE_GO.format(calls=calls))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    return calls


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.minor)
def test_all_modules_are_pinned_to_one_version(release):
    pins = (release.module.folder / "go.mod").read_text()
    assert release.version.startswith(f"{release.minor}.")
    staging = set(re.findall(r"=> k8s\.io/\S+ v0\.(\S+)", pins))
    assert staging == {release.version.removeprefix("1.")}


@pytest.mark.parametrize(
    "module", [NATIVE.module, WITHOUT_GROUPS.module, ETCD], ids=lambda module: module.folder.name
)
def test_each_program_is_pinned_as_a_tool(module):
    """So that go.sum is complete for it."""
    for package in module.packages.values():
        assert re.search(rf"^(tool |\t){re.escape(package)}$", module.text, re.MULTILINE)


def test_each_release_has_the_programs_its_tests_need():
    assert set(NATIVE.module.packages) == {
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubectl",
    }
    assert list(WITHOUT_GROUPS.module.packages) == ["kube-apiserver"]


def test_the_cache_lies_where_caches_lie(tmp_path):
    assert cache_folder({"POSSE_CACHE": "/here"}).as_posix() == "/here"
    assert cache_folder({"XDG_CACHE_HOME": "/there"}).as_posix() == "/there/posse"
    assert cache_folder({}).parts[-2:] == (".cache", "posse")


def test_what_is_not_built_is_told_with_the_way_to_get_it():
    with pytest.raises(MissingProgramError, match=r"make cluster-assets.*KUBEBUILDER_ASSETS"):
        find_program(NATIVE, "kube-apiserver")


def test_programs_brought_along_are_used(tmp_path, monkeypatch):
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    executable(tmp_path / "kube-apiserver", "#!/bin/sh\necho Kubernetes v1.37.9")
    executable(tmp_path / "etcd", "")
    assert find_program(NATIVE, "etcd") == tmp_path / "etcd"
    with pytest.raises(MissingProgramError, match="kube-scheduler is not in"):
        find_program(NATIVE, "kube-scheduler")
    with pytest.raises(MissingProgramError, match=r"has Kubernetes 1\.37, and this needs 1\.33"):
        find_program(WITHOUT_GROUPS, "kube-apiserver")
    assert cluster_assets.main() == 0


def test_everything_is_built_once(go, cache):
    assert cluster_assets.main() == 0
    first = go.read_text().splitlines()
    modules = (ETCD, NATIVE.module, WITHOUT_GROUPS.module)
    assert len(first) == sum(len(module.packages) for module in modules)
    assert sum("gitVersion=v1." in call for call in first) == len(first) - len(ETCD.packages)
    assert find_program(WITHOUT_GROUPS, "kube-apiserver").read_text() == "program\n"
    assert cluster_assets.main() == 0
    assert go.read_text().splitlines() == first
    assert not list((cache / "go-build").glob("*"))


def test_only_what_is_missing_is_built(go):
    executable(NATIVE.module.built("kube-apiserver"), "there")
    assert cluster_assets.main() == 0
    assert NATIVE.module.built("kube-apiserver").read_text() == "there"
    assert sum("cmd/kube-apiserver" in call for call in go.read_text().splitlines()) == 1


def test_a_compiler_that_fails_is_quoted(tmp_path, go, capsys):
    executable(tmp_path / "bin" / "go", "#!/bin/sh\necho no such module >&2\nexit 1")
    assert cluster_assets.main() == 1
    said = capsys.readouterr().err
    assert "etcd could not be built" in said
    assert "no such module" in said


def test_without_a_compiler_the_other_way_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cluster_assets.main() == 2
    assert "KUBEBUILDER_ASSETS" in capsys.readouterr().err


def test_a_folder_says_which_release_it_has(tmp_path):
    executable(tmp_path / "kube-apiserver", "#!/bin/sh\necho Kubernetes v1.35.2")
    executable(tmp_path / "etcd", "")
    with pytest.raises(MissingProgramError, match=r"kube-controller-manager is not in .*dl\.k8s\.io"):
        release_in(tmp_path)
    executable(tmp_path / "kube-controller-manager", "")
    assert (release_in(tmp_path).minor, release_in(tmp_path).gates) == ("1.35", ())
    executable(tmp_path / "other" / "kube-apiserver", "#!/bin/sh\necho Kubernetes v1.37.9")
    for name in ("etcd", "kube-controller-manager"):
        executable(tmp_path / "other" / name, "")
    assert release_in(tmp_path / "other") is NATIVE


def test_every_release_comes_with_the_same_etcd():
    for release in (NATIVE, WITHOUT_GROUPS):
        assert BuiltProgram(ETCD, "etcd") in built_programs(release, NEEDED)


def test_etcd_tells_how_far_a_watch_has_come():
    """Before 3.5.13, kube-apiserver lets lists and watches at a version of another kind time out."""
    assert tuple(int(part) for part in ETCD.version.split(".")) >= (3, 5, 13)
