"""The search works from files, without a server: the library that the generator would load from the network for
this is taken from npm at build time, checked by its hash, and put beside the pages.
"""

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "iframe-worker@1.0.4"
_INTEGRITY = "roeaaI+Lg1LJNfgpCjoRe/+WzEjy9+Z08LoEvu85MCPbBjwm+qXz8Ag5U05lHa6V1CysZyGzE0SOkAtSUA5q7Q=="
"""SHA-512 of the package."""
_MEMBER = "package/shim/index.js"
_PLACE = Path("assets") / "javascripts" / "iframe-worker.js"
ADDRESS = "https://unpkg.com/iframe-worker/shim"


def bring_search(site: Path) -> None:
    """Put the library into the site, and let pages load it from there. SystemExit: it cannot be had."""
    (site / _PLACE).write_bytes(_library())
    for page in site.rglob("*.html"):
        up = "../" * len(page.relative_to(site).parent.parts)
        page.write_text(page.read_text().replace(ADDRESS, f"{up}{_PLACE.as_posix()}"))


def _library() -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is missing: it fetches the library by which the search works without a server")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", PACKAGE]
        if subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False).returncode:
            raise SystemExit(f"npm could not fetch {PACKAGE}")
        (archive,) = Path(folder).glob("*.tgz")
        return checked(archive)


def checked(archive: Path) -> bytes:
    """SystemExit: it is not the package that was chosen."""
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != _INTEGRITY:
        raise SystemExit(f"{archive.name} is not {PACKAGE}: its SHA-512 is {digest}")
    with tarfile.open(archive) as files:
        member = files.extractfile(_MEMBER)
        if member is None:
            raise SystemExit(f"{archive.name} has no {_MEMBER}")
        return member.read()
