"""What would let a refused group start is asked elsewhere and added to its refusal, without writing for nothing."""

from posse.engine.decisions import Advise, ReportGroup
from posse.engine.events import Advised
from posse.engine.options import EngineOptions
from posse.engine.placement_problem import MoreNodes, NodeShape, Remedies
from tests.support.builders import composite, gang, initially_scheduled, node, pod, pods
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
    assert added.startswith(f"{plain} What would let it start is not looked for: no node that is there")
    again = asking(
        node("n1", cpu="2"),
        gang(minimum=3, conditions=[initially_scheduled("False", "Unschedulable", added)]),
        *members,
    )
    assert told(again.decide()) + told(again.decide(after=400)) == []
