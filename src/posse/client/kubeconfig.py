"""Reads kubeconfigs: which cluster, which user and which namespace a context names.

Of several files the first that has a name counts, as for kubectl. Paths are relative to the file they are in.
"""

import base64
import binascii
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from posse.client.cluster_access import CredentialsError


class KubeconfigCluster(msgspec.Struct, frozen=True, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""


class EnvironmentEntry(msgspec.Struct, frozen=True):
    name: str
    value: str = ""


class ExecPlugin(msgspec.Struct, frozen=True, rename="camel"):
    """A program that hands out credentials."""

    api_version: str = ""
    command: str = ""
    args: list[str] | None = None
    env: list[EnvironmentEntry] | None = None
    install_hint: str = ""
    interactive_mode: str = "IfAvailable"
    provide_cluster_info: bool = False


class AuthProvider(msgspec.Struct, frozen=True):
    name: str = ""
    config: dict[str, str] = {}


class KubeconfigUser(msgspec.Struct, frozen=True, rename="kebab"):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(name="tokenFile", default="")
    username: str = ""
    password: str = ""
    exec: ExecPlugin | None = None
    auth_provider: AuthProvider | None = None


class Context(msgspec.Struct, frozen=True):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class NamedCluster(msgspec.Struct, frozen=True):
    name: str
    cluster: KubeconfigCluster = KubeconfigCluster()


class NamedUser(msgspec.Struct, frozen=True):
    name: str
    user: KubeconfigUser = KubeconfigUser()


class NamedContext(msgspec.Struct, frozen=True):
    name: str
    context: Context = Context()


class KubeconfigFile(msgspec.Struct, frozen=True, rename="kebab"):
    clusters: list[NamedCluster] | None = None
    users: list[NamedUser] | None = None
    contexts: list[NamedContext] | None = None
    current_context: str = ""


class ChosenContext(msgspec.Struct, frozen=True):
    """What one context names, with the folders that paths are relative to."""

    cluster: KubeconfigCluster
    cluster_folder: Path
    namespace: str
    user: KubeconfigUser = KubeconfigUser()
    """Without any credentials if the context names none."""
    user_folder: Path = Path()

    def authority(self) -> bytes:
        return _contents(
            self.cluster_folder, self.cluster.certificate_authority, self.cluster.certificate_authority_data
        )

    def certificate(self) -> bytes:
        return _contents(self.user_folder, self.user.client_certificate, self.user.client_certificate_data)

    def key(self) -> bytes:
        return _contents(self.user_folder, self.user.client_key, self.user.client_key_data)


def read_kubeconfig(source: str, context: str | None = None) -> ChosenContext:
    """`source` may name several files, as $KUBECONFIG does. CredentialsError names what is wrong."""
    try:
        paths = [Path(part).expanduser() for part in source.split(os.pathsep) if part]
        files = [(path, _read(path)) for path in paths if path.exists()]
    except (OSError, RuntimeError) as error:
        raise CredentialsError(f"{source}: cannot be read: {error}") from error
    if not files:
        raise CredentialsError(f"{source}: no such file; pass --kubeconfig FILE, or set $KUBECONFIG")
    wanted = context or next((file.current_context for _, file in files if file.current_context), "")
    if not wanted:
        raise CredentialsError(f"{source}: current-context is not set")
    chosen = _find(source, "contexts", wanted, ((path, file.contexts) for path, file in files))[1].context
    folder, cluster = _find(
        source, "clusters", chosen.cluster, ((path, file.clusters) for path, file in files)
    )
    if not chosen.user:
        return ChosenContext(cluster.cluster, folder, chosen.namespace or "default")
    user_folder, user = _find(source, "users", chosen.user, ((path, file.users) for path, file in files))
    return ChosenContext(cluster.cluster, folder, chosen.namespace or "default", user.user, user_folder)


Named = TypeVar("Named", NamedCluster, NamedUser, NamedContext)


def _find(
    source: str, section: str, name: str, listed: Iterable[tuple[Path, list[Named] | None]]
) -> tuple[Path, Named]:
    known = []
    for path, entries in listed:
        for entry in entries or []:
            if entry.name == name:
                return path.absolute().parent, entry
            known.append(entry.name)
    has = f"it has {', '.join(known)}" if known else "it has none"
    raise CredentialsError(f'{source}: there is no entry "{name}" in {section}; {has}')


def _read(path: Path) -> KubeconfigFile:
    try:
        found: Any = _without_nothing(yaml.safe_load(path.read_bytes()))
    except OSError as error:
        raise CredentialsError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CredentialsError(f"{path}: not a kubeconfig: it is not valid YAML") from error
    if not isinstance(found, dict) or found.get("kind", "Config") != "Config":
        raise CredentialsError(f"{path}: not a kubeconfig: kind is not Config")
    try:
        return msgspec.convert(found, KubeconfigFile)
    except msgspec.ValidationError as error:
        raise CredentialsError(f"{path}: not a usable kubeconfig: {error}") from error


def _without_nothing(value: Any) -> Any:
    """Fields without a value are as good as missing."""
    match value:
        case dict():
            return {key: _without_nothing(one) for key, one in value.items() if one is not None}
        case list():
            return [_without_nothing(one) for one in value]
        case _:
            return value


def _contents(folder: Path, path: str, data: str) -> bytes:
    """What is written in base64 counts, else the file. OSError, ValueError."""
    if data:
        try:
            return base64.b64decode(data, validate=True)
        except binascii.Error as error:
            raise ValueError(f"what should be base64 is not: {error}") from error
    return (folder / path).read_bytes() if path else b""
