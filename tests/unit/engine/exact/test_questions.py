"""Groups about which the quick search is in doubt: what is asked, what comes of the answer, and what time does to it."""

import pytest

from posse.engine.decisions import Evict, ReportGroup, Solve
from posse.engine.events import Solved
from posse.engine.exact import problem_builder as asking_module
from posse.engine.options import EngineOptions
from posse.engine.placement_problem import Solution
from posse.engine.proof import Outcome
from posse.engine.trials import group_trial as trial_module
from posse.solver.solving import solve
from tests.support.builders import changed, composite, gang, initially_scheduled, node, one_domain, pod
from tests.support.engine_driver import Driver, binds, evicted

# Each node takes exactly one way of sharing out; found by comparison with going through every placement.
NODES = ((8, 5), (6, 4), (8, 7), (7, 5))
PODS = ((3, 3), (3, 3), (3, 3), (4, 5), (4, 5))


def nodes(*shapes):
    return [
        node(f"n{number}", cpu=str(cpu), memory=f"{memory}Gi")
        for number, (cpu, memory) in enumerate(shapes, start=1)
    ]


def members(*shapes):
    return [
        pod(f"p{number}", str(cpu), f"{memory}Gi", group="g1")
        for number, (cpu, memory) in enumerate(shapes, start=1)
    ]


def asking(*objects):
    return Driver(*objects, options=EngineOptions(asks=True))


def questions(decisions):
    return [decision for decision in decisions if isinstance(decision, Solve)]


def told(decisions):
    return [decision.message for decision in decisions if isinstance(decision, ReportGroup)]


def answer(driver, question, solution=None):
    found = solution or solve(question.problem, effort=10.0)
    driver.engine.absorb(Solved(question.group, question.number, found))


def test_without_anybody_to_ask_the_engine_goes_through_every_way_itself():
    driver = Driver(*nodes(*NODES), gang(minimum=5), *members(*PODS))
    assert len(driver.bind()) == 5


def test_a_group_in_doubt_is_told_nothing_before_the_answer():
    driver = asking(*nodes(*NODES), gang(minimum=5), *members(*PODS))
    decisions = driver.decide()
    [question] = questions(decisions)
    assert decisions == [question]


def test_a_solution_is_carried_out():
    driver = asking(*nodes(*NODES), gang(minimum=5), *members(*PODS))
    [question] = questions(driver.decide())
    answer(driver, question)
    [bind] = binds(driver.decide())
    assert len(bind.placements) == 5


def test_equal_pods_are_counted_and_nobody_is_asked():
    driver = asking(*nodes((3, 3), (3, 3)), gang(minimum=5), *members(*[(3, 3)] * 5))
    decisions = driver.decide()
    assert not questions(decisions)
    [message] = told(decisions)
    assert "Proven: it cannot fit" in message


def hopeless():
    """Enough room in all, and each sort by itself fits, but not both."""
    return asking(*nodes((5, 5), (5, 5)), gang(minimum=3), *members((3, 3), (3, 3), (4, 4)))


def test_a_proof_replaces_the_doubts():
    driver = hopeless()
    [question] = questions(driver.decide())
    answer(driver, question)
    [message] = told(driver.decide())
    assert "Proven: it cannot fit" in message
    assert "may exist" not in message


def test_an_exact_search_that_was_given_up_says_so():
    driver = hopeless()
    [question] = questions(driver.decide())
    answer(driver, question, Solution(Outcome.EXHAUSTED))
    [message] = told(driver.decide())
    assert "did not end within its budget" in message


def test_a_proof_about_another_cluster_proves_nothing_and_is_asked_again():
    driver = hopeless()
    [question] = questions(driver.decide())
    driver.see(*nodes((5, 5), (5, 5), (2, 2)))
    driver.see(node("n4", cpu="3", memory="3Gi"), node("n5", cpu="1", memory="1Gi"))
    answer(driver, question)
    decisions = driver.decide()
    assert binds(decisions) or questions(decisions)


def test_a_plan_that_no_longer_holds_is_not_carried_out():
    driver = asking(*nodes(*NODES), gang(minimum=5), *members(*PODS))
    [question] = questions(driver.decide())
    taken = pod("other", "6", "4Gi", on="n2")
    driver.see(taken)
    answer(driver, question)
    decisions = driver.decide()
    assert not binds(decisions)
    assert questions(decisions) or told(decisions)


def test_the_same_question_is_asked_once_while_it_is_open():
    driver = hopeless()
    assert len(questions(driver.decide())) == 1
    driver.see(changed(members((3, 3))[0], metadata={"annotations": {"note": "new"}}))
    assert not questions(driver.decide(after=60))


def test_an_answer_to_an_old_question_is_ignored():
    driver = hopeless()
    [question] = questions(driver.decide())
    driver.engine.absorb(Solved(question.group, question.number + 7, Solution(Outcome.IMPOSSIBLE)))
    assert driver.decide() == []


def test_a_cluster_that_changes_all_the_time_does_not_keep_a_group_from_an_answer():
    driver = hopeless()
    decisions = driver.decide()
    for number in range(10):
        if not questions(decisions):
            break
        driver.see(
            node(f"small-{number}", cpu="3500m", memory="2Gi"),
            node("n1", cpu="5", memory=f"{5000 + number}Mi"),
        )
        answer(driver, questions(decisions)[0], Solution(Outcome.IMPOSSIBLE))
        decisions = driver.decide()
    [message] = told(decisions)
    assert number == 3
    assert "Proven: it cannot fit" in message


def test_nobody_is_evicted_for_a_group_that_may_fit_without_it():
    low = pod("low", "1", on="n5", priority=-5)
    objects = [*nodes(*NODES), node("n5", cpu="4", memory="5Gi"), low]
    driver = asking(*objects, gang(minimum=5), *members(*PODS))
    decisions = driver.decide()
    assert questions(decisions) or binds(decisions)
    assert not [decision for decision in decisions if isinstance(decision, Evict)]


@pytest.mark.parametrize("goes", ["group", "pods"])
def test_who_has_gone_meanwhile_is_not_placed(goes):
    group, pods = gang(minimum=5), members(*PODS)
    driver = asking(*nodes(*NODES), group, *pods)
    [question] = questions(driver.decide())
    driver.lose(*([group] if goes == "group" else pods))
    driver.decide()
    answer(driver, question)
    assert not binds(driver.decide())


def test_an_answer_for_a_group_with_a_topology_key_stays_in_one_domain():
    """The second rack has room in plenty; what is missing in the first one cannot be made up for there."""
    first = [changed(one, metadata={"labels": {"rack": "r1"}}) for one in nodes(*NODES)]
    second = [node(f"x{i}", cpu="8", memory="8Gi", labels={"rack": f"r{i}"}) for i in (2, 3, 4)]
    driver = asking(*first, *second, gang(minimum=5, **one_domain()), *members(*PODS))
    [question] = questions(driver.decide())
    assert [len(column) for column in question.problem.domains] == [7]
    answer(driver, question)
    assert set(driver.bind().values()) <= {"n1", "n2", "n3", "n4"}


def test_a_group_of_groups_without_any_is_no_part_of_the_question():
    below = {"parent_composite_pod_group_name": "root"}
    tree = [composite("root", 1), composite("empty", 1, **below), gang("g1", 5, **below)]
    driver = asking(*nodes(*NODES), *tree, *members(*PODS))
    [question] = questions(driver.decide())
    answer(driver, question)
    [bind] = binds(driver.decide())
    assert len(bind.placements) == 5


def child(name, minimum, **spec):
    return gang(name, minimum, parent_composite_pod_group_name="root", **spec)


@pytest.mark.parametrize("where", ["full", "vanished"])
def test_what_runs_of_a_tree_is_no_part_of_the_question(where):
    """Nodes that are full are unknown to the puzzle, and so is the rack that a group which runs there is pinned to."""
    full = node("full", cpu="1", memory="1Gi", labels={"rack": "r1"})
    running = [child("runs", 1, **one_domain()), pod("there", "1", "1Gi", group="runs", on=where)]
    tree = [composite("root", 2), *running, child("g1", 5)]
    driver = asking(full, *nodes(*NODES), *tree, *members(*PODS))
    [question] = questions(driver.decide())
    assert question.problem.root.minimum == len(question.problem.root.children) == 1
    answer(driver, question)
    assert len(driver.bind()) == 5


def test_what_has_finished_of_a_tree_is_no_part_of_the_question():
    below = {"parent_composite_pod_group_name": "inner"}
    inner = composite("inner", 1, parent_composite_pod_group_name="root", **one_domain())
    done = [gang("done", 1, conditions=(initially_scheduled("True"),), **below)]
    done.append(pod("there", "1", "1Gi", group="done", on="n1", phase="Succeeded"))
    driver = asking(*nodes(*NODES), composite("root", 2), inner, *done, child("g1", 5), *members(*PODS))
    [question] = questions(driver.decide())
    answer(driver, question)
    assert len(driver.bind()) == 5


def test_a_group_that_runs_in_several_domains_is_no_part_of_the_question():
    """It cannot start any more, and an answer that counted on it could not be carried out."""
    racks = [node(f"x{i}", cpu="2", memory="2Gi", labels={"rack": f"r{i}"}) for i in (1, 2)]
    torn = [child("torn", 3, **one_domain()), pod("new", "1", "1Gi", group="torn")]
    torn += [pod(f"there{i}", "1", "1Gi", group="torn", on=f"x{i}") for i in (1, 2)]
    driver = asking(*racks, *nodes(*NODES), composite("root", 1), *torn, child("g1", 5), *members(*PODS))
    [question] = questions(driver.decide())
    assert len(question.problem.root.children) == 1
    answer(driver, question)
    assert len(driver.bind()) == 5


def test_a_question_about_many_nodes_that_are_alike_is_not_too_large(monkeypatch):
    monkeypatch.setattr(asking_module, "_MAX_CELLS", 2)
    pods = members(*[(3, 3)] * 20, (4, 4))
    driver = asking(*nodes(*[(5, 5)] * 20), gang(minimum=21), *pods)
    [question] = questions(driver.decide())
    assert question.problem.node_count == 20
    driver.see(node("other", cpu="6", memory="6Gi"))
    monkeypatch.setattr(asking_module, "_MAX_CELLS", 1)
    answer(driver, question, Solution(Outcome.EXHAUSTED))
    assert not questions(driver.decide(after=30))


@pytest.fixture
def brief(monkeypatch):
    """The search for victims enumerates no placements, as in a large cluster."""
    monkeypatch.setattr(trial_module, "steps_allowed", lambda _state: 0)


def occupied(*shapes):
    """Nodes that are full of pods of lower priority."""
    there = enumerate(shapes, start=1)
    low = [pod(f"low{i}", str(cpu), f"{memory}Gi", on=f"n{i}", priority=-5) for i, (cpu, memory) in there]
    return [*nodes(*shapes), *low]


@pytest.mark.usefixtures("brief")
def test_victims_are_found_for_a_placement_that_only_the_exact_search_finds():
    driver = asking(*occupied(*NODES), gang(minimum=5), *members(*PODS))
    decisions = driver.decide()
    [question] = questions(decisions)
    assert not told(decisions)
    answer(driver, question)
    assert evicted(driver.decide()) == ["low1", "low2", "low3", "low4"]


@pytest.mark.usefixtures("brief")
def test_a_group_that_fits_without_no_victim_is_refused_once_that_is_proven():
    driver = asking(*occupied((5, 5), (5, 5)), gang(minimum=3), *members((3, 3), (3, 3), (4, 4)))
    [question] = questions(driver.decide())
    answer(driver, question)
    decisions = driver.decide()
    assert evicted(decisions) == []
    assert not questions(decisions)
    [message] = told(decisions)
    assert "no victims found" in message


@pytest.mark.usefixtures("brief")
def test_one_answer_is_enough_where_victims_would_change_nothing():
    useless = [node("n9", cpu="2", memory="2Gi"), pod("low", "2", "2Gi", on="n9", priority=-5)]
    driver = asking(*nodes((5, 5), (5, 5)), *useless, gang(minimum=3), *members((3, 3), (3, 3), (4, 4)))
    [question] = questions(driver.decide())
    answer(driver, question)
    decisions = driver.decide()
    assert not questions(decisions)
    assert len(told(decisions)) == 1


def overtaken():
    """A group that was refused, one behind it, and a new node with which only one of them starts."""
    driver = asking(*nodes(*NODES[:3]), gang(minimum=5), *members(*PODS))
    for question in questions(driver.decide()):
        answer(driver, question)
    assert told(driver.decide())
    driver.see(gang("later", 1), pod("q1", "7", "5Gi", group="later", created="2026-01-01T01:00:00Z"))
    driver.see(*nodes(*NODES)[3:])
    return driver


def test_nothing_overtakes_a_refused_group_while_it_is_asked_about():
    driver = overtaken()
    decisions = driver.decide(after=60)
    [question] = questions(decisions)
    assert not binds(decisions)
    answer(driver, question)
    assert len(driver.bind()) == 5


def test_a_long_search_delays_nothing_else():
    driver = overtaken()
    assert questions(driver.decide(after=60))
    assert driver.engine.next_wakeup() <= driver.now + 0.5
    assert driver.bind(after=0.5) == {"q1": "n3"}
