"""What is released: files, checksums and signature; and the wheel runs in an environment of its own."""

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from posse.version import VERSION

pytestmark = pytest.mark.dist

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 60.0


def dist(folder, *words):
    command = [sys.executable, "-m", "tools.dist", "--folder", str(folder), *words]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    key = Ed25519PrivateKey.generate()
    forms = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = tmp_path_factory.mktemp("key") / "key.pem"
    path.write_bytes(key.private_bytes(*forms))
    return path, key.public_key()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, key):
    folder = tmp_path_factory.mktemp("dist")
    done = dist(folder, "--key", str(key[0]))
    assert done.returncode == 0, done.stderr
    return folder


def test_checksums_are_those_of_all_files_and_signed(folder, key):
    sums = (folder / "SHA256SUMS").read_bytes()
    listed = dict(reversed(line.split("  ")) for line in sums.decode().splitlines())
    files = {path.name for path in folder.iterdir()} - {"SHA256SUMS", "SHA256SUMS.sig"}
    wheel = f"posse-{VERSION}-py3-none-any.whl"
    assert files == {wheel, f"posse-{VERSION}.tar.gz", f"posse-{VERSION}.sbom.json"}
    assert listed == {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files}
    key[1].verify((folder / "SHA256SUMS.sig").read_bytes(), sums)


def test_the_wheel_has_all_files_of_the_package_examples_and_the_bill(folder):
    (wheel,) = folder.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    known = subprocess.run(
        ["git", "ls-files", "src/posse", "examples"], cwd=ROOT, capture_output=True, check=True
    )
    files = [name for name in known.stdout.decode().splitlines() if (ROOT / name).exists()]
    wanted = {name.removeprefix("src/") if name.startswith("src/") else f"posse/{name}" for name in files}
    assert wanted <= names
    assert f"posse-{VERSION}.dist-info/sboms/sbom.json" in names
    assert not [name for name in names if name.split("/")[0] not in {"posse", f"posse-{VERSION}.dist-info"}]


def test_the_source_archive_builds_the_same_wheel(folder, tmp_path):
    with tarfile.open(folder / f"posse-{VERSION}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(int((source / "PKG-INFO").stat().st_mtime))}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "out")]
    subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)
    (again,), (wheel,) = (tmp_path / "out").glob("*.whl"), folder.glob("*.whl")
    assert again.read_bytes() == wheel.read_bytes()


def test_other_keys_are_refused(tmp_path):
    (tmp_path / "key").write_text("no key")
    done = dist(tmp_path / "out", "--key", str(tmp_path / "key"))
    assert done.returncode == 1
    assert "cannot be used to sign" in done.stderr


def test_the_wheel_starts_a_cluster_with_a_gang_in_an_empty_environment(folder, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    bin_folder = tmp_path / "venv" / "bin"
    (wheel,) = folder.glob("*.whl")
    install = [bin_folder / "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True)
    # Nothing of this repository or of the user is in reach.
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "NO_COLOR": "1"}
    posse = bin_folder / "posse"
    with (tmp_path / "log").open("w") as log:
        words = ["up", "--example", "gang", "--port", "0"]
        process = subprocess.Popen([posse, *words], cwd=tmp_path, env=environment, stdout=log, stderr=log)
    try:
        assert running_pods(posse, tmp_path, environment) == 4, (tmp_path / "log").read_text()
    finally:
        process.terminate()
        assert process.wait(PATIENCE_SECONDS) == 0


def running_pods(posse, folder, environment):
    """How many run once all four do, or when patience ends."""
    deadline, running = time.monotonic() + PATIENCE_SECONDS, 0
    while running != 4 and time.monotonic() < deadline:
        command = [posse, "get", "pods", "-o", "json"]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
        pods = json.loads(done.stdout)["items"] if done.returncode == 0 else []
        running = sum(1 for pod in pods if pod["status"].get("phase") == "Running")
        time.sleep(0.5)
    return running
