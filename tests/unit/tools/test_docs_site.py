"""The site: pages of the reference follow the code, and what pages link to is there."""

import re
from pathlib import Path

import pytest

from posse.cli.verbs import VERBS
from posse.model.feature_gates import Gate
from tools.docs_site.reference import reference_pages
from tools.docs_site.staging import stage

ROOT = Path(__file__).parents[3]
LINK = re.compile(r"\]\(([^)\s]+)\)")
PAGES = sorted(
    [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    ]
)


def anchors(page):
    """Anchors of the headings of a page, as GitHub and the generator make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"`[^`\n]*`", "", page.read_text())
    broken = []
    for link in LINK.findall(text):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        aim = page.parent / name if name else page
        if not aim.exists() or (anchor and aim.suffix == ".md" and anchor not in anchors(aim)):
            broken.append(link)
    assert broken == []


@pytest.fixture(scope="module")
def reference():
    return reference_pages()


def test_every_verb_and_its_options_are_in_the_reference(reference):
    text = reference["cli.md"]
    assert [verb for verb in VERBS if f"## posse {verb}\n" not in text] == []
    assert "`--snapshot`" in text
    assert "[bold]" not in text


def test_configuration_gates_names_metrics_and_events_are_in_the_reference(reference):
    assert "`schedulerName`" in reference["configuration.md"]
    assert "`leaseDuration`" in reference["configuration.md"]
    assert all(f"`{gate}`" in reference["feature-gates.md"] for gate in Gate)
    assert "`scheduling.posse.dev/reserved-capacity`" in reference["names.md"]
    assert "`PodGroupInitiallyScheduled`" in reference["names.md"]
    assert "`scheduler_schedule_attempts_total`" in reference["metrics.md"]
    assert "`FailedScheduling`" in reference["events.md"]


def test_every_name_in_the_reference_has_a_meaning(reference):
    rows = [line.split(" | ") for line in reference["names.md"].splitlines() if line.startswith("| `")]
    assert [cells[0] for cells in rows if not cells[1].strip(" |")] == []


def test_staged_pages_link_only_to_what_is_staged(tmp_path):
    navigation = stage(tmp_path / "site")
    assert "Start" in navigation[0]
    for page in (tmp_path / "site").rglob("*.md"):
        for link in LINK.findall(re.sub(r"`[^`\n]*`", "", page.read_text())):
            if "://" not in link and not link.startswith("mailto:"):
                aim = page.parent / link.partition("#")[0]
                assert aim.resolve().is_relative_to((tmp_path / "site").resolve()), (page, link)
                assert aim.exists(), (page, link)
