"""Files that only the owner may read: keys, the token, the kubeconfig.

A file appears whole or not at all: it is written beside its final name and then renamed, so a crash
leaves the old contents and a reader never sees half of the new ones.
"""

import contextlib
import os
import tempfile
from pathlib import Path


def write_private(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp creates with mode 0600, so there is no moment in which others could read the file.
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(draft).unlink()
        raise
