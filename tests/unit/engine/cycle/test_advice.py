"""What would let a refused group start is asked elsewhere and added to its refusal, without writing for nothing."""

from posse.engine.decisions import Advise, ReportGroup
from posse.engine.events import Advised
from posse.engine.options import EngineOptions
from posse.engine.placement_problem import Advice, DemandName, MoreNodes, NodeShape, Remedies, SmallerMinimum
from posse.engine.reporting.remedy_messages import BEHIND, advice_text
from tests.support.builders import composite, gang, initially_scheduled, node, one_domain, pod, pods
from tests.support.engine_driver import Driver

ADVICE = "Any of these would let it start: 1 more node like n1."
ONE_MORE_NODE = Remedies((MoreNodes(((NodeShape("n1", (), ()), 1),)),))


def asking(*objects):
    return Driver(*objects, options=EngineOptions(asks=True))


def asked(decisions):
    return [one for one in decisions if isinstance(one, Advise)]


def told(decisions):
    return [one.message for one in decisions if isinstance(one, ReportGroup)]


def refused(**group):
    """Return a driver with a group of three of which two fit, and what it decided at first."""
    driver = asking(node("n1", cpu="2"), gang(minimum=3, **group), *pods(3, cpu="1", group="g1"))
    return driver, driver.decide()


def answer(driver, advise, remedies=ONE_MORE_NODE):
    driver.engine.absorb(Advised(advise.group, advise.number, remedies))


def test_the_refusal_is_told_at_once_and_the_advice_added_without_another_event():
    driver, first = refused()
    [message], [advise] = told(first), asked(first)
    answer(driver, advise)
    [report] = driver.decide()
    assert report.message == f"{message} {ADVICE}"
    assert (report.is_first, report.is_news) == (False, False)


def test_what_has_been_told_is_not_told_again_by_the_next_attempt():
    driver, first = refused()
    answer(driver, asked(first)[0])
    driver.decide()
    assert driver.decide(after=400) == []


def test_a_refusal_in_other_words_takes_the_advice_along_as_long_as_it_holds():
    driver, first = refused()
    answer(driver, asked(first)[0])
    driver.decide()
    driver.see(node("n2", cpu="100m"))
    [plain] = told(driver.decide(after=400))
    assert driver.engine.next_wakeup() == 0.0
    assert told(driver.decide()) == [f"{plain} {ADVICE}"]


def test_advice_about_another_refusal_is_not_added():
    driver, first = refused()
    driver.see(node("n1", cpu="1"))
    driver.decide(after=30)
    answer(driver, asked(first)[0])
    assert not any(ADVICE in message for message in told(driver.decide()))


def test_advice_on_a_refusal_that_was_replaced_meanwhile_is_not_kept_in_place_of_that_on_the_last():
    driver, first = refused()
    [advise] = asked(first)
    answer(driver, advise)
    driver.decide()
    driver.see(node("n1", cpu="1"))
    [other] = asked(driver.decide(after=30))
    driver.see(node("n1", cpu="2"))
    assert told(driver.decide(after=30))[-1].endswith(ADVICE)
    answer(driver, other, Remedies((MoreNodes(((NodeShape("n1", (), ()), 2),)),)))
    [again] = asked(driver.decide(after=5))
    answer(driver, again, Remedies((MoreNodes(((NodeShape("n1", (), ()), 3),)),)))
    assert "3 more nodes like n1" in told(driver.decide())[-1]


def test_after_a_restart_the_old_advice_stays_until_there_is_another():
    _, first = refused()
    message = f"{told(first)[0]} {ADVICE}"
    again, decisions = refused(conditions=[initially_scheduled("False", "Unschedulable", message)])
    assert told(decisions) == []
    answer(again, asked(decisions)[0], remedies=None)
    assert told(again.decide()) == [told(first)[0]]


def test_one_group_is_looked_at_at_a_time():
    driver = asking(node("n1", cpu="1"))
    for name in ("a", "b"):
        driver.see(gang(name, 2), *(pod(f"{name}{i}", cpu="1", group=name) for i in range(2)))
    [advise] = asked(driver.decide())
    assert asked(driver.decide(after=5)) == []
    answer(driver, advise)
    [following] = asked(driver.decide())
    assert {advise.group.name, following.group.name} == {"a", "b"}


def test_a_group_that_is_about_to_have_room_is_not_advised():
    driver = asking(node("n1", cpu="2"), pod("low", cpu="2", on="n1", priority=-1))
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    decisions = driver.decide()
    assert asked(decisions) == []
    assert told(decisions)


def test_of_a_tree_the_root_is_advised():
    leaf = gang("g1", 3, parent_composite_pod_group_name="root")
    driver = asking(node("n1", cpu="2"), composite("root", 1), leaf, *pods(3, cpu="1", group="g1"))
    [advise] = asked(driver.decide())
    answer(driver, advise)
    [report] = driver.decide()
    assert report.group.name == "root"
    assert report.message.endswith(ADVICE)


def test_whoever_started_meanwhile_is_told_nothing_more():
    driver, first = refused()
    driver.see(node("n2", cpu="2"))
    driver.decide(after=30)
    answer(driver, asked(first)[0])
    assert driver.decide() == []


def test_that_nothing_can_be_advised_is_told_as_well_and_once():
    members = pods(3, group="g1", requests={"example.com/card": "1"})
    driver = asking(node("n1", cpu="2"), gang(minimum=3), *members)
    [plain] = told(driver.decide())
    [added] = told(driver.decide())
    assert added.startswith(f"{plain} No node has example.com/card, of which one of its pods needs 1.")
    again = asking(
        node("n1", cpu="2"),
        gang(minimum=3, conditions=[initially_scheduled("False", "Unschedulable", added)]),
        *members,
    )
    assert told(again.decide()) + told(again.decide(after=400)) == []


def two_waiting_gangs():
    """Two gangs for which one node is too small; the advice for the second is asked after that for the first."""
    first = [gang("a", 2), *(pod(f"a{i}", cpu="1", group="a") for i in range(2))]
    second = [gang("b", 2), *(pod(f"b{i}", cpu="1", group="b") for i in range(2))]
    driver = asking(node("n1", cpu="1"), *first, *second)
    return driver, first


def advised(driver, seconds=10):
    """Answer everything that is asked, and return the last message of each group."""
    messages = {}
    for _ in range(seconds):
        decisions = driver.decide(after=1)
        for advise in asked(decisions):
            answer(driver, advise)
        messages |= {one.group.name: one.message for one in decisions if isinstance(one, ReportGroup)}
    return messages


def test_of_two_waiting_groups_the_second_is_told_that_the_first_may_take_the_capacity():
    driver, _ = two_waiting_gangs()
    messages = advised(driver)
    assert messages["a"].endswith(ADVICE)
    assert messages["b"].endswith(f"{ADVICE} {BEHIND}.")


def test_when_nothing_is_ahead_of_it_any_more_the_advice_says_so():
    driver, first = two_waiting_gangs()
    advised(driver)
    driver.lose(*reversed(first))
    assert advised(driver)["b"].endswith(ADVICE)


def test_a_smaller_minimum_takes_no_capacity_that_others_may_take():
    advice = Advice(
        Remedies(smaller_minimums=(SmallerMinimum(0, 1),)),
        (DemandName("g1", False, 2, 0),),
        has_topology=False,
        is_behind=True,
    )
    assert BEHIND not in advice_text(advice)


def test_missing_nodes_are_named_with_the_pods_that_need_them():
    driver, first = refused()
    answer(driver, asked(first)[0])
    [missing] = driver.engine.missing_nodes()
    assert missing.nodes == (("n1", 1),)
    [alike] = missing.pods
    assert (len(alike.pods), alike.count, missing.topology_key) == (3, 3, "")


def test_pods_beyond_the_minimum_need_no_nodes_and_different_pods_all_do():
    driver = asking(node("n1", cpu="2"), gang(minimum=3), *pods(5, cpu="1", group="g1"))
    answer(driver, asked(driver.decide())[0])
    assert [(len(one.pods), one.count) for one in driver.engine.missing_nodes()[0].pods] == [(5, 3)]
    mixed = asking(
        node("n1", cpu="2"),
        gang(minimum=3, **one_domain("rack")),
        *pods(2, cpu="1", group="g1"),
        pod("big", cpu="2", group="g1"),
    )
    answer(mixed, asked(mixed.decide())[0])
    [missing] = mixed.engine.missing_nodes()
    assert sorted(one.count for one in missing.pods) == [1, 2]
    assert missing.topology_key == "rack"
