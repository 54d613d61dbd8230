"""Copies docs/ for the generator of the site, with the reference, and with all that pages link to.

Links to files outside of docs/, such as examples, lead to copies. A link to a folder leads to a page with its files.
"""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.docs_site.reference import reference_pages
from tools.sbom import ROOT

DOCS = ROOT / "docs"
_LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)]*)?\)")
_TITLE = re.compile(r"^# (.*)$", re.MULTILINE)
# A row of the table of guides in the README: a topic and links.
_TOPIC = re.compile(r"^\| ([^|]+?) \| (\[.*docs/guides/.*) \|$", re.MULTILINE)
_GUIDE = re.compile(r"\(docs/(guides/[^/)]+\.md)\)")
_LANGUAGES = {".yaml": "yaml", ".py": "python", ".toml": "toml"}
_SECTIONS = (
    ("Start", ("index.md", "concepts.md", "glossary.md")),
    ("Tutorials", ("tutorials",)),
    ("Guides", ("guides",)),
    ("Beside others", ("comparison.md", "migration", "guides/neighbours", "cases")),
    ("When something is wrong", ("troubleshooting.md",)),
    ("Reference", ("reference",)),
    ("Design", ("architecture.md", "threat-model.md", "benchmarks.md", "decisions")),
)


STYLE = "style.css"
# Names in the first column of a table are not broken.
_STYLE = ".md-typeset td:first-child code { word-break: normal; }\n"


def stage(target: Path) -> list[dict[str, Any]]:
    """Write the pages, and return the navigation."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(DOCS, target, ignore=shutil.ignore_patterns("*.lock"))
    (target / "reference").mkdir()
    (target / STYLE).write_text(_STYLE)
    for name, text in reference_pages().items():
        (target / "reference" / name).write_text(text)
    for page in sorted(target.rglob("*.md")):
        origin = DOCS / page.relative_to(target)
        page.write_text(_relinked(page.read_text(), origin, target))
    navigation = [{title: list(_entries(target, places))} for title, places in _SECTIONS]
    return [{"Guides": _by_topic(target)} if "Guides" in section else section for section in navigation]


def _by_topic(target: Path) -> list[dict[str, Any]]:
    """Return the guides as the README groups them."""
    rows = _TOPIC.findall((ROOT / "README.md").read_text())
    topics = {topic: _GUIDE.findall(links) for topic, links in rows}
    listed = {place for places in topics.values() for place in places}
    present = {str(page.relative_to(target)) for page in (target / "guides").glob("*.md")}
    if listed != present:
        raise SystemExit(f"README and docs/guides differ: {', '.join(sorted(listed ^ present))}")
    return [
        {topic: [{_title(target / place): place} for place in places]}
        for topic, places in topics.items()
        if places
    ]


def _relinked(text: str, origin: Path, target: Path) -> str:
    def replaced(found: re.Match[str]) -> str:
        link = found[2]
        aim = Path(os.path.normpath(origin.parent / link))
        if "://" in link or link.startswith("mailto:") or aim.is_relative_to(DOCS):
            return found[0]
        copy = _copied(aim, target)
        inside = os.path.relpath(copy, target / origin.parent.relative_to(DOCS))
        return f"{found[1]}{inside}{found[3] or ''})"

    return _LINK.sub(replaced, text)


def _copied(aim: Path, target: Path) -> Path:
    """The copy of a file, or a page about a folder."""
    copy = target / "files" / aim.relative_to(ROOT)
    if aim.is_dir():
        copy.mkdir(parents=True, exist_ok=True)
        (copy / "index.md").write_text("\n".join(_listing(aim)))
        return copy / "index.md"
    copy.parent.mkdir(parents=True, exist_ok=True)
    if aim.suffix == ".md":
        # Its own links are for readers of the repository.
        copy.write_text(_LINK.sub(lambda found: found[0] if "://" in found[2] else "])", aim.read_text()))
    else:
        shutil.copy(aim, copy)
    return copy


def _listing(folder: Path) -> Iterator[str]:
    yield f"# {folder.relative_to(ROOT)}"
    for path in sorted(folder.rglob("*")):
        if path.suffix in _LANGUAGES and "__pycache__" not in path.parts:
            yield f"\n## {path.relative_to(folder)}\n\n```{_LANGUAGES[path.suffix]}\n{path.read_text()}```"


def _entries(target: Path, places: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for place in places:
        path = target / place
        if path.is_file():
            yield {_title(path): place}
        elif path.is_dir():
            pages = sorted(path.glob("*.md"), key=lambda page: (page.stem != "README", _title(page).lower()))
            listed = [{_title(page): str(page.relative_to(target))} for page in pages]
            if len(places) == 1:
                yield from listed
            else:
                yield {path.name.capitalize(): listed}


def _title(page: Path) -> str:
    found = _TITLE.search(page.read_text())
    return found[1].replace("`", "") if found else page.stem
