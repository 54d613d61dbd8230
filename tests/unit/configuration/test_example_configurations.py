"""The examples of configuration and of a plugin package do what their documentation says."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

from posse.configuration.reading import read_configuration
from posse.engine.rules.profile import PackingPolicy
from tests.support.builders import changed, container, gang, node, pod, pods
from tests.support.engine_driver import Driver, group_reports, placements, pod_reports

EXAMPLES = Path(__file__).parents[3] / "examples"
POWER = EXAMPLES / "plugin-rack-power"
NAMES = ("RackPower", "RackHeadroom", "FewRacks")
WATTS = "power.example.com/watts"


@pytest.fixture(scope="module")
def plugins():
    """As the entry points of the package would give them."""
    spec = importlib.util.spec_from_file_location("rack_power", POWER / "rack_power.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: lambda name=name: getattr(module, name) for name in NAMES}


def racked(name, rack, watts="1000", **description):
    labels = {"power.example.com/rack": rack, "power.example.com/rack-watts": watts}
    return node(name, labels=labels, **description)


def drawing(name, watts, **spec):
    return pod(name, requests={WATTS: str(watts)}, **spec)


@pytest.fixture
def powered(plugins):
    def driver(*objects):
        document = yaml.safe_load((POWER / "scheduler.yaml").read_text())
        return Driver(*objects, options=read_configuration(document, plugins).options)

    return driver


def test_pods_go_where_the_rack_has_power(powered):
    racks = (racked("n1", "a"), racked("n2", "a"), racked("n3", "b"))
    assert powered(*racks, drawing("there", 500, on="n1"), drawing("new", 600)).bind() == {"new": "n3"}


def test_what_is_on_one_node_counts_for_the_whole_rack(powered):
    racks = (racked("n1", "a"), racked("n2", "a"))
    decisions = powered(*racks, drawing("there", 500, on="n1"), drawing("new", 500)).decide()
    assert "2 node(s) had too little power in their rack" in pod_reports(decisions)["new"][1]


def test_the_manifest_of_the_example_shows_what_the_plugin_does(powered):
    racks, waiting = [], []
    for document in yaml.safe_load_all((POWER / "pods.yaml").read_text()):
        name, labels = document["metadata"]["name"], document["metadata"].get("labels")
        if document["kind"] == "Node":
            racks.append(node(name, labels=labels))
        else:
            [asking] = document["spec"]["containers"]
            waiting.append(drawing(name, asking["resources"]["requests"][WATTS]))
    decisions = powered(*racks, *waiting).decide()
    assert sorted(placements(decisions).values()) == ["power-a", "power-b"]
    [(_, message)] = pod_reports(decisions).values()
    assert "2 node(s) had too little power in their rack" in message


def test_pods_that_draw_nothing_may_go_anywhere(powered):
    assert powered(node("plain"), pod("p1")).bind() == {"p1": "plain"}


def test_nodes_without_a_rack_have_no_power(powered):
    decisions = powered(node("plain"), drawing("new", 1)).decide()
    assert "1 node(s) had too little power in their rack" in pod_reports(decisions)["new"][1]


def test_the_rack_with_most_power_left_comes_first(powered):
    racks = (racked("n1", "a"), racked("n2", "b", watts="4000"))
    assert powered(*racks, drawing("new", 100)).bind() == {"new": "n2"}


@pytest.mark.parametrize("unreadable", ["oops", "", "-1", "1e3", "9" * 30])
def test_a_label_that_is_no_number_closes_its_own_nodes_alone(powered, unreadable):
    driving = powered(racked("n1", "a", watts=unreadable), drawing("first", 600))
    assert "1 node(s) had too little power in their rack" in pod_reports(driving.decide())["first"][1]
    driving.see(racked("n2", "b"))
    assert driving.bind() == {"first": "n2"}
    assert not driving.engine.take_faults()


def test_a_label_that_is_put_right_opens_its_nodes(powered):
    driving = powered(racked("n1", "a", watts="oops"), drawing("new", 600))
    driving.decide()
    driving.see(racked("n1", "a", watts="1000"))
    assert driving.bind() == {"new": "n1"}


def test_a_gang_in_too_many_racks_waits(powered):
    small = {"cpu": "1", "memory": "1Gi"}
    racks = [racked(f"n{i}", f"rack-{i}", **small) for i in range(3)]
    decisions = powered(*racks, gang(minimum=3), *pods(3, cpu="1", group="g1")).decide()
    ((_, scheduled, _, message),) = group_reports(decisions)
    assert not scheduled
    assert message == "FewRacks: its pods would be in 3 racks, at most 2 are allowed."


def test_a_gang_in_few_racks_starts(powered):
    racks = [racked(f"n{i}", f"rack-{i % 2}", cpu="1") for i in range(3)]
    placed = powered(*racks, gang(minimum=3), *pods(3, cpu="1", group="g1")).bind()
    assert len(placed) == 3


def test_the_configuration_with_two_profiles_spreads_and_packs():
    document = yaml.safe_load((EXAMPLES / "scheduler-configuration" / "two-profiles.yaml").read_text())
    configuration = read_configuration(document, {})
    assert configuration.notices == ()
    ordinary = [node(f"n{i}", cpu="8", memory="8Gi") for i in range(2)]
    gpu = node("gpu", cpu="8", memory="8Gi", labels={"nvidia.com/gpu.present": "true"})
    there = pod("there", cpu="1", memory="1Gi", on="n1")
    batch = [
        changed(pod(f"b{i}", scheduler_name="packing"), spec={"containers": (container("1", "1Gi"),)})
        for i in range(2)
    ]
    driving = Driver(gpu, *ordinary, there, *batch, options=configuration.options)
    assert driving.bind() == {"b0": "n1", "b1": "n1"}


def test_the_configuration_that_packs_names_its_levels():
    document = yaml.safe_load((EXAMPLES / "scheduler-configuration" / "packing.yaml").read_text())
    configuration = read_configuration(document, {})
    assert configuration.notices == ()
    levels = [f"topology.posse.dev/{level}" for level in ("zone", "block", "rack")]
    assert configuration.options.profiles["default-scheduler"].packing == PackingPolicy(tuple(levels), True)


def test_what_the_guide_shows_is_a_configuration_that_works():
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "configuration.md").read_text()
    (shown,) = re.findall(r"^```yaml\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    configuration = read_configuration(yaml.safe_load(shown), {})
    assert list(configuration.options.profiles) == ["default-scheduler", "packing"]
