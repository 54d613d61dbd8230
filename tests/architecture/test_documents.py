"""Documents for contributors name files that exist, and leave no decision out."""

import re

import pytest

from tests.architecture.source_tree import ROOT

PATH = re.compile(
    r"`((?:src/posse|tests|tools|docs|bench|engine|rules|kinds|runtime|cli|writes|controllers)/[\w./-]+)`"
)
SUFFIXES = ("", ".py")
BASES = (ROOT, ROOT / "src" / "posse", ROOT / "src" / "posse" / "engine")


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_files_that_are_named_exist(name):
    paths = set(PATH.findall((ROOT / name).read_text()))
    assert len(paths) > 10
    assert sorted(path for path in paths if not _exists(path)) == []


def _exists(path):
    return any((base / f"{path.rstrip('.')}{suffix}").exists() for base in BASES for suffix in SUFFIXES)


def test_every_decision_is_in_the_index():
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    records = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("0*.md"))
    assert [name for name in records if f"({name})" not in index] == []


REASONS = re.compile(r'(?:News|draft\.lift)\((?:[A-Z_]+, )?"([A-Z]\w+)"|(?:failure|success)="([A-Z]\w+)"')
NOTE = re.compile(r'\bNote\([\w.]+, (?:_subject\([\w.]+\)|\w+),\s*"([A-Z]\w+)"')
CONDITION_REPORT = re.compile(r'ConditionReport\(\s*\w+, "([A-Z]\w+)"')


def test_the_guide_lists_the_reasons_of_all_events():
    text = "\n".join(path.read_text() for path in (ROOT / "src" / "posse").rglob("*.py"))
    found = {one or other for one, other in REASONS.findall(text)}
    found |= {*NOTE.findall(text), *CONDITION_REPORT.findall(text)}
    assert len(found) > 30
    guide = (ROOT / "docs" / "guides" / "watching-decisions.md").read_text()
    assert sorted(reason for reason in found if f"`{reason}`" not in guide) == []
