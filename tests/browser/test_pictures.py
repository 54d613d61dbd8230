"""Pictures of each view for the documentation, of a cluster with some life; only with SCREENSHOTS=docs/images."""

import pytest

from tests.browser.conftest import SCREENSHOTS
from tests.browser.lab import Lab, go

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not SCREENSHOTS, reason="set SCREENSHOTS=docs/images to draw them"),
]

GANGS = {
    "vision": (8, 8, "40m"),
    "speech": (16, 4, "1h30m"),
    "ranking": (4, 8, "25m"),
    "search": (6, 8, "2h"),
    "eval": (10, 2, "50m"),
    "batch": (12, 1, "10m"),
}
"""Pods, GPUs of each, and how long it is expected to run."""
CALM = "() => document.querySelector('#connection').textContent === 'Live'"


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    """64 nodes in two blocks of four racks; six gangs run, two wait."""
    folder = tmp_path_factory.mktemp("city")
    words = ["--nodes", "64", "--topology", "block=2,rack=4", "--record", folder / "recording"]
    with Lab(folder, words) as running:
        for name, (size, gpus, lasts) in GANGS.items():
            annotated = f"{{name: {name}, annotations: {{posse.dev/expected-duration: {lasts}}}}}"
            running.apply_text(running.gang(name, size, gpus).replace(f"{{name: {name}}}", annotated, 1))
        running.apply_text(running.gang("foundation", 40))
        running.apply_text(running.gang("foundation-next", 48))
        running.wait_until(lambda: "foundation-next" in running.posse("gangs"))
        yield running


def calmly_go(page, view):
    go(page, view)
    page.wait_for_timeout(1000)


def test_pictures_of_every_view(open_page, city, shoot):
    page = open_page(city.address)
    page.wait_for_function(CALM)
    page.get_by_text("default/foundation-next").wait_for()
    page.get_by_role("list", name="Who holds it").get_by_text("default/vision").hover()
    shoot(page, "page-map")
    for view in ("queue", "health", "time"):
        calmly_go(page, f"#/{view}{'?state=all' if view == 'queue' else ''}")
        if view == "time":
            page.locator(".foreseen").first.wait_for()
        shoot(page, f"page-{view}")
    calmly_go(page, "#/queue")
    page.get_by_text("default/foundation", exact=True).click()
    page.get_by_role("button", name="Preview: ").first.click()
    page.locator("table.plan").wait_for()
    shoot(page, "page-gang")
    calmly_go(page, "#/whatif")
    page.get_by_label("More nodes").fill("32")
    page.get_by_role("button", name="What would happen?").click()
    page.locator("table.plan").wait_for()
    page.locator("table.plan").evaluate("table => table.scrollIntoView()")
    shoot(page, "page-what-if")


def test_pictures_in_the_dark_and_on_a_phone(open_page, city, shoot):
    page = open_page(city.address, color_scheme="dark")
    page.get_by_text("default/foundation-next").wait_for()
    shoot(page, "page-dark")
    phone = open_page(city.address, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    phone.get_by_text("default/foundation-next").wait_for()
    shoot(phone, "page-phone")
