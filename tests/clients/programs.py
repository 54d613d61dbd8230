"""Helm, kubectl, the Go program and the JavaScript client: found, or built once into a cache folder."""

import json
import os
import shutil
from pathlib import Path

from posse.control_plane.go_modules import cache_folder
from tests.clients.outcome import ran

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "posse" / "clients"
HELMS = {
    "Helm 3": ("HELM3", "helm.sh/helm/v3/cmd/helm@v3.22.0"),
    "Helm 4": ("HELM4", "helm.sh/helm/v4/cmd/helm@v4.3.1"),
}


class NotHereError(Exception):
    """A program is missing; the text says how to get it."""


def go_program() -> Path:
    _needs("go", "install Go (https://go.dev/dl)")
    target = CACHE / "go-clients"
    ran(["go", "build", "-o", target, "."], dict(os.environ), HERE / "go")
    return target


def helm(name: str) -> Path:
    variable, module = HELMS[name]
    if given := os.environ.get(variable):
        return Path(given)
    target = CACHE / variable.lower()
    if not target.exists():
        _needs("go", f"install Go, or point {variable} at the program")
        folder = CACHE / f"build-{variable.lower()}"
        ran(["go", "install", module], {**os.environ, "GOBIN": str(folder)})
        (folder / "helm").rename(target)
    return target


def javascript_folder() -> Path:
    """A folder with the client installed and the check in it."""
    _needs("node", "install Node.js 20 or newer")
    _needs("npm", "install npm")
    folder = CACHE / "js"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "check.mjs"):
        shutil.copy(HERE / "js" / name, folder)
    ran(["npm", "install", "--silent", "--no-audit", "--no-fund"], dict(os.environ), folder)
    return folder


def kubectls() -> list[Path]:
    """Those named in POSSE_KUBECTLS (a list of paths), or the one on the path and those of control planes."""
    named = [Path(each) for each in os.environ.get("POSSE_KUBECTLS", "").split(os.pathsep) if each]
    built = sorted((cache_folder() / "assets").glob("*/kubectl"))
    found = named or [*filter(None, [shutil.which("kubectl")]), *built]
    if not found:
        raise NotHereError("install kubectl, or list several in POSSE_KUBECTLS")
    return [Path(each) for each in found]


def kubectl_version(program: Path) -> str:
    said = json.loads(ran([program, "version", "--client", "-o", "json"], dict(os.environ)))
    return str(said["clientVersion"]["gitVersion"])


def _needs(program: str, remedy: str) -> None:
    if not shutil.which(program):
        raise NotHereError(f"{program} is not on the path: {remedy}")
