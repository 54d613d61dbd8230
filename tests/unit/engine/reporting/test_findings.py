"""What is known about a placement of a group is told with it: that it was placed, that there is none, or that it is unknown."""

from posse.engine.decisions import Finding, ReportGroup
from posse.engine.events import Solved
from posse.engine.options import EngineOptions
from posse.engine.placement_problem import Solution
from posse.engine.proof import Outcome
from posse.model.container import ContainerPort
from posse.model.meta import Condition
from tests.support.builders import changed, composite, gang, node, pod, pods
from tests.support.engine_driver import Driver

NONE_EXISTS = "Proven: it cannot fit in the currently free capacity."


def findings(decisions):
    return {d.group.name: d.finding for d in decisions if isinstance(d, ReportGroup)}


def test_a_group_that_starts_was_placed():
    driver = Driver(node(cpu="4"), gang(minimum=2), *pods(2, cpu="1", group="g1"))
    assert findings(driver.decide()) == {"g1": Finding(Outcome.PLACED)}


def test_a_group_of_equal_pods_that_does_not_fit_is_proven_not_to():
    driver = Driver(node(cpu="1"), gang(minimum=2), *pods(2, cpu="1", group="g1"))
    assert findings(driver.decide()) == {"g1": Finding(Outcome.IMPOSSIBLE, NONE_EXISTS)}


def doubtful(**options):
    """Return a driver with a group of different pods, of which it takes an exact search to know that they do not fit."""
    shapes = [node(f"n{number}", cpu="5") for number in range(2)]
    members = [pod(f"p{number}", cpu=cpu, group="g1") for number, cpu in enumerate(("3", "3", "4"))]
    return Driver(*shapes, gang(minimum=3), *members, options=EngineOptions(**options))


def test_without_an_exact_search_a_small_group_is_gone_through_by_the_engine_itself():
    assert findings(doubtful().decide())["g1"] == Finding(Outcome.IMPOSSIBLE, NONE_EXISTS)


def test_an_exact_search_is_given_the_effort_that_was_chosen_and_says_what_it_found():
    driver = doubtful(asks=True, effort=3.0)
    [question] = driver.decide()
    assert question.effort == 3.0
    driver.engine.absorb(Solved(question.group, question.number, Solution(Outcome.IMPOSSIBLE)))
    assert findings(driver.decide())["g1"] == Finding(Outcome.IMPOSSIBLE, NONE_EXISTS)


def test_an_outcome_that_stays_the_same_is_not_new():
    known = Condition(type="scheduling.posse.dev/PlacementExists", status="False", reason="ProvenInfeasible")
    group = gang(minimum=2, conditions=[known])
    driver = Driver(node(cpu="1"), group, *pods(2, cpu="1", group="g1"))
    assert findings(driver.decide())["g1"].is_new is False
    driver.see(node("n2", cpu="1"))
    assert findings(driver.decide(after=20))["g1"] == Finding(Outcome.PLACED)


def test_of_a_tree_the_root_is_told_what_is_known_of_all():
    leaf = gang("g1", 2, parent_composite_pod_group_name="root")
    driver = Driver(node(cpu="1"), composite("root", 1), leaf, *pods(2, cpu="1", group="g1"))
    found = findings(driver.decide())
    assert (found["root"].outcome, found["g1"]) == (Outcome.IMPOSSIBLE, None)
    driver.see(node("n2", cpu="1"))
    found = findings(driver.decide(after=20))
    assert found == {"root": Finding(Outcome.PLACED), "g1": Finding(Outcome.PLACED)}


def test_rules_that_no_exact_search_knows_are_gone_through_and_in_a_tree_named():
    members = [pod(f"p{number}", cpu=cpu, group="g1") for number, cpu in enumerate(("3", "3", "4"))]
    port = (ContainerPort(container_port=80, host_port=80),)
    with_port = changed(members[0].spec.containers[0], ports=port)
    members[0] = changed(members[0], spec={"containers": (with_port,)})
    options = EngineOptions(asks=True)
    driver = Driver(node("n1", cpu="5"), node("n2", cpu="5"), gang(minimum=3), *members, options=options)
    assert findings(driver.decide())["g1"] == Finding(Outcome.IMPOSSIBLE, NONE_EXISTS)
    leaf = gang(minimum=3, parent_composite_pod_group_name="root")
    tree = (composite("root", 1), leaf, *members)
    found = findings(Driver(node("n1", cpu="5"), node("n2", cpu="5"), *tree, options=options).decide())[
        "root"
    ]
    assert found.outcome is Outcome.UNDECIDED
    assert "NodePorts" in found.text
