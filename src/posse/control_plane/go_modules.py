"""Programs that are built from published Go modules, and where they are kept.

A go.mod of ours pins each version. Programs are cached by version, outside of the source tree.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

MODULES = Path(__file__).parent / "modules"


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    caches = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(environment.get("POSSE_CACHE") or caches / "posse")


@dataclass(frozen=True, slots=True)
class GoModule:
    """`folder` has our go.mod, `path` is the module whose version counts."""

    folder: Path
    path: str
    packages: Mapping[str, str] = field(hash=False)
    """The main package of each program, by the name of the program."""

    @property
    def version(self) -> str:
        found = re.findall(rf"^\s*(?:require )?{re.escape(self.path)} v(\S+)", self.text, re.MULTILINE)
        return str(found[0])

    @property
    def text(self) -> str:
        return (self.folder / "go.mod").read_text()

    @property
    def cache(self) -> Path:
        """The folder of the built programs."""
        pins = self.folder.name
        name = self.version if pins[0].isdigit() else f"{pins}-{self.version}"
        return cache_folder() / "assets" / name

    def built(self, program: str) -> Path:
        """Return where a program is, or will be once it is built."""
        return self.cache / program

    def programs(self) -> list["BuiltProgram"]:
        return [BuiltProgram(self, name) for name in self.packages]


class BuiltProgram(NamedTuple):
    module: GoModule
    name: str

    @property
    def path(self) -> Path:
        return self.module.built(self.name)


ETCD = GoModule(MODULES / "etcd", "go.etcd.io/etcd/server/v3", {"etcd": "go.etcd.io/etcd/server/v3"})
