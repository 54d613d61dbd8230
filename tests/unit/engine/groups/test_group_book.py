from posse.engine.groups.forms import group_of
from posse.engine.groups.group_book import GroupBook
from posse.engine.keys import GroupKey
from posse.engine.statement import NEVER_REPORTED, Reported
from tests.support.builders import NAMESPACE, basic_group, changed, gang, initially_scheduled, pod
from tests.support.engine_parts import attached, record_of, state_of

KEY = GroupKey(NAMESPACE, "g1")


def joined(book, *pods):
    state = state_of()
    records = [record_of(state, one, arrival) for arrival, one in enumerate(pods)]
    for record in records:
        book.join(record, KEY)
    return records


def names(records):
    return [record.ref.name for record in records]


def test_a_pod_names_its_group_in_its_own_namespace():
    assert group_of(pod(group="g1")) == KEY
    assert group_of(pod()) is None


def test_pods_may_come_before_the_object():
    book = GroupBook()
    joined(book, pod("a", group="g1"))
    assert book.get(KEY).obj is None
    group = book.put(gang(minimum=3))
    assert group is book.get(KEY)
    assert names(group.members.values()) == ["a"]
    assert group.minimum == 3


def test_the_minimum_of_a_basic_group_is_one():
    assert GroupBook().put(basic_group()).minimum == 1


def test_the_minimum_follows_the_object():
    book = GroupBook()
    book.put(gang(minimum=2))
    assert book.put(gang(minimum=5)).minimum == 5


def test_priority_is_that_of_the_object():
    assert GroupBook().put(gang(priority=7)).priority == 7
    assert GroupBook().put(gang()).priority == 0


def test_a_group_lasts_until_neither_object_nor_member_is_left():
    book = GroupBook()
    book.put(gang())
    (record,) = joined(book, pod("a", group="g1"))
    book.drop(KEY)
    assert book.get(KEY) is not None
    book.leave(record, KEY)
    assert book.get(KEY) is None


def test_an_object_without_members_is_a_group():
    book = GroupBook()
    book.put(gang())
    (record,) = joined(book, pod("a", group="g1"))
    book.leave(record, KEY)
    assert [group.key for group in book] == [KEY]
    book.drop(KEY)
    assert list(book) == []


def test_dropping_an_unknown_group_is_nothing():
    book = GroupBook()
    book.drop(KEY)
    assert list(book) == []


def test_waiting_members_come_oldest_first():
    book = GroupBook()
    joined(
        book,
        pod("c", created="2026-01-01T00:00:02Z"),
        pod("a", created="2026-01-01T00:00:01Z"),
        pod("b", created="2026-01-01T00:00:01Z"),
    )
    assert names(book.get(KEY).unattached()) == ["a", "b", "c"]


def test_members_on_nodes_or_on_their_way_out_do_not_wait():
    book = GroupBook()
    state = state_of()
    book.join(attached(state, pod("on"), "n1"), KEY)
    book.join(record_of(state, pod("leaving", deleted="2026-01-01T00:00:00Z")), KEY)
    book.join(record_of(state, pod("waiting")), KEY)
    group = book.get(KEY)
    assert names(group.unattached()) == ["waiting"]
    assert group.attached_count == 1
    assert len(group.members) == 3


def test_scheduled_once_is_scheduled_for_good():
    book = GroupBook()
    group = book.put(gang(conditions=[initially_scheduled("True", "Scheduled")]))
    assert group.scheduled
    book.put(gang(conditions=[initially_scheduled("False", "Unschedulable", "no room")]))
    assert group.scheduled


def test_what_the_object_already_says_was_reported():
    group = GroupBook().put(gang(conditions=[initially_scheduled("False", "Unschedulable", "no room")]))
    assert not group.scheduled
    assert group.reported == Reported("Unschedulable", "no room")


def test_a_recreated_object_starts_afresh_with_its_own_policy():
    book = GroupBook()
    joined(book, pod("a", group="g1"))
    book.put(gang(minimum=4, uid="first", conditions=[initially_scheduled("True")]))
    group = book.put(basic_group(uid="second"))
    assert not group.scheduled
    assert group.reported == NEVER_REPORTED
    assert group.minimum == 1
    assert names(group.members.values()) == ["a"]


def test_a_deleted_object_is_forgotten_but_not_its_members():
    book = GroupBook()
    joined(book, pod("a", group="g1"))
    book.put(gang(conditions=[initially_scheduled("True")]))
    book.drop(KEY)
    group = book.get(KEY)
    assert (group.obj, group.scheduled, group.reported) == (None, False, NEVER_REPORTED)
    assert names(group.members.values()) == ["a"]


def test_other_conditions_say_nothing_about_scheduling():
    other = changed(initially_scheduled("True"), type="DisruptionTarget")
    assert not GroupBook().put(gang(conditions=[other])).scheduled
