"""A browser, clusters of `posse up` in processes of their own, and pages that may report no error."""

import os
import shutil
from pathlib import Path

import pytest

from tests.browser.lab import Lab

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
SCREENSHOTS = os.environ.get("SCREENSHOTS", "")
ROOT = Path(__file__).parents[2]
LAPTOP = {"width": 1280, "height": 720}
PATIENCE_MILLISECONDS = 60_000


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only `make test-browser` installs it

    with sync_playwright() as playwright:
        # Without its sandbox, because tests also run as root in containers. It sees only pages of this machine.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Open addresses in pages of their own. A test fails if a page reports an error."""
    contexts, errors = [], []

    def opened(url, viewport=None, expected=(), **options):
        context = chromium.new_context(viewport=viewport or LAPTOP, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MILLISECONDS)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: _note(said, errors, expected))
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []


def _note(said, errors, expected):
    if said.type == "error" and not any(text in said.text for text in expected):
        errors.append(said.text)


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """Sixteen nodes in four racks with a gang on four of them, and a gang that waits; recorded."""
    folder = tmp_path_factory.mktemp("lab")
    words = ["--nodes", "16", "--topology", "block=2,rack=2", "--record", folder / "recording"]
    with Lab(folder, words) as running:
        running.apply("examples/gang.yaml")
        running.wait_until(lambda: "Scheduled" in running.posse("gangs"))
        running.apply_text(running.gang("titan", 14))
        running.wait_until(lambda: "titan" in running.posse("gangs"))
        yield running


@pytest.fixture
def live(open_page, lab):
    page = open_page(lab.address)
    page.get_by_text("Live", exact=True).wait_for()
    return page


@pytest.fixture
def shoot():
    """Write a picture for the documentation, if asked to."""

    def shot(page, name):
        if SCREENSHOTS:
            page.wait_for_timeout(500)
            page.screenshot(path=str(ROOT / SCREENSHOTS / f"{name}.png"))

    return shot
