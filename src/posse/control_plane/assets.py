"""Releases of Kubernetes that Posse runs on, and where their programs are.

They are those of a folder of the user, if one is named, and else those that were built from Go modules.
"""

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from posse.control_plane.go_modules import ETCD, MODULES, BuiltProgram, GoModule

OWN_PROGRAMS = "KUBEBUILDER_ASSETS"
NEEDED = ("etcd", "kube-apiserver", "kube-controller-manager")
"""The programs of a control plane that Posse schedules for."""
_KUBERNETES = "k8s.io/kubernetes"


class MissingProgramError(Exception):
    """A program is not there. The message says how to get it."""


@dataclass(frozen=True, slots=True)
class Release:
    """A minor version of Kubernetes, with the features to enable for Posse."""

    minor: str
    module: GoModule | None = None
    """None if Posse has never built it."""
    gates: tuple[str, ...] = ()
    apis: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        return self.module.version if self.module else self.minor


def _kubernetes(minor: str, *programs: str) -> GoModule:
    return GoModule(MODULES / minor, _KUBERNETES, {name: f"{_KUBERNETES}/cmd/{name}" for name in programs})


# The native form of groups, all of it.
NATIVE = Release(
    "1.37",
    _kubernetes("1.37", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"),
    gates=(
        "GenericWorkload",
        "TopologyAwareWorkloadScheduling",
        "CompositePodGroup",
        "PodGroupPreemptionPolicy",
        "WorkloadWithJob",
        "DRAWorkloadResourceClaims",
    ),
    apis=("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3"),
)
# Knows nothing of groups, as most clusters today: groups are custom resources there.
WITHOUT_GROUPS = Release("1.33", _kubernetes("1.33", "kube-apiserver"))
RELEASES = (NATIVE, WITHOUT_GROUPS)


def own_folder(chosen: Path | None = None) -> Path | None:
    """Return the folder that the user names, by an option or by the variable of envtest."""
    named = os.environ.get(OWN_PROGRAMS)
    return chosen or (Path(named) if named else None)


def release_in(folder: Path) -> Release:
    """Return the release of the programs in a folder. MissingProgramError: one of those needed is missing."""
    for name in NEEDED:
        _in_folder(folder, name)
    minor = _minor_of(folder / "kube-apiserver")
    return next((release for release in RELEASES if release.minor == minor), Release(minor))


def find_program(release: Release, name: str, folder: Path | None = None) -> Path:
    own = own_folder(folder)
    if own:
        return _find_own(own, release, name)
    if name == "etcd":
        return _built(ETCD, name)
    if release.module is None:
        raise MissingProgramError(f"{name} {release.minor} must be in a folder that you name.")
    return _built(release.module, name)


def find_kubectl() -> Path:
    """Return the one kubectl there is: the newest, for it speaks to the older API servers as well."""
    own = own_folder()
    return _in_folder(own, "kubectl") if own else find_program(NATIVE, "kubectl")


def built_programs(release: Release, names: Iterable[str]) -> list[BuiltProgram]:
    """Return which of these programs come from Go modules."""
    modules = [ETCD, release.module] if release.module else [ETCD]
    return [BuiltProgram(module, name) for module in modules for name in names if name in module.packages]


def _built(module: GoModule, name: str) -> Path:
    path = module.built(name)
    if not path.exists():
        raise MissingProgramError(
            f"{name} {module.version} is not at {path}. Build it with `make cluster-assets` or "
            "`posse up --control-plane kubernetes` (needs Go, takes about 15 minutes once), or set "
            f"{OWN_PROGRAMS} to a folder with {', '.join(NEEDED)} and kubectl."
        )
    return path


def _find_own(folder: Path, release: Release, name: str) -> Path:
    minor = _minor_of(_in_folder(folder, "kube-apiserver"))
    if minor != release.minor:
        raise MissingProgramError(
            f"{folder} has Kubernetes {minor}, and this needs {release.minor}: name another folder, or "
            f"unset {OWN_PROGRAMS} to use those that `make cluster-assets` builds."
        )
    return _in_folder(folder, name)


def _in_folder(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.exists():
        raise MissingProgramError(
            f"{name} is not in {folder}, which --binaries or {OWN_PROGRAMS} names. {_source_of(name)}, or "
            "name no folder to use programs that are built from Go modules."
        )
    return path


def _source_of(name: str) -> str:
    """How to get a program that envtest may have left out."""
    if name == "etcd":
        return "Add it from a release of etcd"
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    address = f"https://dl.k8s.io/v{NATIVE.version}/bin/{platform.system().lower()}/{machine}/{name}"
    return f"Add it, such as {address}"


@cache
def _minor_of(apiserver: Path) -> str:
    command = [str(apiserver), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 - as named
    found = re.search(r"v(\d+\.\d+)\.", said)
    return found.group(1) if found else f"of unknown version ({said.strip()})"
