import pytest

from posse.engine.keys import GroupKey
from posse.engine.queue.backlog import MAX_UNSCHEDULABLE_SECONDS, Backlog, QueueState, Waiting
from tests.support.builders import pod
from tests.support.engine_parts import state_of, subject_of

STATE = state_of()
SMALL, LARGE = subject_of(STATE, pod(cpu="1")), subject_of(STATE, pod(cpu="2"))


def entry(key, priority=0, since="2026-01-01T00:00:00Z", arrival=0, size=1):
    return Waiting(key, priority, since, arrival, size)


def backlog_of(*entries):
    backlog = Backlog()
    for one in entries:
        backlog.add(one)
    return backlog


def take_all(backlog):
    """Take entries as the engine does, one after another, and return their keys."""
    taken = []
    while (head := backlog.peek()) is not None:
        backlog.take(head)
        taken.append(head.key)
    return taken


def parked(key="a", at=0.0, scheduling_classes=(SMALL,), **description):
    """Return a backlog whose only entry has just failed for the first time."""
    backlog = backlog_of(entry(key, **description))
    backlog.take(backlog.get(key))
    backlog.mark_unschedulable(backlog.get(key), scheduling_classes, at)
    return backlog


def wake_subject(backlog, scheduling_class, now):
    for key in backlog.unschedulable_for(scheduling_class):
        backlog.resume(key, now)


def test_priority_comes_first_then_age_then_arrival():
    backlog = backlog_of(
        entry("late", since="2026-01-02T00:00:00Z", arrival=1),
        entry("second", arrival=3),
        entry("first", arrival=2),
        entry("urgent", priority=9, since="2026-01-03T00:00:00Z", arrival=4),
    )
    assert take_all(backlog) == ["urgent", "first", "second", "late"]


def test_pods_and_groups_wait_side_by_side():
    group = GroupKey("ns", "g")
    assert take_all(backlog_of(entry("pod", arrival=2), entry(group, arrival=1))) == [group, "pod"]


def test_an_empty_backlog_has_no_head_and_no_wakeup():
    backlog = Backlog()
    assert backlog.peek() is None
    assert backlog.next_wakeup() is None


def test_peeking_does_not_take():
    backlog = backlog_of(entry("a"))
    assert backlog.peek() is backlog.peek()


def test_a_removed_entry_is_never_seen_again():
    backlog = backlog_of(entry("a"), entry("b", arrival=1))
    backlog.remove("a")
    assert "a" not in backlog
    assert backlog.get("a") is None
    assert take_all(backlog) == ["b"]


def test_removing_what_is_not_there_is_nothing():
    backlog = Backlog()
    backlog.remove("a")
    assert take_all(backlog) == []


def test_an_entry_added_again_is_seen_once():
    backlog = backlog_of(entry("a"))
    backlog.remove("a")
    backlog.add(entry("a"))
    assert take_all(backlog) == ["a"]


def test_counts_say_who_waits_where():
    backlog = parked("a")
    for key in ("b", "c"):
        backlog.add(entry(key, arrival=1))
    backlog.back_off_after_error("c", 0.0)
    counts = backlog.counts()
    assert (
        counts[QueueState.UNSCHEDULABLE],
        counts[QueueState.ACTIVE],
        counts[QueueState.ERROR_BACKOFF],
    ) == (1, 1, 1)


def test_a_parked_entry_is_not_tried_however_late_its_backoff_ended():
    backlog = parked("a", at=0.0)
    backlog.promote(100.0)
    assert backlog.peek() is None


def test_a_parked_entry_wakes_when_one_of_its_subjects_improves():
    backlog = parked("a", scheduling_classes=(SMALL, LARGE))
    assert backlog.unschedulable_classes() == [SMALL, LARGE]
    wake_subject(backlog, LARGE, now=50.0)
    assert backlog.get("a").place is QueueState.ACTIVE
    assert backlog.unschedulable_classes() == []


def test_another_subject_wakes_nobody():
    backlog = parked("a", scheduling_classes=(SMALL,))
    wake_subject(backlog, LARGE, now=50.0)
    assert backlog.get("a").place is QueueState.UNSCHEDULABLE


def test_woken_before_its_backoff_is_over_it_backs_off():
    backlog = parked("a", at=10.0)
    wake_subject(backlog, SMALL, now=10.5)
    assert backlog.get("a").place is QueueState.BACKOFF
    assert backlog.next_wakeup() == 11.0


def test_with_nobody_active_those_that_back_off_are_tried_early():
    backlog = parked("a", at=10.0)
    wake_subject(backlog, SMALL, now=10.5)
    backlog.add(entry("b", arrival=1))
    assert take_all(backlog) == ["b", "a"]


def test_those_that_back_off_are_tried_by_end_of_backoff():
    backlog = parked("a", at=10.0)
    backlog.add(entry("b", priority=9))
    backlog.take(backlog.get("b"))
    backlog.mark_unschedulable(backlog.get("b"), [SMALL], 10.25)
    wake_subject(backlog, SMALL, now=10.5)
    assert take_all(backlog) == ["a", "b"]


def test_when_backoff_is_over_priority_decides_again():
    backlog = parked("a", at=10.0)
    backlog.add(entry("b", priority=9))
    backlog.take(backlog.get("b"))
    backlog.mark_unschedulable(backlog.get("b"), [SMALL], 10.25)
    wake_subject(backlog, SMALL, now=10.5)
    backlog.promote(11.25)
    assert take_all(backlog) == ["b", "a"]


def test_backoff_doubles_up_to_ten_seconds():
    backlog = backlog_of(entry("a"))
    waits = []
    for _ in range(7):
        backlog.back_off_after_error("a", now=100.0)
        waits.append(backlog.get("a").ready_at - 100.0)
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0]


def test_larger_groups_may_back_off_longer():
    backlog = backlog_of(entry("a", size=16))
    for _ in range(100):
        backlog.back_off_after_error("a", now=100.0)
    assert backlog.get("a").ready_at - 100.0 == 40.0


def test_backoff_stays_finite_after_very_many_attempts():
    backlog = backlog_of(entry("a", size=10_000))
    for _ in range(5000):
        backlog.back_off_after_error("a", now=0.0)
    assert backlog.get("a").ready_at == 1000.0


def test_the_penalised_are_never_tried_early():
    backlog = backlog_of(entry("a"))
    backlog.back_off_after_error("a", now=10.0)
    assert backlog.peek() is None
    assert backlog.next_wakeup() == 11.0
    backlog.promote(10.9)
    assert backlog.peek() is None
    backlog.promote(11.0)
    assert take_all(backlog) == ["a"]


def test_penalising_a_parked_entry_takes_it_out_of_the_parking():
    backlog = parked("a", at=0.0)
    backlog.back_off_after_error("a", now=5.0)
    assert backlog.unschedulable_classes() == []
    wake_subject(backlog, SMALL, now=5.0)
    assert backlog.get("a").place is QueueState.ERROR_BACKOFF


def test_an_entry_that_changed_itself_is_tried_at_once():
    backlog = parked("a", at=10.0)
    backlog.wake("a")
    assert take_all(backlog) == ["a"]
    backlog.back_off_after_error("a", now=10.0)
    backlog.wake("a")
    assert take_all(backlog) == ["a"]


def test_waking_an_active_or_unknown_entry_changes_nothing():
    backlog = backlog_of(entry("a"))
    backlog.wake("a")
    backlog.wake("b")
    assert take_all(backlog) == ["a"]


def test_nobody_is_parked_for_longer_than_five_minutes():
    backlog = parked("a", at=10.0)
    assert backlog.next_wakeup() == 10.0 + MAX_UNSCHEDULABLE_SECONDS
    backlog.promote(10.0 + MAX_UNSCHEDULABLE_SECONDS - 0.1)
    assert backlog.peek() is None
    backlog.promote(10.0 + MAX_UNSCHEDULABLE_SECONDS)
    assert take_all(backlog) == ["a"]


def test_parking_again_starts_the_five_minutes_again():
    backlog = parked("a", at=0.0)
    backlog.add(entry("b"))
    backlog.take(backlog.get("b"))
    backlog.mark_unschedulable(backlog.get("b"), [SMALL], 100.0)
    backlog.wake("a")
    backlog.take(backlog.get("a"))
    backlog.mark_unschedulable(backlog.get("a"), [SMALL], 200.0)
    assert backlog.next_wakeup() == 100.0 + MAX_UNSCHEDULABLE_SECONDS
    backlog.promote(100.0 + MAX_UNSCHEDULABLE_SECONDS)
    assert take_all(backlog) == ["b"]


def test_removing_a_parked_entry_forgets_its_subjects():
    backlog = parked("a", scheduling_classes=(SMALL,))
    backlog.remove("a")
    assert backlog.unschedulable_classes() == []
    assert backlog.next_wakeup() is None


def test_stale_heap_items_do_not_bring_an_entry_back_twice():
    backlog = backlog_of(entry("a"))
    for now in (1.0, 20.0, 40.0):
        backlog.back_off_after_error("a", now)
        backlog.promote(now + 15.0)
    assert take_all(backlog) == ["a"]
    backlog.mark_unschedulable(backlog.get("a"), [SMALL], 60.0)
    assert take_all(backlog) == []
    backlog.promote(61.0)
    assert take_all(backlog) == []


@pytest.mark.parametrize("again", ["active", "penalised"])
def test_an_entry_removed_while_backing_off_and_added_again_has_one_life(again):
    backlog = parked("a", at=10.0)
    wake_subject(backlog, SMALL, now=10.5)
    backlog.remove("a")
    backlog.add(entry("a"))
    if again == "penalised":
        backlog.back_off_after_error("a", now=12.0)
        backlog.promote(12.5)
        assert backlog.peek() is None
        backlog.promote(13.0)
    assert take_all(backlog) == ["a"]


def first_put_aside():
    """A backlog whose second entry is put aside, between one ahead of it and one behind it."""
    backlog = backlog_of(entry("ahead", 2), entry("first", 1), entry("behind", 0))
    backlog.put_aside("first", 0.0)
    backlog.let_nothing_overtake("first", 5.0)
    return backlog


def test_what_is_behind_waits_for_an_entry_that_nothing_may_overtake():
    backlog = first_put_aside()
    assert take_all(backlog) == ["ahead"]
    assert backlog.next_wakeup() == 5.0
    backlog.promote(5.0)
    assert take_all(backlog) == ["behind"]


@pytest.mark.parametrize("end", ["wake", "remove"])
def test_what_is_behind_waits_no_longer_than_the_entry_is_put_aside(end):
    backlog = first_put_aside()
    getattr(backlog, end)("first")
    assert take_all(backlog)[-1] == "behind"


def test_an_entry_behind_refused_ones_may_be_overtaken():
    backlog = parked("refused", priority=3)
    for one in (entry("first", 1), entry("behind", 0)):
        backlog.add(one)
    backlog.put_aside("first", 0.0)
    backlog.let_nothing_overtake("first", 5.0)
    assert take_all(backlog) == ["behind"]
