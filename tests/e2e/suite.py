"""The program with Kubernetes' end-to-end tests: how it is run, and what it reports."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from posse.control_plane.go_modules import BuiltProgram, GoModule
from tests.e2e.clusters import NODES

MODULE = GoModule(Path(__file__).parent / "kubernetes-e2e", "k8s.io/kubernetes", {"e2e": "."})
PROGRAM = BuiltProgram(MODULE, "e2e")
# The parts of the program whose tests are run; others came along with what these import.
PARTS = r"\[sig-(api-machinery|scheduling)\]"
PASSES, FAILS, LEFT_OUT, SKIPS = "passes", "FAILS", "left out", "skips itself"
LONGEST_DETAIL = 600
NANOSECONDS = 1e-9


@dataclass(frozen=True)
class Verdict:
    test: str
    result: str
    detail: str = ""

    @property
    def line(self) -> str:
        return f"{self.result:13}{self.test}" + (f"\n{'':17}{self.detail}" if self.detail else "")


def run_suite(kubeconfig: Path, folder: Path, focus: str, reasons: Mapping[str, str]) -> list[Verdict]:
    """Run the tests that `focus` matches; `reasons` say, by part of their name, which are left out."""
    report, log = folder / "report.json", folder / "e2e.log"
    command = [
        PROGRAM.path,
        f"--kubeconfig={kubeconfig}",
        "--provider=skeleton",
        "--disable-log-dump",
        f"--num-nodes={NODES}",
        f"--ginkgo.focus={focus}",
        *(f"--ginkgo.skip={re.escape(part)}" for part in reasons),
        f"--ginkgo.json-report={report}",
        "--ginkgo.timeout=3h",
        "--ginkgo.no-color",
    ]
    with log.open("w") as output:
        subprocess.run(command, stdout=output, stderr=output, cwd=folder, check=False)
    if not report.exists():
        raise RuntimeError(f"the tests did not run: {log.read_text()[-2000:]}")
    return sorted(_verdicts(json.loads(report.read_text()), focus, reasons), key=lambda each: each.test)


def _verdicts(reports: list[dict], focus: str, reasons: Mapping[str, str]) -> Iterator[Verdict]:
    for spec in reports[0]["SpecReports"] or ():
        name = " ".join([*(spec["ContainerHierarchyTexts"] or ()), spec["LeafNodeText"]])
        if spec["LeafNodeType"] == "It" and re.search(PARTS, name) and re.search(focus, name):
            yield _verdict(name, spec, reasons)
        elif spec["LeafNodeType"] != "It" and spec["State"] not in {"passed", "skipped"}:
            yield Verdict(f"{spec['LeafNodeType']} {name}", FAILS, _failure(spec))


def _verdict(name: str, spec: dict, reasons: Mapping[str, str]) -> Verdict:
    if spec["State"] == "passed":
        return Verdict(name, PASSES, f"{spec['RunTime'] * NANOSECONDS:.0f} s")
    if reason := next((reason for part, reason in reasons.items() if part in name), ""):
        return Verdict(name, LEFT_OUT, reason)
    if spec["State"] == "skipped":
        return Verdict(name, SKIPS, _failure(spec))
    return Verdict(name, FAILS, _failure(spec))


def _failure(spec: dict) -> str:
    return " ".join(str((spec.get("Failure") or {}).get("Message", "")).split())[:LONGEST_DETAIL]
