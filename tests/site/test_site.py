"""The site as it was built by `make docs`: nothing is loaded from elsewhere, links lead somewhere, the search finds."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.site

SITE = Path(__file__).parents[2] / "build" / "site"
LOADED = re.compile(r'<(?:script|img|link)\b[^>]*?(?:src|href)="([^"]+)"')
LINKED = re.compile(r'<a\b[^>]*?href="([^"]+)"')
IDS = re.compile(r'\bid="([^"]+)"')
PAGES = sorted(SITE.rglob("*.html"))


def test_the_site_was_built():
    assert len(PAGES) > 60


def test_nothing_is_loaded_from_elsewhere():
    loaded = {
        (page.name, address)
        for page in PAGES
        for address in LOADED.findall(page.read_text())
        if "://" in address and 'rel="canonical"' not in address
    }
    assert loaded == set()


def test_links_between_pages_lead_somewhere():
    ids = {page: set(IDS.findall(page.read_text())) for page in PAGES}
    broken = []
    for page in PAGES:
        # The page about a wrong address is served anywhere.
        if page.name == "404.html":
            continue
        for link in LINKED.findall(page.read_text()):
            if "://" in link or link.startswith(("mailto:", "javascript:")):
                continue
            name, _, anchor = link.partition("#")
            aim = (page.parent / name).resolve() if name else page
            aim = aim / "index.html" if aim.is_dir() else aim
            if not aim.exists() or (anchor and aim in ids and anchor not in ids[aim]):
                broken.append((str(page.relative_to(SITE)), link))
    assert broken == []


def test_the_search_finds_without_a_server():
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no chromium here")
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=10000",
        "--dump-dom",
    ]
    address = f"{(SITE / 'index.html').as_uri()}?q=starvation"
    told = subprocess.run([*command, address], capture_output=True, text=True, check=True).stdout
    assert int(re.search(r"(\d+) matching documents", told)[1]) >= 3
