"""Run the black-box scenarios of the conformance suite on a fresh cluster: embedded, or real with --real.

Results are counted by tag. Scenarios in tests/conformance/must-pass.txt must pass; they may be missing
only if a filter excluded them. The list only grows.
"""

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from posse.control_plane.assets import NATIVE, WITHOUT_GROUPS, MissingProgramError, Release
from posse.control_plane.plane import ControlPlane, free_ports, running_plane
from posse.control_plane.program import Program
from tools.installed_posse import POSSE_ACCOUNT, SCHEDULER_NAME, start_posse

ROOT = Path(__file__).resolve().parent.parent
MUST_PASS = ROOT / "tests" / "conformance" / "must-pass.txt"
REPORT = ROOT / "build" / "conformance.xml"
READY_SECONDS = 30
# Short backoff: the scenarios wait for seconds, not for the minutes of the defaults.
BACK_OFF = {"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1}
# Claims of devices are made and released by controllers; the scenarios see to everything else themselves.
CLAIM_CONTROLLERS = "resourceclaim-controller,garbage-collector-controller,device-taint-eviction-controller"
NOT_THERE = ("--exclude", "^dra-", "--exclude", "^place-first-then-evict-gang$")
"""That Kubernetes has no devices, and custom PodGroups in use are protected from deletion."""

Words = list[str | Path]
Cluster = Callable[[Path], AbstractContextManager[Words]]
"""Starts a cluster with its files in the folder; yields the arguments for the runner of the suite."""


def main() -> int:
    options, further = arguments()
    suite = Path(os.environ.get("CONFORMANCE_SUITE", ROOT.parent / "shared" / "conformance"))
    if not (suite / "run.py").exists():
        print(
            f"The conformance suite is not at {suite}. It is kept beside the project, not in it; "
            "point CONFORMANCE_SUITE to the folder that holds its run.py.",
            file=sys.stderr,
        )
        return 2
    required = set(MUST_PASS.read_text().split())
    further += ["--timeout", options.timeout]
    if options.required:
        further += ["--filter", f"^({'|'.join(sorted(required))})$"]
    try:
        outcome = run_against_fresh_cluster(CLUSTERS[options.real], suite, further)
    except MissingProgramError as missing:
        print(missing, file=sys.stderr)
        return 2
    wrong = complaints(required, outcome)
    for complaint in wrong:
        print(complaint, file=sys.stderr)
    return 1 if wrong else 0


class Outcome(NamedTuple):
    """By name; `left_out` are scenarios of the suite that were not asked for."""

    ran: set[str]
    failed: set[str]
    left_out: set[str]


def complaints(required: set[str], outcome: Outcome) -> list[str]:
    broken = required & outcome.failed
    missing = required - outcome.ran - outcome.left_out
    said = {
        "These scenarios passed before and fail now: ": broken,
        "These scenarios must pass and did not run: ": missing,
    }
    return [words + " ".join(sorted(names)) for words, names in said.items() if names]


def arguments() -> tuple[argparse.Namespace, list[str]]:
    """Return the options, and what else was said: that is for the runner of the suite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--required", action="store_true", help="run only the scenarios that may not fail")
    parser.add_argument("--timeout", default="6", help="seconds an expectation may take")
    parser.add_argument(
        "--real",
        choices=[name for name in CLUSTERS if name],
        help="judge this scheduler on a real kube-apiserver instead of the embedded cluster",
    )
    return parser.parse_known_args()


def run_against_fresh_cluster(cluster: Cluster, suite: Path, words: list[str]) -> Outcome:
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.unlink(missing_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="posse-conformance-") as folder,
        cluster(Path(folder)) as access,
    ):
        runner: Words = [sys.executable, suite / "run.py", *access, *words]
        left_out = listed([sys.executable, suite / "run.py"]) - listed(runner)
        subprocess.run([*runner, "--junit", REPORT], check=False)
    if not REPORT.exists():
        sys.exit("The conformance runner stopped before it could report; see its output above.")
    cases = list(ET.parse(REPORT).getroot().iter("testcase"))
    failed = {case.attrib["name"] for case in cases if case.find("failure") is not None}
    return Outcome({case.attrib["name"] for case in cases}, failed, left_out)


def listed(runner: Words) -> set[str]:
    """Return which scenarios it would run; the last line counts them."""
    said = subprocess.run([*runner, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[0] for line in said.splitlines()[:-1]}


@contextmanager
def embedded(folder: Path) -> Iterator[Words]:
    kubeconfig = folder / "kubeconfig"
    words: Words = ["--nodes", "0", "--port", "0", "--data-dir", folder / "data"]
    program = Program(
        "posse",
        [sys.executable, "-m", "posse", "up", *words, "--kubeconfig", kubeconfig],
        folder / "posse.log",
    )
    program.start()
    try:
        deadline = time.monotonic() + READY_SECONDS
        while not kubeconfig.exists():
            if not program.is_running or time.monotonic() > deadline:
                raise program.failure("did not start")
            time.sleep(0.1)
        yield ["--kubeconfig", kubeconfig]
    finally:
        program.stop()


@contextmanager
def with_kube_scheduler(folder: Path) -> Iterator[Words]:
    """Judge the scheduler the scenarios are about: what it fails on this machine, no other need pass."""
    with running_plane(folder) as plane:
        plane.start_controller_manager(f"--controllers={CLAIM_CONTROLLERS}")
        plane.start_scheduler(**BACK_OFF)
        yield ["--kubeconfig", plane.kubeconfig()]


@contextmanager
def with_posse(folder: Path) -> Iterator[Words]:
    """Posse as it is installed, with only the rights that this gives it."""
    with installed(folder, NATIVE, "native") as plane:
        plane.start_controller_manager(f"--controllers={CLAIM_CONTROLLERS}")
        yield ["--kubeconfig", plane.kubeconfig(), "--scheduler-name", SCHEDULER_NAME]


@contextmanager
def with_custom_groups(folder: Path) -> Iterator[Words]:
    """The same on a Kubernetes without PodGroups: they are custom resources, and only gang scenarios run."""
    with installed(folder, WITHOUT_GROUPS, "crd") as plane:
        [port] = free_ports(1)
        words: Words = ["-m", "tools.custom_groups", plane.kubeconfig(), str(port)]
        plane.run(Program("custom-groups", [sys.executable, *words], folder / "custom-groups.log"))
        wait_for_port(port)
        yield [
            "--server",
            f"http://127.0.0.1:{port}",
            "--scheduler-name",
            SCHEDULER_NAME,
            "--tags",
            "gang",
            *NOT_THERE,
        ]


@contextmanager
def installed(folder: Path, release: Release, form: str) -> Iterator[ControlPlane]:
    with running_plane(folder, release, [POSSE_ACCOUNT]) as plane:
        start_posse(plane, form, **BACK_OFF)
        yield plane


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    sys.exit(f"No server listens on port {port}.")


CLUSTERS: dict[str | None, Cluster] = {
    None: embedded,
    "posse": with_posse,
    "posse-crd": with_custom_groups,
    "kube-scheduler": with_kube_scheduler,
}


if __name__ == "__main__":
    sys.exit(main())
