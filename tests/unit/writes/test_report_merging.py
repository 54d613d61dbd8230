"""Of a round that says several things of the same pod or group, the last is told, and only that."""

from msgspec.structs import replace

from posse.engine.decisions import Bind, Finding, MarkDisrupted, Placement, ReportGroup, ReportPod
from posse.engine.events import BindRefused, ReportWithheld
from posse.engine.keys import GroupKey, PodRef
from posse.engine.proof import Outcome
from posse.writes.report_merging import merged_reports
from posse.writes.round_writes import writes_of

P1, P2 = PodRef("default", "p1", "uid-1"), PodRef("default", "p2", "uid-2")
G1 = GroupKey("default", "g1")


def refused(pod, message, **more):
    return ReportPod(pod, "Unschedulable", message, **more)


def waiting(message, **more):
    return ReportGroup(G1, "u", scheduled=False, reason="Unschedulable", message=message, **more)


def started():
    return ReportGroup(G1, "u", scheduled=True, reason="Scheduled", message="")


def test_what_was_decided_last_is_told_of_each():
    first = [refused(P1, "no room"), refused(P2, "no room")]
    last = refused(P1, "no room, preempting 1 victim", nominated_node="n1")
    assert merged_reports([*first, last]) == [first[1], last]


def test_that_it_is_told_for_the_first_time_is_not_forgotten():
    (pod,) = merged_reports([refused(P1, "a"), refused(P1, "b", is_first=False)])
    (group,) = merged_reports([waiting("a"), waiting("b", is_first=False)])
    assert pod.is_first
    assert group.is_first
    assert not merged_reports([refused(P1, "a", is_first=False), refused(P1, "b", is_first=False)])[
        0
    ].is_first


def test_who_is_bound_after_all_is_not_told_that_it_waits():
    bind = Bind((Placement(P1, "n1"),))
    assert merged_reports([refused(P1, "no room"), refused(P2, "no room"), bind]) == [refused(P2, "no room")]


def test_a_group_that_starts_after_all_is_told_only_that_and_since_when():
    assert merged_reports([waiting("no room", is_first=False), started()]) == [started()]
    mark = MarkDisrupted(G1, "u", "because")
    assert merged_reports([mark, started()]) == [mark, started()]


def test_a_number_that_changes_is_an_event_if_something_else_does_too():
    (told,) = merged_reports([waiting("no room"), waiting("1 left", is_news=False)])
    assert (told.message, told.is_news) == ("1 left", True)
    (told,) = merged_reports([waiting("2 left", is_news=False), waiting("1 left", is_news=False)])
    assert not told.is_news


def test_what_was_found_of_a_placement_is_not_forgotten():
    found = Finding(Outcome.IMPOSSIBLE, "none exists")
    (told,) = merged_reports([waiting("no room", finding=found), waiting("no room; more nodes would help")])
    assert told.finding == found
    again = replace(found, is_new=False)
    (told,) = merged_reports([waiting("a", finding=found), waiting("b", finding=again)])
    assert told.finding == found


def test_of_two_conditions_of_a_group_only_the_last_says_what_was_found_of_a_placement():
    start = replace(started(), finding=Finding(Outcome.PLACED))
    again = replace(started(), minimum_running=False, finding=Finding(Outcome.UNDECIDED, "1 pod is gone"))
    assert merged_reports([start, again]) == [started(), again]
    assert merged_reports([again, start]) == [replace(again, finding=None), start]


def test_of_a_group_of_which_a_binding_was_refused_only_what_held_before_is_told():
    tree = GroupKey("default", "t1", is_composite=True)
    repeated, below = replace(started(), holds_anyway=True), replace(started(), tree=tree)
    assert withheld([started()], G1) == [ReportWithheld(G1)]
    assert withheld([started()], GroupKey("default", "g2")) == []
    assert withheld([repeated], G1) == []
    assert withheld([below], tree) == [ReportWithheld(G1)]


def withheld(reports, group):
    """Return what is withheld if the binding of P1 for the group is refused."""
    writes = writes_of([Bind((Placement(P1, "n1"),), group), *reports])
    setbacks = writes.withheld([BindRefused(P1.uid, "n1", "no")])
    written = [report.decision for report in writes.reports_after(setbacks)]
    assert written == (reports if not setbacks else [])
    return setbacks
