"""The hint at protected groups costs few steps, however many groups are protected or wait."""

import pytest

from posse.engine.groups.annotations import MINIMUM_RUN_TIME
from posse.engine.preemption import awaited_protection
from posse.engine.preemption.awaited_protection import AwaitedProtection
from posse.engine.verdict import NoCandidateNode
from posse.model.timestamps import format_timestamp
from tests.support.builders import changed, gang, nodes, pod, pods
from tests.support.engine_driver import Driver, group_reports

HIGH, GANGS, WAITING = 100, 40, 60


@pytest.fixture
def searches(monkeypatch):
    """The searches that were made for the sake of the hint."""
    made, search = [], AwaitedProtection._found

    def counted(self, asker, runs):
        made.append(len(runs))
        return search(self, asker, runs)

    monkeypatch.setattr(AwaitedProtection, "_found", counted)
    return made


def crowded(starts=True):
    """A full cluster of gangs of two that are all protected."""
    driver = Driver(*nodes(GANGS, cpu="2"))
    status = {"start_time": format_timestamp(driver.now)} if starts else {}
    for number in range(GANGS):
        group = changed(
            gang(f"low{number}", 2), metadata={"annotations": {MINIMUM_RUN_TIME: f"{10 + number}m"}}
        )
        members = pods(2, 1 + 10 * number, cpu="1", group=f"low{number}", on=f"n{number + 1}")
        driver.see(group, *(changed(one, status=status) for one in members))
    driver.decide()
    return driver


def want(driver, cpu):
    for number in range(WAITING):
        members = pods(3, 10_000 + 10 * number, cpu=cpu(number), group=f"high{number}", priority=HIGH)
        driver.see(gang(f"high{number}", 3, priority=HIGH), *members)


def hinted(decisions):
    return [message for _, _, _, message in group_reports(decisions) if "protected by" in message]


def test_equal_gangs_share_one_search(searches):
    driver = crowded()
    want(driver, lambda _: "1")
    assert len(hinted(driver.decide())) == WAITING
    # At most five for each of the few calls that work through the queue.
    assert len(searches) <= 5 * (WAITING // 32 + 1)
    assert max(searches) <= awaited_protection._MAX_RUNS


def test_different_gangs_share_the_steps_of_a_cycle(searches):
    driver = crowded()
    want(driver, lambda number: f"{1000 - number}m")
    assert 0 < len(hinted(driver.decide())) < WAITING
    most = awaited_protection.STEPS_OF_A_CYCLE // awaited_protection._STEPS_OF_A_SEARCH
    # Once the steps are spent, no further search is made.
    assert len(searches) <= (most + 1) * (WAITING // 32 + 1)


def test_a_check_of_what_was_told_searches_nothing(searches):
    driver = crowded()
    want(driver, lambda number: f"{1000 - number}m")
    driver.decide()
    searches.clear()
    driver.see(pod("other", cpu="0", on="n1", priority=HIGH))
    for _ in range(20):
        driver.decide(after=1)
    assert searches == []


def test_a_pod_whose_hint_still_holds_is_not_tried_again(searches):
    driver = crowded()
    driver.see(pod("urgent", cpu="1", priority=HIGH))
    driver.decide()
    known = driver.engine._knowledge.pods.values()
    [record] = [one for one in known if one.pod.metadata.name == "urgent"]
    progress = record.reported.statement.verdict.preemption
    assert isinstance(progress, NoCandidateNode)
    assert progress.protected is not None
    searches.clear()
    driver.see(pod("other", cpu="0", on="n1", priority=HIGH))
    for _ in range(20):
        driver.decide(after=1)
    assert searches == []


def test_the_list_of_groups_is_bounded_as_a_whole(searches):
    driver = crowded()
    want(driver, lambda number: f"{1000 - number}m")
    driver.decide()
    searches.clear()
    list(driver.engine.situations())
    most = awaited_protection.STEPS_OF_A_QUERY // awaited_protection._STEPS_OF_A_SEARCH
    assert 0 < len(searches) <= most + 1


def test_protection_without_a_known_start_does_not_move_on():
    driver = crowded(starts=False)
    protection = driver.engine._knowledge.run_protection
    before, changes = dict(protection.runs), protection.changes
    assert len(before) == GANGS
    for key in before:
        driver.engine._knowledge.unsettle(key)
    driver.decide(after=30)
    assert protection.runs == before
    assert protection.changes == changes
