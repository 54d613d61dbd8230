"""docs/guides/served.md names exactly the kinds that are served."""

from pathlib import Path

from posse.kinds.registry import KINDS

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "served.md"


def rows():
    groups = dict.fromkeys(kind.group for kind in KINDS)
    for group in groups:
        kinds = [kind for kind in KINDS if kind.group == group]
        names = ", ".join(kind.name for kind in kinds)
        versions = ", ".join(dict.fromkeys(version for kind in kinds for version in kind.versions))
        yield f"| {f'`{group}`' if group else 'core'}: {versions} | {names} |"


def test_the_guide_lists_all_kinds_that_are_served():
    table = GUIDE.read_text().partition("| group | kinds |\n|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == list(rows())
