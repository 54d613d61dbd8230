"""Runs etcd and kube-apiserver on loopback, optionally kube-scheduler and kube-controller-manager.

All files are in one folder, which the caller removes.
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

from posse.apiserver.http.certificates import ensure_certificates
from posse.apiserver.http.kubeconfig import ServerAccess
from posse.control_plane.arguments import (
    PlaneOptions,
    apiserver_arguments,
    controller_manager_arguments,
    etcd_arguments,
    scheduler_arguments,
    scheduler_configuration,
)
from posse.control_plane.assets import NATIVE, Release, find_program
from posse.control_plane.program import Program
from posse.control_plane.users import User, administrator, new_token, write_kubeconfigs, write_tokens

READY_SECONDS = 180.0
POLL_SECONDS = 0.1


class ControlPlane:
    def __init__(self, folder: Path, users: Sequence[User] = (), options: PlaneOptions | None = None) -> None:
        self.options = options or PlaneOptions()
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        etcd_port, peer_port, free_port = free_ports(3)
        self._port = self.options.port or free_port
        self._certificates = ensure_certificates(folder / "tls", time.time())
        self._admit([self.options.administrator or administrator(), *users])
        self.etcd_url = f"http://127.0.0.1:{etcd_port}"
        store = etcd_arguments(folder / "etcd", etcd_port, peer_port, fsync=self.options.fsync)
        self.etcd = self.program("etcd", store)
        serving = apiserver_arguments(
            self.options, self._certificates, folder / "tokens.csv", self._port, etcd_port
        )
        self.apiserver = self.program("kube-apiserver", serving)
        self.running: list[Program] = []
        """What is stopped together with the control plane, in the order of its start."""

    @property
    def release(self) -> Release:
        return self.options.release

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    @property
    def access(self) -> ServerAccess:
        """How the administrator reaches it."""
        return ServerAccess(self.server, self._certificates.authority_pem, self._users[0].token)

    def kubeconfig(self, user: str = "admin") -> Path:
        return self._kubeconfigs[user]

    def replace_tokens(self) -> None:
        """Make the tokens of all users invalid, and write new ones where they found the old ones."""
        self._admit([replace(user, token=new_token()) for user in self._users])
        self.apiserver.stop()
        self.apiserver.start()
        self.wait_until_ready()

    def _admit(self, users: list[User]) -> None:
        self._users = users
        write_tokens(self.folder / "tokens.csv", users)
        authority = self._certificates.authority_pem
        self._kubeconfigs = write_kubeconfigs(self.folder, users, self.server, authority)

    def program(self, name: str, arguments: Sequence[str]) -> Program:
        path = find_program(self.release, name, self.options.binaries)
        return Program(name, [path, *arguments], self.folder / f"{name}.log")

    def start(self) -> None:
        self.start_programs()
        self.wait_until_ready()

    def start_programs(self) -> None:
        for program in (self.etcd, self.apiserver):
            self.run(program)

    def stop(self) -> None:
        """Stop what runs, the last first, so that no program waits for one that has gone."""
        while self.running:
            self.running.pop().stop()

    def run(self, program: Program) -> Program:
        """Start a program that is stopped together with the control plane."""
        program.start()
        self.running.append(program)
        return program

    def start_scheduler(self, **settings: object) -> Program:
        """Start kube-scheduler; `settings` go into its configuration as they are."""
        configuration = self.folder / "scheduler.yaml"
        configuration.write_text(yaml.safe_dump(scheduler_configuration(self.kubeconfig()) | settings))
        return self.run(self.program("kube-scheduler", scheduler_arguments(self.options, configuration)))

    def start_controller_manager(self, *further: str) -> Program:
        """Start kube-controller-manager; of an argument that is given twice, the last counts."""
        arguments = controller_manager_arguments(self.options, self._certificates, self.kubeconfig())
        return self.run(self.program("kube-controller-manager", [*arguments, *further]))

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self.is_ready():
            if time.monotonic() > deadline:
                raise self.too_late()
            time.sleep(POLL_SECONDS)

    def is_ready(self) -> bool:
        """Whether the API server serves the default namespace. ProgramEndedError: it never will."""
        for program in (self.etcd, self.apiserver):
            if not program.is_running:
                raise program.failure("ended")
        return self._answers("/readyz") and self._answers("/api/v1/namespaces/default")

    def too_late(self) -> Exception:
        return self.apiserver.failure(f"was not ready after {READY_SECONDS:.0f} s")

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
    plane = ControlPlane(folder, users, PlaneOptions(release))
    try:
        plane.start()
        yield plane
    finally:
        plane.stop()
