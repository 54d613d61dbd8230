"""The Dockerfile, read: nothing unpinned, nothing left behind, not run as root, and as the Deployment expects it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from posse.installation.bundle import objects
from posse.installation.options import DEFAULT_IMAGE, InstallOptions

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text()


def instructions():
    """Every instruction with its arguments, continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", TEXT)
    lines = [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(" ", 1)) for line in lines]


def arguments(name):
    return [rest for instruction, rest in instructions() if instruction == name]


@pytest.fixture
def container():
    (deployment,) = (obj for obj in objects(InstallOptions()) if obj["kind"] == "Deployment")
    return deployment["spec"]["template"]["spec"]


def test_only_known_instructions():
    known = {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in instructions()} <= known


def test_bases_are_pinned_and_alike():
    images = {rest.split()[0] for rest in arguments("FROM")}
    assert images == {"${BASE}"}
    (base,) = arguments("ARG")
    assert re.fullmatch(r"BASE=python:3\.\d+\.\d+-slim-\w+", base)


def make_image(folder, *words):
    command = [sys.executable, "-m", "tools.image", *words]
    environment = os.environ | {"PATH": str(folder)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_images_are_built_on_a_digest_by_the_builder_there_is(tmp_path):
    base = f"python:3.12.11-slim-bookworm@sha256:{'0' * 64}"
    assert "no builder" in make_image(tmp_path, "--base", base).stderr
    builder = tmp_path / "podman"
    builder.write_text(f'#!{sys.executable}\nimport sys\nprint(" ".join(sys.argv[1:]))\n')
    builder.chmod(0o755)
    told = make_image(tmp_path, "--base", base, "--image", "r.example/posse:7").stdout
    assert told.startswith(f"build --build-arg BASE={base} --tag r.example/posse:7 --file ")
    assert "skopeo inspect" in make_image(tmp_path, "--base", "python:3.12").stderr


def test_packages_are_checked_by_hash_and_leave_no_cache():
    steps = [step for rest in arguments("RUN") for step in rest.split("&&") if "pip" in step]
    assert "--require-hashes" in steps[0]
    assert all("--no-index" in step for step in steps[1:])
    assert all("--no-cache-dir" in step for step in steps)


def test_what_is_copied_is_there_and_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    copied = [
        word for rest in arguments("COPY") if not rest.startswith("--from") for word in rest.split()[:-1]
    ]
    assert copied
    for name in copied:
        assert (ROOT / name).exists()
        assert f"!{name}" in ignored


def test_all_that_the_package_is_built_from_is_copied():
    project = (ROOT / "pyproject.toml").read_text()
    copied = " ".join(arguments("COPY"))
    for name in ("README.md", "LICENSE", "src", "examples"):
        assert name in project
        assert name in copied


def test_nobody_is_root(container):
    assert instructions()[-4][0] == "USER"
    (user,) = arguments("USER")
    security = container["securityContext"]
    assert user == f"{security['runAsUser']}:{security['runAsGroup']}"
    assert security["runAsUser"] > 0


def test_the_deployment_starts_what_the_image_has(container):
    (entry,) = arguments("ENTRYPOINT")
    assert json.loads(entry) == ["posse"]
    (command,) = arguments("CMD")
    assert json.loads(command) == container["containers"][0]["args"][:1]
    (port,) = arguments("EXPOSE")
    assert int(port) == container["containers"][0]["ports"][0]["containerPort"]
    assert DEFAULT_IMAGE in TEXT
