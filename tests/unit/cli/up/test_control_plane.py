"""`posse up --control-plane kubernetes` before any program starts: options, missing programs, progress of a build."""

from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from posse.cli.up.programs import BuildBars, BuildLines, ready_programs
from posse.control_plane.building import BuildProgress
from posse.runtime.process.options import ControlPlaneMode
from tests.unit.control_plane.test_assets import executable


@pytest.fixture
def asked(monkeypatch):
    calls = []
    monkeypatch.setattr("posse.cli.up.run.serve", lambda options, examples: calls.append(options))
    return calls


def test_it_has_a_data_directory_of_its_own(posse, asked):
    assert posse("up").code == posse("up", "--control-plane", "kubernetes").code == 0
    embedded, real = asked
    assert (embedded.control_plane, embedded.data_dir.name) == (ControlPlaneMode.EMBEDDED, "default")
    assert (real.control_plane, real.data_dir.name) == (ControlPlaneMode.KUBERNETES, "kubernetes")


@pytest.mark.parametrize(
    ("content", "mode", "other"),
    [("etcd", "embedded", "kubernetes"), ("objects.sqlite", "kubernetes", "embedded")],
)
def test_a_directory_of_the_other_mode_is_left_alone(posse, asked, tmp_path, content, mode, other):
    (tmp_path / content).mkdir()
    refused = posse("up", "--control-plane", mode, "--data-dir", tmp_path)
    assert refused.code == 1
    assert f"holds a cluster of --control-plane {other}; use another directory" in refused.err
    assert asked == []


def test_binaries_are_for_kubernetes_only(posse, asked):
    assert "needs --control-plane kubernetes" in posse("up", "--binaries", "/somewhere").err
    assert posse("up", "--control-plane", "kubernetes", "--binaries", "/some/where").code == 0
    assert asked[0].binaries == Path("/some/where")


def test_a_missing_program_is_named_with_the_way_to_get_it(posse, tmp_path):
    executable(tmp_path / "etcd", "")
    missing = posse("up", "--control-plane", "kubernetes", "--binaries", tmp_path)
    assert missing.code == 1
    assert f"kube-apiserver is not in {tmp_path}" in missing.err
    assert "https://dl.k8s.io/" in missing.err


def test_without_go_the_other_way_is_told(posse, tmp_path, monkeypatch):
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("POSSE_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = posse("up", "--control-plane", "kubernetes")
    assert missing.code == 1
    assert "needs Go 1.26" in missing.err
    assert "--binaries" in missing.err


def test_programs_of_the_folder_are_used(tmp_path):
    for name in ("etcd", "kube-controller-manager"):
        executable(tmp_path / name, "")
    executable(tmp_path / "kube-apiserver", "#!/bin/sh\necho Kubernetes v1.37.0")
    assert ready_programs(tmp_path).minor == "1.37"


def test_a_build_shows_a_bar_on_a_terminal():
    console = Console(width=100, force_terminal=True, record=True)
    bars = BuildBars(Progress(console=console))
    for compiled, total in ((0, 0), (30, 120), (120, 120)):
        bars.tell(BuildProgress("kube-apiserver", "1.37.1", compiled, total))
    [bar] = bars._progress.tasks
    assert (bar.description, bar.completed, bar.total) == ("Building kube-apiserver 1.37.1", 120, 120)


def test_a_build_writes_lines_elsewhere(capsys):
    lines = BuildLines()
    for compiled, total in ((0, 0), (30, 120), (60, 120), (120, 120)):
        lines.tell(BuildProgress("etcd", "3.6.16", compiled, total))
    assert capsys.readouterr().out.splitlines() == [
        "Building etcd 3.6.16 ...",
        "  etcd 3.6.16: 120 of 120 packages compiled",
    ]
