"""Replicas in network namespaces of their own, whose links can be cut: what they send is lost without an error.

Each namespace has one link, to a namespace in the middle. A relay listens there and passes connections on to the API
server, which stays on loopback. The network of the machine itself is not touched.
"""

import ctypes
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from posse.control_plane.plane import ControlPlane
from tests.cluster.silence import silent_relay
from tools.installed_posse import Installation, PosseRun

NAMESPACES = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_NEAR_ADDRESS = "02:00:00:00:00:01"
"""Of the links in the middle. Replicas know it for good, so that they are not told when it does not answer."""


class Middle:
    """The namespace between the replicas and the API server."""

    def __init__(self, stack: ExitStack, target: int) -> None:
        self._stack = stack
        self._target = target
        self._name = f"posse-{os.getpid()}-middle"
        self._branches = 0
        self._add(self._name)

    def branch(self) -> "Branch":
        """Return a new namespace with a link to this one."""
        self._branches += 1
        number = self._branches
        name, link = f"posse-{os.getpid()}-{number}", f"near{number}"
        near, far = f"10.99.{number}.1", f"10.99.{number}.2"
        with _skipped_if_refused():
            self._add(name)
            ip("-n", self._name, "link", "add", link, "address", _NEAR_ADDRESS, *_peer("far", name))
            for namespace, device, address in ((self._name, link, near), (name, "far", far)):
                ip("-n", namespace, "address", "add", f"{address}/30", "dev", device)
                ip("-n", namespace, "link", "set", device, "up")
            known = ["lladdr", _NEAR_ADDRESS, "dev", "far", "nud", "permanent"]
            ip("-n", name, "neighbour", "add", near, *known)
        with inside(self._name):
            listener = socket.create_server((near, 0))
        relay = self._stack.enter_context(silent_relay(self._target, listener))
        return Branch(name, self._name, link, f"https://{near}:{relay.port}")

    def _add(self, namespace: str) -> None:
        ip("netns", "add", namespace)
        self._stack.callback(ip, "netns", "delete", namespace)
        ip("-n", namespace, "link", "set", "lo", "up")


class Branch:
    def __init__(self, namespace: str, middle: str, link: str, server: str) -> None:
        self.namespace = namespace
        self.server = server
        """Where the API server is reached from here."""
        self._link = ["-n", middle, "link", "set", link]

    def cut(self) -> None:
        ip(*self._link, "down")

    def heal(self) -> None:
        ip(*self._link, "up")


class BranchRun(PosseRun):
    """`posse run` in the namespace of a branch."""

    def __init__(self, plane: ControlPlane, installed: Installation, name: str, branch: Branch) -> None:
        kubeconfig = plane.folder / f"{name}.kubeconfig"
        direct = plane.kubeconfig(installed.account).read_text()
        # The certificate names the address on loopback.
        relayed = f"server: {branch.server}\n    tls-server-name: 127.0.0.1"
        kubeconfig.write_text(direct.replace(f"server: {plane.server}", relayed))
        command = ["ip", "netns", "exec", branch.namespace, *installed.command]
        super().__init__(plane, installed._replace(command=command), name, kubeconfig)
        self.branch = branch

    def page(self, path: str) -> str:
        with inside(self.branch.namespace):
            return super().page(path)


@contextmanager
def middle_of(target: int) -> Iterator[Middle]:
    """Make the namespace before a port on loopback; all is removed in the end. Skip the test where that is not allowed."""
    if sys.platform != "linux" or shutil.which("ip") is None:
        pytest.skip("network namespaces need Linux and the program ip (Debian: iproute2)")
    with ExitStack() as stack:
        with _skipped_if_refused():
            middle = Middle(stack, target)
        yield middle


@contextmanager
def _skipped_if_refused() -> Iterator[None]:
    try:
        yield
    except subprocess.CalledProcessError as refusal:
        pytest.skip(f"no network namespaces with links can be made here: {refusal.stderr.strip()}")


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Sockets that this thread makes meanwhile belong to the namespace."""
    with open("/proc/thread-self/ns/net") as own, (NAMESPACES / namespace).open() as other:  # noqa: PTH123 - no path is kept
        _enter(other.fileno())
        try:
            yield
        finally:
            _enter(own.fileno())


def _enter(descriptor: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "cannot enter a network namespace")


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def _peer(name: str, namespace: str) -> list[str]:
    return ["type", "veth", "peer", "name", name, "netns", namespace]
