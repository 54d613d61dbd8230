"""The software bill of materials: everything that an image of Posse contains beside Python, from the lock file.

CycloneDX, as JSON. What only developers need is left out; nothing else is asked, so that equal lock files give
equal bills.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_PINNED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)")
_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_HASH = re.compile(r"--hash=sha256:(?P<digest>[0-9a-f]{64})")
_VIA = re.compile(r"^    # (?:via |  )(?P<who>[A-Za-z0-9._-]+)")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pinned:
    """A package of the lock file: the hashes of its files, and which packages asked for it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    wanted_by: frozenset[str]


def read_lock(text: str) -> list[Pinned]:
    entries: list[list[str]] = []
    for line in text.splitlines():
        if _PINNED.match(line):
            entries.append([])
        if entries:
            entries[-1].append(line)
    return [_pinned(lines) for lines in entries]


def _pinned(lines: list[str]) -> Pinned:
    head = _PINNED.match(lines[0])
    if head is None:
        raise ValueError(f"not a package of a lock file: {lines[0]!r}")
    hashes = tuple(found["digest"] for line in lines for found in _HASH.finditer(line))
    wanted_by = frozenset(_normal(found["who"]) for line in lines if (found := _VIA.match(line)))
    return Pinned(_normal(head["name"]), head["version"], hashes, wanted_by)


def contained(packages: Iterable[Pinned], required: Iterable[str]) -> list[Pinned]:
    """What is required, and what that requires in turn."""
    everything = list(packages)
    found = {_normal(name) for name in required}
    while more := {one.name for one in everything if one.wanted_by & found} - found:
        found |= more
    return [one for one in everything if one.name in found]


def bill(project: Mapping[str, Any], lock: str) -> Json:
    required = [match[0] for text in project["dependencies"] if (match := _NAME.match(text))]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": project["name"],
                "version": project["version"],
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": [_component(one) for one in contained(read_lock(lock), required)],
    }


def _component(one: Pinned) -> Json:
    purl = f"pkg:pypi/{one.name}@{one.version}"
    files = [{"name": "sha256 of a file that may be installed", "value": digest} for digest in one.hashes]
    return {
        "type": "library",
        "bom-ref": purl,
        "name": one.name,
        "version": one.version,
        "purl": purl,
        "properties": files,
    }


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def sbom_text() -> str:
    """The bill of this repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return json.dumps(bill(project, (ROOT / "requirements.lock").read_text()), indent=2) + "\n"


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "sbom.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(sbom_text())


if __name__ == "__main__":
    main()
