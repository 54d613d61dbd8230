"""Build the image of Posse with whichever OCI builder is installed, on a base that is pinned by its digest.

A tag may mean another image tomorrow, a digest may not: `python:3.12.11-slim-bookworm@sha256:...`.
"""

import argparse
import re
import shutil
import subprocess
import sys

from posse.installation.options import DEFAULT_IMAGE
from tools.sbom import ROOT

BUILDERS = ("docker", "podman", "nerdctl", "buildah")
_PINNED = re.compile(r"\S+@sha256:[0-9a-f]{64}")
_HOW = (
    "name the base with its digest: BASE=python:3.12.11-slim-bookworm@sha256:...; "
    "`skopeo inspect docker://docker.io/library/python:3.12.11-slim-bookworm` or "
    "`docker buildx imagetools inspect python:3.12.11-slim-bookworm` tells it"
)


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--base", default="", help="image that Posse's is built on, with its digest")
    words.add_argument("--image", default=DEFAULT_IMAGE, help="name of the image")
    words.add_argument("--builder", default="", help=f"program to use; default: the first of {BUILDERS}")
    options = words.parse_args()
    if not _PINNED.fullmatch(options.base):
        raise SystemExit(_HOW)
    builder = options.builder or next(filter(shutil.which, BUILDERS), "")
    if not builder:
        raise SystemExit(f"no builder of images found; install one of {', '.join(BUILDERS)}")
    return subprocess.run([builder, *command(builder, options.base, options.image)], check=False).returncode


def command(builder: str, base: str, image: str) -> list[str]:
    """Arguments of the builder; all of them take those of docker."""
    verb = ["bud"] if builder.rpartition("/")[2] == "buildah" else ["build"]
    return [
        *verb,
        "--build-arg",
        f"BASE={base}",
        "--tag",
        image,
        "--file",
        str(ROOT / "Dockerfile"),
        str(ROOT),
    ]


if __name__ == "__main__":
    sys.exit(main())
