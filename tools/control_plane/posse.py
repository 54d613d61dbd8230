"""Posse on a real control plane: what `posse install` prints is applied, and `posse run` may do no more than that allows.

The Deployment is left out, for there is no kubelet to run it; its configuration is used by whoever calls this.
"""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import yaml

from tools.control_plane.assets import find_kubectl
from tools.control_plane.plane import ControlPlane, free_ports
from tools.control_plane.program import Program
from tools.control_plane.users import service_account

SCHEDULER_NAME = "posse"
POSSE_ACCOUNT = service_account("kube-system", "posse")
"""The user a control plane must know for `posse run` to be let in."""
_READY_SECONDS = 60.0
_POSSE = [sys.executable, "-m", "posse"]


def install_posse(plane: ControlPlane, form: str, **settings: Any) -> Path:
    """Return the configuration that was installed, with some of its settings replaced, or of their parts."""
    printed = subprocess.run([*_POSSE, "install", "--form", form], stdout=subprocess.PIPE, check=True).stdout
    objects = [item for item in yaml.safe_load_all(printed) if item["kind"] != "Deployment"]
    kubectl: list[str | Path] = [find_kubectl(), "--kubeconfig", plane.kubeconfig()]
    subprocess.run(
        [*kubectl, "apply", "-f", "-"],
        input=yaml.safe_dump_all(objects).encode(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    [installed] = [item["data"]["scheduler.yaml"] for item in objects if item["kind"] == "ConfigMap"]
    configuration = plane.folder / "posse.yaml"
    configuration.write_text(yaml.safe_dump(_replaced(yaml.safe_load(installed), settings)))
    return configuration


def _replaced(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return old | {key: old[key] | value if isinstance(value, dict) else value for key, value in new.items()}


class PosseRun(Program):
    """`posse run` as the service account that was installed, with probes to ask."""

    def __init__(
        self,
        plane: ControlPlane,
        configuration: Path,
        name: str = "posse",
        kubeconfig: Path | None = None,
    ) -> None:
        [self.port] = free_ports(1)
        access = f"--kubeconfig={kubeconfig or plane.kubeconfig(POSSE_ACCOUNT.name)}"
        words = ["run", f"--config={configuration}", access, f"--port={self.port}"]
        super().__init__(name, [*_POSSE, *words], plane.folder / f"{name}.log")

    def page(self, path: str) -> str:
        """Return what it serves there, or nothing if it does not answer with success."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return str(answer.read().decode())
        except (urllib.error.URLError, OSError):
            return ""

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not self.page("/readyz"):
            if not self.is_running or time.monotonic() > deadline:
                raise self.failure("did not become ready")
            time.sleep(0.1)
