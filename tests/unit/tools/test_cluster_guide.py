"""The page on testing with a real cluster names commands that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_target_it_names_is_one():
    page = (ROOT / "docs" / "guides" / "testing-on-a-real-cluster.md").read_text()
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = re.findall(r"make ([a-z-]+)", page)
    assert len(set(named)) >= 3
    assert set(named) <= set(targets)
