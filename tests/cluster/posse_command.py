"""The posse command beside a control plane: run to its end, or as the scheduler with no more than its own role."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tools.control_plane.plane import ControlPlane
from tools.control_plane.program import Program

NAMESPACE = "posse-system"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:posse"


def posse(plane: ControlPlane, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command as the administrator of the control plane; it must succeed."""
    environment = os.environ | {"KUBECONFIG": str(plane.kubeconfig()), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "posse", *words], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


@contextmanager
def installed_scheduler(plane: ControlPlane, folder: Path, *words: str) -> Iterator[Program]:
    """Install Posse, and be the pod that a cluster with kubelets would run: same arguments, same configuration, same role."""
    posse(plane, "install", "--apply", "--namespace", NAMESPACE)
    printed = list(yaml.safe_load_all(posse(plane, "install", "--namespace", NAMESPACE).stdout))
    configuration = folder / "scheduler.yaml"
    configuration.write_text(only(printed, "ConfigMap")["data"][configuration.name])
    (container,) = only(printed, "Deployment")["spec"]["template"]["spec"]["containers"]
    arguments = [word.replace("/etc/posse", str(folder)) for word in container["args"]]
    access = ["--kubeconfig", plane.kubeconfig(ACCOUNT), "--port", "0"]
    command = [sys.executable, "-m", "posse", *arguments, *access, *words]
    scheduler = Program("posse", command, folder / "posse.log")
    scheduler.start()
    try:
        yield scheduler
    finally:
        scheduler.stop()


def only(objects: list[dict], kind: str) -> dict:
    (found,) = (obj for obj in objects if obj["kind"] == kind)
    return found
