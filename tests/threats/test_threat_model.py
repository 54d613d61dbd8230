"""docs/threat-model.md: every threat in its tables has a test that is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = re.findall(r"^\| (?!---)(.*) \|$", (ROOT / "docs" / "threat-model.md").read_text(), re.MULTILINE)
THREATS = [row for row in ROWS if not row.endswith("| test")]


@pytest.mark.parametrize("row", THREATS)
def test_every_threat_has_a_test(row):
    named = re.fullmatch(r".* \| `(tests/\S+\.py)::(test_\w+)`", row)
    assert named, row
    tree = ast.parse((ROOT / named[1]).read_text())
    assert named[2] in [item.name for item in tree.body if isinstance(item, ast.FunctionDef)]


def test_there_are_threats():
    assert len(THREATS) > 20
