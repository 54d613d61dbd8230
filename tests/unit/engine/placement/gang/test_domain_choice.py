"""Which domains are tried, in which order, and which one is taken in the end."""

import dataclasses

import pytest

from posse.engine.groups.group_book import GroupBook
from posse.engine.keys import GroupKey
from posse.engine.placement.gang import domain_choice as choice
from posse.engine.placement.gang.domain_bounds import bounds
from posse.engine.placement.gang.domain_choice import DomainChoice
from posse.engine.placement.search.fill import classes_of, fill
from posse.engine.placement.tree.attempt import try_placement
from posse.engine.reporting.messages import verdict_text
from posse.engine.rules import contract
from posse.engine.rules.profile import DomainScoring
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.engine.state.draft import Draft
from tests.support.builders import NAMESPACE, gang, in_rack, one_domain, pod, pods
from tests.support.engine_parts import attached, record_of, records_of, state_of


class Trial:
    """A choice for pods that are alike, with a note of the racks that were tried."""

    def __init__(self, *nodes, count=2, least=1, refusing=(), **options):
        self.state = state_of(*nodes)
        self.records = records_of(self.state, pods(count, cpu="1"))
        self.draft = Draft(self.state)
        self.tried = []
        self._refusing = refusing
        seen = bounds(self.state, "rack", classes_of(self.state, self.records))
        settings = {"scoring": DomainScoring()} | options
        self.choice = DomainChoice(self.state, self.draft, seen, least=least, place=self._place, **settings)

    def run(self):
        number = self.choice.run()
        return None if number is None else self.choice.bounds.domains.values[number]

    def _place(self):
        (value,) = self.state.domains("rack").values
        self.tried.append(value)
        if value in self._refusing:
            return 0
        return fill(self.state, self.draft, self.state.scheduling_class(self.records[0]), self.records)


THREE = [
    *in_rack("r1", "a", cpu="8"),
    *in_rack("r2", "b", cpu="2"),
    *in_rack("r3", "c", cpu="4"),
]


def test_the_best_promise_that_is_kept_ends_the_search():
    trial = Trial(*THREE)
    assert trial.run() == "r2"
    assert trial.tried == ["r2"]
    assert {record.node for record in trial.draft.placed()} == {"b"}


def test_a_domain_that_does_not_do_after_all_is_passed_over():
    trial = Trial(*THREE, refusing=["r2"])
    assert trial.run() == "r3"
    assert trial.tried == ["r2", "r3"]
    assert {record.node for record in trial.draft.placed()} == {"c"}


def test_without_any_that_does_nothing_is_left_in_the_draft():
    trial = Trial(*THREE, refusing=["r1", "r2", "r3"])
    assert trial.run() is None
    assert sorted(trial.tried) == ["r1", "r2", "r3"]
    assert not trial.choice.left_over
    assert trial.draft.placed() == ()
    assert not trial.state.nodes.requested.any()


def test_hopeless_domains_are_not_tried():
    trial = Trial(*THREE, count=6, least=5)
    assert trial.run() == "r1"
    assert trial.tried == ["r1"]


def test_fewer_pods_may_be_outweighed_by_fullness():
    """The second rack takes six of eight pods and is full then; the first takes all and is empty as before."""
    racks = [*in_rack("r1", "a", cpu="80"), *in_rack("r2", "b", cpu="6", memory="1200Mi")]
    assert Trial(*racks, count=8).run() == "r2"
    assert Trial(*racks, count=8, scoring=DomainScoring(count_weight=9)).run() == "r1"


def test_the_most_pods_that_any_domain_takes_are_the_measure_even_if_it_is_not_taken():
    """What the first promises has to be tried before the others can be compared; in the end it is not the best."""
    racks = [*in_rack("r1", "a", cpu="80"), *in_rack("r2", "b", cpu="6", memory="1200Mi")]
    trial = Trial(*racks, count=8)
    assert trial.run() == "r2"
    assert trial.tried == ["r2", "r1", "r2"]
    assert {record.node for record in trial.draft.placed()} == {"b"}


def test_only_one_domain_may_be_given():
    trial = Trial(*THREE, only=0)
    assert trial.run() == "r1"
    assert trial.tried == ["r1"]


def test_no_more_domains_are_tried_than_a_number(monkeypatch):
    monkeypatch.setattr(choice, "MAX_TRIED", 1)
    trial = Trial(*THREE, refusing=["r2"])
    assert trial.run() is None
    assert trial.choice.left_over


class NotInTheSecond(contract.GroupRule):
    name = "NotInTheSecond"

    def objection(self, placement, context):
        return "no, not there" if 1 in placement.rows.tolist() else ""


@pytest.fixture
def objecting():
    return dataclasses.replace(DEFAULT_PROFILE, group_rules=(NotInTheSecond(),))


def group_of_two(state):
    book = GroupBook()
    for arrival, one in enumerate(pods(2, cpu="1", group="g1")):
        book.join(record_of(state, one, arrival), GroupKey(NAMESPACE, "g1"))
    return book.put(gang(minimum=2, **one_domain()))


def test_a_domain_that_a_rule_objects_to_is_passed_over(objecting):
    state = state_of(*THREE, profile=objecting)
    attempt = try_placement(state, group_of_two(state))
    assert {record.node for record in attempt.placed} == {"c"}


def test_an_objection_that_leaves_no_domain_is_told_and_no_proof(objecting):
    state = state_of(*THREE, profile=objecting)
    for row, name in enumerate("ac"):
        attached(state, pod(f"x{row}", cpu="4", uid=name), name)
        attached(state, pod(f"y{row}", cpu="4", uid=f"{name}2"), name)
    verdict = try_placement(state, group_of_two(state)).verdict
    assert verdict_text(verdict).endswith(
        "NotInTheSecond: no, not there. A placement may still exist: "
        "the search is not exhaustive for NotInTheSecond."
    )
