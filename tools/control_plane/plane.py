"""Runs etcd and kube-apiserver on loopback, optionally kube-scheduler and kube-controller-manager.

There are no kubelets: nodes are only objects, and bound pods do not run. All files are in one folder, which
the caller removes.
"""

import http.client
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from posse.apiserver.http.certificates import Certificates, ensure_certificates
from tools.control_plane.assets import NATIVE, Release, find_program
from tools.control_plane.program import Program
from tools.control_plane.users import User, administrator, new_token, write_kubeconfigs, write_tokens

_READY_SECONDS = 180.0
_POLL_SECONDS = 0.1
# Both wait for a kubelet or a controller: a token for each pod, a node that is ready.
_ADMISSION_OFF = "ServiceAccount,TaintNodesByCondition"
# It would find every node dead, since no kubelet reports for any.
_CONTROLLERS = "*,-node-lifecycle-controller,-taint-eviction-controller"


class ControlPlane:
    def __init__(self, folder: Path, release: Release = NATIVE, users: Sequence[User] = ()) -> None:
        self.release = release
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        etcd_port, peer_port, self._port = free_ports(3)
        self._certificates = ensure_certificates(folder / "tls", time.time())
        self._admit([administrator(), *users])
        self.etcd = self.program("etcd", _etcd_words(folder / "etcd", etcd_port, peer_port))
        self.apiserver = self.program("kube-apiserver", self._apiserver_words(etcd_port))
        self._running: list[Program] = []

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    def kubeconfig(self, user: str = "admin") -> Path:
        return self._kubeconfigs[user]

    def replace_tokens(self) -> None:
        """Let nobody in with what they have, and write new tokens where they have found the old ones."""
        self._admit([replace(user, token=new_token()) for user in self._users])
        self.apiserver.stop()
        self.apiserver.start()
        self.wait_until_ready()

    def _admit(self, users: list[User]) -> None:
        self._users = users
        write_tokens(self.folder / "tokens.csv", users)
        authority = self._certificates.authority_pem
        self._kubeconfigs = write_kubeconfigs(self.folder, users, self.server, authority)

    def program(self, name: str, words: Sequence[str]) -> Program:
        return Program(name, [find_program(self.release, name), *words], self.folder / f"{name}.log")

    def start(self) -> None:
        for program in (self.etcd, self.apiserver):
            self.run(program)
        self.wait_until_ready()

    def stop(self) -> None:
        """Stop what runs, the last first, so that nobody waits for somebody who has gone."""
        while self._running:
            self._running.pop().stop()

    def run(self, program: Program) -> Program:
        """Start a program that is stopped together with the control plane."""
        program.start()
        self._running.append(program)
        return program

    def start_scheduler(self, **settings: object) -> Program:
        """Start kube-scheduler; `settings` go into its configuration as they are."""
        configuration = self.folder / "scheduler.yaml"
        configuration.write_text(yaml.safe_dump(_scheduler_configuration(self.kubeconfig()) | settings))
        words = [f"--config={configuration}", "--secure-port=0", *self._gates()]
        return self.run(self.program("kube-scheduler", words))

    def start_controller_manager(self, controllers: str = _CONTROLLERS) -> Program:
        words = [
            f"--kubeconfig={self.kubeconfig()}",
            "--leader-elect=false",
            "--secure-port=0",
            f"--service-account-private-key-file={self._certificates.server_key}",
            f"--controllers={controllers}",
            *self._gates(),
        ]
        return self.run(self.program("kube-controller-manager", words))

    def wait_until_ready(self) -> None:
        """Wait until the API server says it is ready and serves the namespace everybody uses first."""
        deadline = time.monotonic() + _READY_SECONDS
        while not (self._answers("/readyz") and self._answers("/api/v1/namespaces/default")):
            if not self.etcd.is_running:
                raise self.etcd.failure("ended")
            if not self.apiserver.is_running:
                raise self.apiserver.failure("ended")
            if time.monotonic() > deadline:
                raise self.apiserver.failure(f"was not ready after {_READY_SECONDS:.0f} s")
            time.sleep(_POLL_SECONDS)

    def _answers(self, path: str) -> bool:
        address = urlsplit(self.server).netloc
        context = ssl.create_default_context(cadata=self._certificates.authority_pem.decode())
        connection = http.client.HTTPSConnection(address, timeout=5, context=context)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {self._users[0].token}"})
            return connection.getresponse().status == http.HTTPStatus.OK
        except OSError:
            return False
        finally:
            connection.close()

    def _gates(self) -> list[str]:
        return [f"--feature-gates={gate}=true" for gate in self.release.gates]

    def _apiserver_words(self, etcd_port: int) -> list[str]:
        return [
            f"--etcd-servers=http://127.0.0.1:{etcd_port}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self._port}",
            # An address of documentation: it is only advertised, and loopback would be refused.
            "--advertise-address=192.0.2.1",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.96.0.0/16",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            f"--disable-admission-plugins={_ADMISSION_OFF}",
            "--profiling=false",
            *_key_words(self._certificates),
            *(f"--runtime-config={api}=true" for api in self.release.apis),
            *self._gates(),
        ]


def _key_words(certificates: Certificates) -> list[str]:
    """Return the arguments for keys; one key signs the tokens of service accounts."""
    return [
        f"--tls-cert-file={certificates.server_certificate}",
        f"--tls-private-key-file={certificates.server_key}",
        f"--service-account-key-file={certificates.server_certificate}",
        f"--service-account-signing-key-file={certificates.server_key}",
        "--service-account-issuer=https://kubernetes.default.svc",
    ]


def _etcd_words(data: Path, client_port: int, peer_port: int) -> list[str]:
    clients, peers = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
    return [
        "--name=plane",
        f"--data-dir={data}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=plane={peers}",
        # A crash of the machine may lose data here; a crash of etcd alone does not.
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def _scheduler_configuration(kubeconfig: Path) -> dict[str, object]:
    """Return a configuration without leader election and without client rate limits."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 10000},
        "leaderElection": {"leaderElect": False},
    }


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


@contextmanager
def running_plane(
    folder: Path, release: Release = NATIVE, users: Sequence[User] = ()
) -> Iterator[ControlPlane]:
    plane = ControlPlane(folder, release, users)
    try:
        plane.start()
        yield plane
    finally:
        plane.stop()
