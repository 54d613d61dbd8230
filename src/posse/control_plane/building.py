"""Builds programs from published Go modules, at the versions that our go.mod files pin.

Existing programs are kept, and an interrupted build continues. Concurrent builds wait for each other. The
compiler's cache is removed at the end: it is large and no longer needed.
"""

import fcntl
import os
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from posse.control_plane.assets import NEEDED, OWN_PROGRAMS, MissingProgramError
from posse.control_plane.go_modules import BuiltProgram, GoModule, cache_folder
from posse.control_plane.program import ends_with_parent

_COMPILER_OUTPUT_KEPT = 40
# Both packages tell clients the version, and neither knows it unless it is linked in.
_VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


class BuildError(Exception):
    """A program could not be built; the message holds the end of what the compiler said."""


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """Packages compiled so far, of all; 0 of 0 while sources are fetched."""

    program: str
    version: str
    compiled: int = 0
    total: int = 0


Tell = Callable[[BuildProgress], None]


def build_all(wanted: Iterable[BuiltProgram], tell: Tell) -> None:
    """Build what is missing. Errors: MissingProgramError (no Go), BuildError."""
    missing = [one for one in wanted if not one.path.exists()]
    if not missing:
        return
    _check_go()
    for module, programs in groupby(missing, key=lambda one: one.module):
        module.cache.mkdir(parents=True, exist_ok=True)
        compiler_cache = cache_folder().resolve() / "go-build" / module.cache.name
        with _alone(module.cache / ".lock"):
            for program in programs:
                if not program.path.exists():
                    _Compiler(module, compiler_cache).build(program.name, tell)
            shutil.rmtree(compiler_cache, ignore_errors=True)


def _check_go() -> None:
    if not shutil.which("go"):
        raise MissingProgramError(
            "Building the programs of Kubernetes needs Go 1.26 or newer on PATH. To do without, name a "
            f"folder with {', '.join(NEEDED)}, by --binaries or {OWN_PROGRAMS}."
        )


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


class _Compiler:
    def __init__(self, module: GoModule, cache: Path) -> None:
        self._module = module
        settings = {"CGO_ENABLED": "0", "GOCACHE": str(cache), "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
        self._environment = os.environ | settings

    def build(self, program: str, tell: Tell) -> None:
        module, package = self._module, self._module.packages[program]
        tell(BuildProgress(program, module.version))
        total = len(self._run(["go", "list", "-deps", package], program).splitlines())
        half_done = module.built(f".{program}.half-done").resolve()
        flags = ["-v", "-trimpath", "-ldflags", _linking(module), "-o", str(half_done)]
        self._compile(
            ["go", "build", *flags, package], BuildProgress(program, module.version, 0, total), tell
        )
        half_done.rename(module.built(program))
        tell(BuildProgress(program, module.version, total, total))

    def _run(self, command: list[str], program: str) -> str:
        done = subprocess.run(  # noqa: S603 - the compiler
            command,
            cwd=self._module.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=ends_with_parent,
        )
        if done.returncode != 0:
            raise BuildError(f"{program} could not be built:\n{done.stderr}")
        return done.stdout

    def _compile(self, command: list[str], begun: BuildProgress, tell: Tell) -> None:
        """Tell of each package; what the compiler says itself is kept for the case that it fails."""
        said: deque[str] = deque(maxlen=_COMPILER_OUTPUT_KEPT)
        with subprocess.Popen(  # noqa: S603 - the compiler
            command,
            cwd=self._module.folder,
            env=self._environment,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=ends_with_parent,  # noqa: PLW1509 - it only sets a signal
        ) as compiler:
            for count, line in enumerate(compiler.stderr or (), 1):
                said.append(line)
                tell(replace(begun, compiled=min(count, begun.total - 1)))
        if compiler.returncode != 0:
            raise BuildError(f"{begun.program} could not be built:\n{''.join(said)}")


def _linking(module: GoModule) -> str:
    major, minor, _ = module.version.split(".", 2)
    known = {
        "gitVersion": f"v{module.version}",
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
    }
    said = [f"-X {package}.{key}={value}" for package in _VERSION_PACKAGES for key, value in known.items()]
    return " ".join(["-s -w", *said])
