"""Run the black-box scenarios of the shared conformance suite against a fresh embedded cluster.

All scenarios run and are counted by tag. Those named in tests/conformance/must-pass.txt may not fail; the list only grows.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUST_PASS = ROOT / "tests" / "conformance" / "must-pass.txt"
REPORT = ROOT / "build" / "conformance.xml"
READY_SECONDS = 30


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--required", action="store_true", help="run only the scenarios that may not fail")
    parser.add_argument("--timeout", default="6", help="seconds an expectation may take")
    options, further = parser.parse_known_args()
    suite = Path(os.environ.get("CONFORMANCE_SUITE", ROOT.parent / "shared" / "conformance"))
    if not (suite / "run.py").exists():
        print(
            f"The conformance suite is not at {suite}. It is kept beside the project, not in it; "
            "point CONFORMANCE_SUITE to the folder that holds its run.py.",
            file=sys.stderr,
        )
        return 2
    required = MUST_PASS.read_text().split()
    further += ["--timeout", options.timeout]
    if options.required:
        further += ["--filter", f"^({'|'.join(required)})$"]
    failed = run_against_fresh_cluster(suite, further)
    broken = sorted(set(required) & failed)
    if broken:
        print("These scenarios passed before and fail now: " + " ".join(broken), file=sys.stderr)
    return 1 if broken else 0


def run_against_fresh_cluster(suite: Path, arguments: list[str]) -> set[str]:
    """Return the names of the scenarios that failed."""
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="posse-conformance-") as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        cluster = start_cluster(Path(folder), kubeconfig)
        try:
            command: list[str | Path] = [
                sys.executable,
                suite / "run.py",
                "--kubeconfig",
                kubeconfig,
                "--junit",
                REPORT,
                *arguments,
            ]
            subprocess.run(command, check=False)
        finally:
            cluster.terminate()
            cluster.wait(timeout=20)
    if not REPORT.exists():
        sys.exit("The conformance runner stopped before it could report; see its output above.")
    cases = ET.parse(REPORT).getroot().iter("testcase")
    return {case.attrib["name"] for case in cases if case.find("failure") is not None}


def start_cluster(folder: Path, kubeconfig: Path) -> subprocess.Popen[bytes]:
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "posse",
        "up",
        "--nodes",
        "0",
        "--port",
        "0",
        "--data-dir",
        folder / "data",
    ]
    with (folder / "log").open("wb") as log:
        cluster = subprocess.Popen([*command, "--kubeconfig", kubeconfig], stdout=log, stderr=log)
    deadline = time.monotonic() + READY_SECONDS
    while not kubeconfig.exists():
        if cluster.poll() is not None or time.monotonic() > deadline:
            sys.exit("The embedded cluster did not start:\n" + (folder / "log").read_text())
        time.sleep(0.1)
    return cluster


if __name__ == "__main__":
    sys.exit(main())
