"""The page by keyboard, by screen readers, on a phone, after a restart, and against hostile names."""

import socket
import subprocess
import sys

import pytest

from posse.cli.reading.snapshot_file import Listed, new_header, write_snapshot
from posse.kinds.registry import NAMESPACE, NODE, POD, POD_GROUP
from tests.browser.lab import ROOT, Lab, go
from tests.support.listed_objects import gang, node, pod
from tests.support.posse_command import posse

pytestmark = pytest.mark.browser

VIEWS = ["#/map", "#/queue?state=all", "#/whatif", "#/health", "#/time"]
GANG_VIEW = "#/gang/default%2FPodGroup%2Fscheduling.k8s.io%2Ftitan"
SERIOUS = {"serious", "critical"}


def wait_for_content(page):
    page.wait_for_function("() => document.querySelector('main').innerText.length > 80")


def test_everything_can_be_reached_by_keyboard(live):
    live.keyboard.press("1")
    live.keyboard.press("/")
    live.wait_for_function("() => document.activeElement.id === 'search'")
    live.get_by_role("heading", name="Queue").focus()
    live.keyboard.press("2")
    live.get_by_role("heading", name="Queue").wait_for()
    live.keyboard.press("/")
    live.wait_for_function("() => document.activeElement.id === 'search'")
    live.keyboard.type("titan")
    live.get_by_role("link", name="default/titan").wait_for()
    focused = "() => document.activeElement.textContent"
    for _ in range(8):
        live.keyboard.press("Tab")
        if live.evaluate(focused) == "default/titan":
            break
    live.keyboard.press("Enter")
    live.get_by_role("button", name="Preview: ").first.wait_for()
    for _ in range(40):
        live.keyboard.press("Tab")
        if live.evaluate(focused).startswith("Preview: "):
            break
    live.keyboard.press("Enter")
    live.locator("table.plan").wait_for()


def test_the_map_is_walked_by_arrow_keys(live):
    live.get_by_role("list", name="Who holds it").get_by_text("default/trainer").wait_for()
    live.locator("canvas").focus()
    tip = live.locator(".tip")
    live.keyboard.press("ArrowRight")
    tip.get_by_text("node-").wait_for()
    first = tip.inner_text()
    live.keyboard.press("ArrowDown")
    live.wait_for_function("first => document.querySelector('.tip').innerText !== first", arg=first)
    live.keyboard.press("ArrowUp")
    live.keyboard.press("Enter")
    live.locator(".headline", has_text="default/trainer has started").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_violation(open_page, lab, scheme):
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - only `make test-browser` installs it

    page = open_page(lab.address, color_scheme=scheme, bypass_csp=True)
    page.get_by_text("Live", exact=True).wait_for()
    found = []
    for view in [*VIEWS, GANG_VIEW]:
        go(page, view)
        wait_for_content(page)
        violations = Axe().run(page).response["violations"]
        found += [
            f"{view}: {one['id']}: {target['html']}"
            for one in violations
            if one["impact"] in SERIOUS
            for target in one["nodes"]
        ]
    assert found == []


def test_a_phone_needs_no_sideways_scrolling(open_page, lab):
    page = open_page(lab.address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.get_by_text("Live", exact=True).wait_for()
    for view in [*VIEWS, GANG_VIEW]:
        go(page, view)
        wait_for_content(page)
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), view


def test_without_the_token_nothing_is_shown(open_page, lab):
    page = open_page(lab.address.partition("#")[0], expected=["401"])
    page.get_by_text("open the address that Posse printed").wait_for()
    assert "trainer" not in page.locator("body").inner_text()


def test_the_page_loads_nothing_from_elsewhere(chromium, lab):
    context = chromium.new_context()
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(lab.address)
    page.get_by_text("Live", exact=True).wait_for()
    context.close()
    own = lab.address.partition("#")[0]
    assert [url for url in asked if not url.startswith(own)] == []


def test_the_page_connects_again_after_a_restart(open_page, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with Lab(tmp_path, ["--nodes", "2"], port=port) as cluster:
        address = cluster.address
        page = open_page(address, expected=["ERR_", "net::"])
        page.get_by_text("Live", exact=True).wait_for()
        cluster.stop()
        page.get_by_text("Connection lost").wait_for()
        cluster.start()
        assert cluster.address == address
        page.get_by_text("Live", exact=True).wait_for()
        cluster.apply("examples/gang-too-big.yaml")
        page.get_by_role("list", name="Who waits").get_by_text("default/colossus").wait_for()


HOSTILE = '<img src=x onerror="window.taken=1"><script>window.taken=2</script>'


def hostile_snapshot(path):
    """The API refuses such names; a file can have any."""
    nodes = [node(f"{HOSTILE}{number}", HOSTILE) for number in range(2)]
    pods = [pod(f"{HOSTILE}-{number}", group=HOSTILE, gpus=8) for number in range(3)]
    running = pod("runs", group=f"runs{HOSTILE}", node_name=f"{HOSTILE}0", gpus=4)
    listed = [
        *(Listed(NODE.group_resource, one) for one in nodes),
        *(Listed(POD_GROUP.group_resource, one) for one in (gang(HOSTILE, 3), gang(f"runs{HOSTILE}", 1))),
        *(Listed(POD.group_resource, one) for one in (*pods, running)),
    ]
    header = new_header("team", 1767225660.0, [NAMESPACE, NODE, POD_GROUP, POD], [])
    write_snapshot(path, header, listed)


def test_names_of_objects_are_never_markup(open_page, tmp_path):
    hostile_snapshot(tmp_path / "hostile")
    words = [sys.executable, "-m", "posse", "ui", "--snapshot", tmp_path / "hostile", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT) as serving:
        try:
            address = serving.stdout.readline().partition(" at ")[2].strip()
            page = open_page(address, expected=["net::ERR"])
            page.get_by_text("As of").wait_for()
            waits = page.get_by_role("list", name="Who waits")
            waits.get_by_text("<img src=x").first.wait_for()
            waits.get_by_role("link").first.click()
            page.locator(".headline", has_text="<script>").wait_for()
            for view in VIEWS:
                go(page, view)
                assert page.locator("img, main script").count() == 0, view
            assert page.evaluate("() => window.taken") is None
        finally:
            serving.terminate()


def test_the_report_of_a_simulation_is_drawn(open_page, tmp_path, shoot):
    posse("posse", "simulate", ROOT / "examples" / "traces" / "day.csv", "--out", tmp_path)
    page = open_page((tmp_path / "report.html").as_uri())
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    assert page.locator(".js-plotly-plot").count() >= 1
    shoot(page, "simulation-report")
