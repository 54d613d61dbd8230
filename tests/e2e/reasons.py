"""Which tests cannot pass on which cluster, and why: read from cannot_pass.yaml."""

from pathlib import Path

import yaml

from tests.e2e.clusters import MODES

FILE = Path(__file__).parent / "cannot_pass.yaml"


def reasons_for(mode: str) -> dict[str, str]:
    """Return the reasons on a cluster by a part of the names of tests; the first that fits a test counts."""
    found = {}
    for entry in yaml.safe_load(FILE.read_text()):
        if mode in entry.get("modes", MODES):
            found.update(dict.fromkeys(entry["tests"], entry["reason"]))
    return found
