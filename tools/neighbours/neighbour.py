"""A controller of another project: its manifests with loopback webhooks, and its program beside the cluster.

What its `config/default` renders is applied, the Deployment too: the simulated nodes pretend to run it, and
Posse sees that the project is there. The program itself runs here, and webhooks are called at its port.
"""

import base64
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from posse.apiserver.http.certificates import Certificates, ensure_certificates
from posse.control_plane.assets import find_kubectl
from posse.control_plane.go_modules import GoModule
from posse.control_plane.plane import free_ports
from posse.control_plane.program import Program
from tools.neighbours.assets import find_neighbour, source_of

Json = dict[str, Any]

_READY_SECONDS = 120.0
# It would need a way from the API server to the program that only a cluster has.
_LEFT_OUT = frozenset({"APIService"})
_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


@dataclass(frozen=True, slots=True)
class Project:
    module: GoModule
    configuration: str
    """apiVersion of its configuration file."""
    settings: Mapping[str, Any]
    """Further settings of that file."""
    arguments: tuple[str, ...] = ()
    certificates_at: str = ""
    """Where in /etc it looks for certificates, whatever its configuration says."""
    manifests: str = "config/default"


class Neighbour(Program):
    def __init__(self, project: Project, kubeconfig: Path, folder: Path) -> None:
        self._project = project
        self._kubeconfig = kubeconfig
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._webhook_port, self._health_port = free_ports(2)
        self._certificates = ensure_certificates(folder / "tls", time.time())
        shutil.copy(self._certificates.server_certificate, folder / "tls" / "tls.crt")
        shutil.copy(self._certificates.server_key, folder / "tls" / "tls.key")
        configuration = folder / "configuration.yaml"
        configuration.write_text(yaml.safe_dump(self._configuration()))
        name = project.module.folder.name
        command: list[str | Path] = [
            find_neighbour(project.module),
            f"--config={configuration}",
            f"--kubeconfig={kubeconfig}",
        ]
        command += project.arguments
        if project.certificates_at:
            command = [*_with_own_etc(project.certificates_at, folder / "tls"), *command]
        super().__init__(name, command, folder / f"{name}.log")

    def install(self) -> None:
        """Apply its manifests and start it. Webhooks come last: until they answer, they refuse objects."""
        objects = loopback(self._rendered(), self._webhook_port, self._certificates)
        self._apply([obj for obj in objects if obj["kind"] not in _WEBHOOKS])
        self.start()
        self.wait_until_ready()
        self._apply([obj for obj in objects if obj["kind"] in _WEBHOOKS])

    def _apply(self, objects: list[Json]) -> None:
        given = yaml.safe_dump_all(objects)
        self._kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", given=given)

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not self._is_ready():
            if not self.is_running or time.monotonic() > deadline:
                raise self.failure("did not become ready")
            time.sleep(0.2)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._health_port}/readyz", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def _rendered(self) -> list[Json]:
        source = source_of(self._project.module)
        rendered = self._kubectl("kustomize", str(source / self._project.manifests))
        return [obj for obj in yaml.safe_load_all(rendered) if obj]

    def _kubectl(self, *words: str, given: str = "") -> str:
        command = [str(find_kubectl()), f"--kubeconfig={self._kubeconfig}", *words]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"kubectl {words[0]} failed:\n{done.stderr}")
        return done.stdout

    def _configuration(self) -> Json:
        return {
            "apiVersion": self._project.configuration,
            "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "metrics": {"bindAddress": "0"},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self._health_port}"},
            "webhook": {
                "host": "127.0.0.1",
                "port": self._webhook_port,
                "certDir": str(self._folder / "tls"),
            },
            **self._project.settings,
        }


def _with_own_etc(path: str, certificates: Path) -> list[str | Path]:
    """Return how to start a program that sees nothing in /etc but a link to its certificates."""
    link = f"mkdir -p $(dirname {path}) && ln -s {certificates} {path}"
    script = f'mount -t tmpfs tmpfs /etc && {link} && exec "$@"'
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]


def loopback(objects: list[Json], port: int, certificates: Certificates) -> list[Json]:
    """Return the objects with webhooks at a port of this machine in place of a Service."""
    found = [obj for obj in objects if obj["kind"] not in _LEFT_OUT]
    for obj in found:
        if obj["kind"] in _WEBHOOKS:
            for webhook in obj["webhooks"]:
                _redirect(webhook["clientConfig"], port, certificates)
        elif "conversion" in obj.get("spec", {}) and obj["kind"] == "CustomResourceDefinition":
            _redirect(obj["spec"]["conversion"]["webhook"]["clientConfig"], port, certificates)
    return found


def _redirect(client: Json, port: int, certificates: Certificates) -> None:
    path = client.pop("service")["path"]
    client["url"] = f"https://127.0.0.1:{port}{path}"
    client["caBundle"] = base64.b64encode(certificates.authority_pem).decode()
