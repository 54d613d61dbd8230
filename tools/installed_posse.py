"""Posse on a real control plane: applies `posse install` and runs `posse run` with those permissions.

There is no kubelet, so the command of the Deployment runs here, with the same arguments, configuration and
account. This is the only way to start Posse beside a control plane.
"""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from posse.control_plane.assets import find_kubectl
from posse.control_plane.plane import ControlPlane, free_ports
from posse.control_plane.program import Program
from posse.control_plane.users import service_account

SCHEDULER_NAME = "posse"
USUAL_NAMESPACE = "kube-system"
POSSE_ACCOUNT = service_account(USUAL_NAMESPACE, "posse")
"""The user a control plane must know for `posse run` to be let in."""
_READY_SECONDS = 60.0
_POSSE = [sys.executable, "-m", "posse"]


CONTROLLERS_ACCOUNT = service_account(USUAL_NAMESPACE, "posse-controllers")


class Installation(NamedTuple):
    """What a pod of the Deployment would run, and the name of its account; and the same for controllers."""

    command: Sequence[str]
    account: str
    controllers: "Installation | None" = None


def install_posse(
    plane: ControlPlane,
    form: str = "auto",
    namespace: str = USUAL_NAMESPACE,
    controllers: str = "",
    words: Sequence[str] = (),
    **settings: Any,
) -> Installation:
    """Install it with more words, and with some settings of its configuration replaced, or of their parts."""
    words = [*words, "--form", form, "--namespace", namespace, "--kubeconfig", str(plane.kubeconfig())]
    words += ["--controllers", controllers]
    printed = subprocess.run([*_POSSE, "install", *words], stdout=subprocess.PIPE, check=True).stdout
    objects = list(yaml.safe_load_all(printed))
    applied = [item for item in objects if item["kind"] != "Deployment"]
    kubectl: list[str | Path] = [find_kubectl(), "--kubeconfig", plane.kubeconfig()]
    subprocess.run(
        [*kubectl, "apply", "-f", "-"],
        input=yaml.safe_dump_all(applied).encode(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    configuration = plane.folder / f"{namespace}.scheduler.yaml"
    (map_of_settings,) = (item for item in objects if item["kind"] == "ConfigMap")
    installed = yaml.safe_load(map_of_settings["data"]["scheduler.yaml"])
    configuration.write_text(yaml.safe_dump(_replaced(installed, settings)))
    found = [_run_by(item, namespace, configuration) for item in objects if item["kind"] == "Deployment"]
    return found[0]._replace(controllers=found[1]) if controllers else found[0]


def _run_by(deployment: dict[str, Any], namespace: str, configuration: Path) -> Installation:
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    arguments = [word.replace("/etc/posse/scheduler.yaml", str(configuration)) for word in container["args"]]
    return Installation([*_POSSE, *arguments], service_account(namespace, pod["serviceAccountName"]).name)


def start_posse(plane: ControlPlane, form: str = "auto", **settings: Any) -> "PosseRun":
    """Install it, and run it until the control plane ends."""
    posse = PosseRun(plane, install_posse(plane, form, **settings))
    plane.run(posse)
    posse.wait_until_ready()
    return posse


def _replaced(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return old | {key: old[key] | value if isinstance(value, dict) else value for key, value in new.items()}


class PosseRun(Program):
    """`posse run` as it was installed, with probes to ask."""

    def __init__(
        self,
        plane: ControlPlane,
        installation: Installation,
        name: str = "posse",
        kubeconfig: Path | None = None,
    ) -> None:
        [self.port] = free_ports(1)
        access = f"--kubeconfig={kubeconfig or plane.kubeconfig(installation.account)}"
        command = [*installation.command, access, f"--port={self.port}"]
        super().__init__(name, command, plane.folder / f"{name}.log")

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
