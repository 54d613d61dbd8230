"""docs/guides/watching-decisions.md, run as it is written: every line of its `sh` blocks, in a shell."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "watching-decisions.md"
PATIENCE_SECONDS = 30.0


def commands():
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


class Shell:
    """A directory with the examples and a cluster that was started as the guide says."""

    def __init__(self, directory):
        self.directory = directory
        (directory / "examples").symlink_to(ROOT / "examples")
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        kubeconfig = directory / "data" / "kubeconfig"
        self.environment = os.environ | {
            "PATH": programs,
            "KUBECONFIG": str(kubeconfig),
            "XDG_DATA_HOME": str(directory / "share"),
        }
        words = ["posse", "up", "--log-decisions", "decisions.jsonl", "--port", "0", "--data-dir", "data"]
        assert " ".join(words[:4]) in PAGE.read_text()
        with (directory / "output").open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=directory,
                env=self.environment,
                stdout=output,
                stderr=output,
            )
        self.wait_until(kubeconfig.exists)

    def run(self, line):
        done = subprocess.run(
            line,
            shell=True,
            cwd=self.directory,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout

    def decisions(self):
        return [json.loads(line) for line in (self.directory / "decisions.jsonl").read_text().splitlines()]

    def outcomes(self, group):
        return [line["outcome"] for line in self.decisions() if line.get("group") == group]

    def wait_until(self, holds):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            assert time.monotonic() < deadline, (self.directory / "output").read_text()
            time.sleep(0.1)


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path)
    yield shell
    shell.process.terminate()
    assert shell.process.wait(PATIENCE_SECONDS) == 0


def test_decisions_can_be_watched_as_the_guide_says(shell):
    lines = commands()
    applying = [line for line in lines if line.startswith("posse apply")]
    assert lines[: len(applying)] == applying
    for line in applying:
        shell.run(line)
    shell.wait_until(lambda: "bound" in shell.outcomes("default/trainer"))
    shell.wait_until(lambda: "refused" in shell.outcomes("default/colossus"))
    shell.wait_until(lambda: "FailedScheduling" in shell.run("posse get events"))
    told = {line: shell.run(line) for line in lines[len(applying) :]}
    assert "PodGroupInitiallyScheduled" in told["posse get podgroup colossus -o yaml"]
    assert "PodScheduled" in told["posse get pod colossus-8 -o yaml"]
    assert 'scheduler_pending_pods{queue="unschedulable"} 9.0' in "".join(told.values())
    assert 'scheduler_unschedulable_pods{plugin="NodeResourcesFit"' in "".join(told.values())


def metrics_in(text):
    return set(re.findall(r"`((?:scheduler|posse|kubernetes|jobset)_[a-z_]+)`", text))


def test_every_metric_the_guide_names_is_there(shell):
    page, metrics = PAGE.read_text(), shell.run("posse get --raw /metrics")
    before, _, rest = page.partition("these are absent:")
    listed, _, after = rest.partition("\n\nPosse decides")
    absent, named = metrics_in(listed), metrics_in(before + after)
    typed = set(re.findall(r"^# TYPE (\S+)", metrics, re.MULTILINE))
    assert named - typed - {"jobset_name"} == set()
    assert absent
    assert absent & typed == set()
    assert {name for name in typed if not name.startswith("process_")} - named == set()
