"""Runs the program of a kubeconfig that hands out credentials (client.authentication.k8s.io)."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from posse.client.kubeconfig import ChosenContext, ExecPlugin

_PATIENCE_SECONDS = 60.0
_GROUP = "client.authentication.k8s.io"
VERSIONS = (f"{_GROUP}/v1", f"{_GROUP}/v1beta1")


class Issued(msgspec.Struct, frozen=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    """In PEM, as the key."""
    client_key_data: str = ""


class ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: Issued | None = None


def run_plugin(chosen: ChosenContext, plugin: ExecPlugin) -> Issued:
    """ValueError: the program cannot be run, fails, or answers something else."""
    if plugin.api_version not in VERSIONS:
        raise ValueError(f"exec.apiVersion is {plugin.api_version!r}, and must be {' or '.join(VERSIONS)}")
    is_interactive = _is_interactive(plugin)
    environment = os.environ | {one.name: one.value for one in plugin.env or []}
    environment["KUBERNETES_EXEC_INFO"] = json.dumps(_question(chosen, plugin, is_interactive))
    try:
        done = subprocess.run(  # noqa: S603 - the user's kubeconfig names it
            [_program(chosen.user_folder, plugin.command), *(plugin.args or [])],
            env=environment,
            stdin=None if is_interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=None if is_interactive else _PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"{plugin.command} did not answer within {_PATIENCE_SECONDS:.0f} seconds") from error
    except OSError as error:
        hint = f"; {plugin.install_hint}" if plugin.install_hint else ""
        raise ValueError(f"{plugin.command} cannot be run: {(error.strerror or '').lower()}{hint}") from error
    if done.returncode:
        raise ValueError(f"{plugin.command} failed with exit code {done.returncode}")
    return _issued(plugin, done.stdout)


def _issued(plugin: ExecPlugin, said: bytes) -> Issued:
    try:
        answer = msgspec.json.decode(said, type=ExecCredential)
    except msgspec.DecodeError as error:
        raise ValueError(
            f"{plugin.command} printed something else than an ExecCredential: {error}"
        ) from error
    if (answer.api_version, answer.kind) != (plugin.api_version, "ExecCredential"):
        raise ValueError(
            f"{plugin.command} printed {answer.api_version} {answer.kind}, "
            f"not {plugin.api_version} ExecCredential"
        )
    status = answer.status or Issued()
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise ValueError(
            f"{plugin.command} printed a certificate without its key, or a key without certificate"
        )
    if not (status.token or status.client_certificate_data):
        raise ValueError(f"{plugin.command} printed neither token nor certificate")
    return status


def _program(folder: Path, command: str) -> str:
    """A name is looked for on PATH; a path is relative to the kubeconfig."""
    return str(folder / command) if os.sep in command else command


def _is_interactive(plugin: ExecPlugin) -> bool:
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    if plugin.interactive_mode == "Always" and not has_terminal:
        raise ValueError(
            f"{plugin.command} asks questions (interactiveMode Always), and there is no terminal"
        )
    return has_terminal and plugin.interactive_mode != "Never"


def _question(chosen: ChosenContext, plugin: ExecPlugin, is_interactive: bool) -> dict[str, Any]:
    spec: dict[str, Any] = {"interactive": is_interactive}
    if plugin.provide_cluster_info:
        cluster = {
            "server": chosen.cluster.server,
            "tls-server-name": chosen.cluster.tls_server_name,
            "insecure-skip-tls-verify": chosen.cluster.insecure_skip_tls_verify,
            "certificate-authority-data": base64.b64encode(chosen.authority()).decode(),
            "proxy-url": chosen.cluster.proxy_url,
        }
        spec["cluster"] = {key: value for key, value in cluster.items() if value}
    return {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
