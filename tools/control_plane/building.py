"""Build the programs of Kubernetes from their published Go modules, at the versions our go.mod files pin.

Existing programs are kept, and an interrupted build continues. Concurrent runs wait for each other. The
compiler's cache is removed at the end: it is large and no longer needed.
"""

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.control_plane.assets import OWN_PROGRAMS, RELEASES, Release, cache_folder

_REPORT_SECONDS = 30.0
_COMPILER_OUTPUT_KEPT = 40
# Both packages tell clients the version, and neither knows it unless it is linked in.
_VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    if os.environ.get(OWN_PROGRAMS):
        print(f"{OWN_PROGRAMS} is set: its programs are used, nothing is built.")
        return 0
    if all(not missing(release) for release in RELEASES):
        return 0
    if not shutil.which("go"):
        print(
            "Building the programs of Kubernetes needs Go 1.26 or newer on PATH. To do without, set "
            f"{OWN_PROGRAMS} to a folder with kube-apiserver, etcd and kubectl.",
            file=sys.stderr,
        )
        return 2
    return 0 if all(build(release) for release in RELEASES) else 1


def missing(release: Release) -> list[str]:
    return [name for name in release.programs if not release.built(name).exists()]


def build(release: Release) -> bool:
    """Build what is missing, and tell whether all is there now."""
    folder = release.built("").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    compiler_cache = cache_folder() / "go-build" / release.version
    with _alone(folder / ".lock"):
        for name in missing(release):
            if not _build_program(release, name, compiler_cache):
                return False
        shutil.rmtree(compiler_cache, ignore_errors=True)
    return True


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another run builds these programs; waiting for it ...", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _build_program(release: Release, name: str, compiler_cache: Path) -> bool:
    started = time.monotonic()
    print(f"Building {name} {release.version} ...", flush=True)
    target = release.built(name)
    half_done = target.with_name(f".{name}.half-done")
    command = ["go", "build", "-v", "-trimpath", "-ldflags", _linking(release), "-o", str(half_done)]
    if not _run(name, [*command, f"k8s.io/kubernetes/cmd/{name}"], release.module, compiler_cache):
        return False
    half_done.rename(target)
    size = target.stat().st_size / 1e6
    print(f"Built {target} ({size:.0f} MB) in {time.monotonic() - started:.0f} s", flush=True)
    return True


def _linking(release: Release) -> str:
    major, minor, _ = release.version.split(".", 2)
    known = {
        "gitVersion": f"v{release.version}",
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
    }
    said = [f"-X {package}.{key}={value}" for package in _VERSION_PACKAGES for key, value in known.items()]
    return " ".join(["-s -w", *said])


def _run(name: str, command: list[str], module: Path, compiler_cache: Path) -> bool:
    """Run the compiler, and say now and then how far it is; all it says itself is shown only if it fails."""
    own = {"CGO_ENABLED": "0", "GOCACHE": str(compiler_cache), "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
    said: deque[str] = deque(maxlen=_COMPILER_OUTPUT_KEPT)
    count, reported = 0, time.monotonic()
    with subprocess.Popen(
        command, cwd=module, env=os.environ | own, stderr=subprocess.PIPE, text=True
    ) as compiler:
        for count, line in enumerate(compiler.stderr or (), 1):
            said.append(line)
            if time.monotonic() - reported > _REPORT_SECONDS:
                reported = time.monotonic()
                print(f"  {name}: {count} packages fetched or compiled", flush=True)
    if compiler.returncode != 0:
        print(f"{name} could not be built:\n{''.join(said)}", file=sys.stderr)
    return compiler.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
