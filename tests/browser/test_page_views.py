"""Each view of the page on a live cluster."""

import pytest

from tests.browser.lab import Lab, go

pytestmark = pytest.mark.browser

GANG = "default/PodGroup/scheduling.k8s.io/"


MARKED = """number => { const { map } = window.posseView;
    return Object.values(map.nodes).filter((node) => map.marked in node.holders).length === number }"""
"""Whether the map shows so many nodes as the places of the marked gang."""


def test_the_map_shows_who_runs_where_and_who_waits(live):
    runs = live.get_by_role("list", name="Who holds it")
    runs.get_by_text("default/trainer").wait_for()
    runs.get_by_text("32 GPUs").wait_for()
    live.get_by_role("list", name="Who waits").get_by_text("only 12 of the 14 pods").wait_for()
    live.locator("canvas[aria-label*='96 of 128']").wait_for()
    runs.get_by_text("default/trainer").hover()
    live.wait_for_function(MARKED, arg=4)


@pytest.mark.parametrize("way", ["tenant", "priority", "free"])
def test_the_map_has_other_colours(live, way):
    live.get_by_label("Colours show the").select_option(way)
    live.wait_for_function("way => window.posseView.map.way === way", arg=way)


def test_the_map_zooms_to_one_node_and_says_what_it_holds(live):
    live.wait_for_function("() => window.posseView.map.view")
    before = live.evaluate("() => window.posseView.map.view.scale")
    for _ in range(8):
        live.get_by_role("button", name="Zoom in").click()
    assert live.evaluate("() => window.posseView.map.view.scale") > before
    live.get_by_role("button", name="Show the whole cluster").click()
    place = live.evaluate(
        """() => { const { map } = window.posseView; const place = map.plan.places.get("node-0001");
        return { x: map.view.x + (place.x + 3) * map.view.scale, y: map.view.y + (place.y + 3) * map.view.scale } }"""
    )
    live.locator("canvas").hover(position=place)
    live.locator(".tip", has_text="node-0001 (block-1 / block-1-rack-1): 0 of 8").wait_for()


def test_a_waiting_gang_that_is_hovered_says_why_and_what_is_missing(live):
    live.get_by_role("list", name="Who waits").get_by_text("default/titan").hover()
    tip = live.locator(".tip", has_text="titan waits: only 12 of the 14 pods")
    tip.get_by_text("12 of 14 pods like titan-").wait_for()


def test_the_queue_is_searched_and_can_be_linked_to(live, open_page, lab):
    go(live, "#/queue")
    table = live.get_by_role("table")
    table.get_by_text("default/titan").wait_for()
    table.get_by_text("default/trainer").wait_for(state="hidden")
    live.get_by_label("State").select_option("all")
    table.get_by_text("default/trainer").wait_for()
    live.get_by_label("Search").fill("train")
    table.get_by_text("default/titan").wait_for(state="hidden")
    link = live.url
    assert "q=train" in link
    again = open_page(f"{link}&token={lab.address.partition('token=')[2]}")
    again.get_by_role("table").get_by_text("default/trainer").wait_for()
    assert "titan" not in again.get_by_role("table").inner_text()


def test_a_gang_that_does_not_fit_is_explained_and_a_remedy_is_previewed(live):
    go(live, "#/queue")
    live.get_by_text("default/titan").click()
    live.locator(".headline", has_text="only 12 of the 14 pods that must start together fit").wait_for()
    main = live.locator("main")
    assert "Proven: it cannot fit in the currently free capacity" in main.inner_text()
    assert "14 pods" in main.inner_text()
    live.get_by_role("button", name="Preview: 2 more nodes like").click()
    row = live.locator("table.plan tr", has_text="default/titan")
    row.get_by_text("starts", exact=True).wait_for()
    assert "14/14" in row.inner_text()
    assert "nothing was changed" in main.inner_text()
    live.get_by_role("button", name="Preview: a minCount of 12").click()
    row.get_by_text("12/14").wait_for()


CONFINED = "{minCount: 3}}, schedulingConstraints: {topology: [{key: topology.posse.dev/rack}]}"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Four nodes in two racks, to which tests add gangs and nodes."""
    with Lab(tmp_path_factory.mktemp("town"), ["--nodes", "4", "--topology", "rack=2"]) as running:
        yield running


def test_the_gang_starts_when_nodes_are_added_and_the_page_shows_it(open_page, town):
    page = open_page(town.address)
    town.apply_text(town.gang("late", 5))
    go(page, f"#/gang/{(GANG + 'late').replace('/', '%2F')}")
    page.locator("h1", has_text="Waiting").wait_for()
    town.apply("examples/more-nodes.yaml")
    page.locator("h1", has_text="Scheduled").wait_for()
    page.locator(".headline", has_text="all 5 pods are on nodes").wait_for()


def test_a_confined_gang_that_is_hovered_shows_the_domain_that_comes_closest(open_page, town):
    page = open_page(town.address)
    town.apply_text(town.gang("confined", 3).replace("{minCount: 3}}", CONFINED))
    town.wait_until(lambda: "confined" in town.posse("gangs"))
    page.get_by_role("list", name="Who waits").get_by_text("default/confined").hover()
    page.locator(".tip", has_text="Comes closest: rack").get_by_text("of 3 pods like confined-").wait_for()
    page.wait_for_function("() => window.posseView.map.domain.startsWith('rack ')")


def test_a_preemptor_shows_what_left_for_it(open_page, town):
    town.apply_text(
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n"
    )
    urgent = town.gang("urgent", 8).replace("spec: {scheduling", "spec: {priorityClassName: high, scheduling")
    town.apply_text(urgent.replace("spec:\n", "spec:\n  priorityClassName: high\n"))
    page = open_page(town.address)
    go(page, f"#/gang/{(GANG + 'urgent').replace('/', '%2F')}")
    page.locator("h1", has_text="Scheduled").wait_for()
    page.locator(".victims", has_text="late").wait_for()


MANIFEST = """\
apiVersion: batch/v1
kind: Job
metadata: {name: wish}
spec:
  parallelism: 2
  completions: 2
  completionMode: Indexed
  scheduling: {schedulingPolicy: {gang: {minCount: 2}}}
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: "8"}}}]
"""


def test_a_manifest_is_planned(live, lab):
    go(live, "#/whatif")
    live.get_by_label("Submit this manifest").fill(MANIFEST)
    live.get_by_role("button", name="What would happen?").click()
    row = live.locator("table.plan tr", has_text="default/wish")
    row.get_by_text("starts", exact=True).wait_for()
    assert "2/2" in row.inner_text()
    assert len(live.evaluate("() => Object.keys(window.posseView.answer.map.extra)")) == 2
    assert "wish" not in lab.posse("get", "jobs")


def test_a_drained_rack_is_planned_and_nonsense_refused(open_page, lab):
    live = open_page(lab.address, expected=["422"])
    live.get_by_text("Live", exact=True).wait_for()
    go(live, "#/whatif")
    live.get_by_label("Drain this rack").select_option("block-1-rack-1")
    live.get_by_role("button", name="What would happen?").click()
    live.locator("table.plan tr", has_text="default/trainer").wait_for()
    live.get_by_label("Drain, as in").fill("nonsense")
    live.get_by_role("button", name="What would happen?").click()
    live.locator(".error", has_text="is not rack=NAME").wait_for()


def test_health_counts_and_reads_the_metrics(live):
    go(live, "#/health")
    live.get_by_text("A round of deciding").wait_for()
    told = live.locator("main").inner_text()
    assert "GPUs in use" in told
    assert "block-1 / block-1-rack-1" in told


def test_time_is_scrubbed_over_the_recording(live):
    go(live, "#/time")
    live.get_by_role("group", name="Chart of when").wait_for()
    live.get_by_label("Look at").fill("0")
    live.locator("#moment", has_text="The recording at").wait_for()
    go(live, "#/queue?state=all")
    live.get_by_text("default/titan").first.wait_for(state="hidden")
    live.locator("#moment").get_by_role("button", name="Back to now").click()
    live.get_by_role("table").get_by_text("default/titan").wait_for()


@pytest.fixture(scope="module")
def tight(tmp_path_factory):
    """One node, a gang that holds it for an hour as its annotation says, and a gang that waits for it."""
    with Lab(tmp_path_factory.mktemp("tight"), ["--nodes", "1"]) as running:
        first = running.gang("first", 1)
        lasting = "{name: first, annotations: {posse.dev/expected-duration: 1h}}"
        running.apply_text(first.replace("{name: first}", lasting, 1))
        running.wait_until(lambda: "Scheduled" in running.posse("gangs"))
        running.apply_text(running.gang("second", 1))
        running.wait_until(lambda: "second" in running.posse("gangs"))
        yield running


def test_time_shows_when_gangs_are_expected_to_start_and_to_end(open_page, tight):
    page = open_page(tight.address)
    go(page, "#/time")
    chart = page.get_by_role("group", name="and what is expected until")
    chart.get_by_role("link", name="default/first, runs since").and_(
        page.get_by_label("is expected to end at")
    ).wait_for()
    chart.get_by_role("link", name="default/second, waits, is expected to start between").wait_for()
    chart.locator(".foreseen").wait_for()
    page.get_by_label("Rows are by").select_option("rack")
    chart.get_by_role("link", name="default/first, runs since").wait_for()
