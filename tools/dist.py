"""Build what is released: sdist, wheel, bill of materials and checksums, signed if a key is given.

It is built from a copy of the files that git knows, so that nothing else gets in, with times of the last commit, so
that equal sources give equal files. The wheel holds the bill of materials (PEP 770).
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from posse.version import VERSION
from tools.sbom import ROOT, sbom_text

CHECKSUMS = "SHA256SUMS"
SIGNATURE = f"{CHECKSUMS}.sig"
_SBOM = "sbom.json"
_WHEEL_SETTINGS = "[tool.hatch.build.targets.wheel]\n"


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--folder", type=Path, default=ROOT / "build" / "dist", help="where the files go")
    words.add_argument("--key", type=Path, help="Ed25519 private key (PEM, without a password) that signs")
    options = words.parse_args()
    key = None if options.key is None else read_key(options.key)
    build(options.folder, key)
    for path in sorted(options.folder.iterdir()):
        print(f"{path.stat().st_size:>10,}  {path.name}")
    return 0


def read_key(path: Path) -> Ed25519PrivateKey:
    """SystemExit: it is no such key."""
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise SystemExit(f"{path}: cannot be used to sign: {error}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise SystemExit(
            f"{path}: not an Ed25519 key; make one: openssl genpkey -algorithm ed25519 -out FILE"
        )
    return key


def build(folder: Path, key: Ed25519PrivateKey | None) -> None:
    """The folder holds these files and no others afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    bill = sbom_text()
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "source"
        copy_source(source)
        (source / _SBOM).write_text(bill)
        project = source / "pyproject.toml"
        named = project.read_text().replace(_WHEEL_SETTINGS, f'{_WHEEL_SETTINGS}sbom-files = ["{_SBOM}"]\n')
        project.write_text(named)
        command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder.resolve())]
        environment = os.environ | {"SOURCE_DATE_EPOCH": _time_of_commit()}
        subprocess.run(command, cwd=source, env=environment, check=True, stdout=subprocess.DEVNULL)
    (folder / f"posse-{VERSION}.{_SBOM}").write_text(bill)
    write_checksums(folder, key)


def copy_source(target: Path) -> None:
    """Copy all files that git knows."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True)  # noqa: S607
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)


def write_checksums(folder: Path, key: Ed25519PrivateKey | None) -> None:
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())
    ]
    (folder / CHECKSUMS).write_text("".join(lines))
    if key is not None:
        (folder / SIGNATURE).write_bytes(key.sign((folder / CHECKSUMS).read_bytes()))


def _time_of_commit() -> str:
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode().strip()


if __name__ == "__main__":
    sys.exit(main())
