"""Capacity reserved for a group that has waited long is written on its object, and read there by everybody else."""

from dataclasses import replace

import msgspec
import pytest

from posse.engine.decisions import PublishReservation
from posse.engine.events import PublicationFailed
from posse.engine.explain.group_status import State
from posse.engine.explain.preemption import ReservedCapacity
from posse.engine.keys import GroupKey
from posse.engine.queue.published_reservation import MAX_DATED
from posse.engine.queue.reservation_note import MAX_CHARACTERS, RESERVED_CAPACITY
from posse.engine.queue.starvation_guard import PATIENCE_SECONDS, RESERVATION_SECONDS
from posse.model.timestamps import format_timestamp
from tests.support.builders import NAMESPACE, changed, gang, nodes, pod, pods
from tests.support.engine_driver import Driver, placements, pod_reports
from tests.unit.engine.queue.test_policies import HOUR, driver_with, lasting, reservations, running

LARGE, SMALL = GroupKey(NAMESPACE, "g1"), GroupKey(NAMESPACE, "small")
NODES = nodes(4, cpu="1")
THERE = [pod(f"service-{number}", cpu="1", on=f"n{number}") for number in (1, 2)]
MEMBERS = pods(4, cpu="1", group="g1")
SMALL_GANG = [gang("small", 2), *(pod(f"s{number}", cpu="1", group="small") for number in (1, 2))]


def reserving():
    """A driver whose engine reserves capacity on all nodes for the large gang, and what it published."""
    driver = Driver(*NODES, *THERE, gang(minimum=4), *MEMBERS)
    driver.decide()
    passer_by = pod("passer-by", cpu="1")
    driver.see(passer_by)
    assert list(driver.bind()) == ["passer-by"]
    driver.lose(passer_by)
    return driver, published(driver.decide(after=PATIENCE_SECONDS))


def published(decisions):
    return [one for one in decisions if isinstance(one, PublishReservation)]


def noted(publication):
    return changed(gang(minimum=4), metadata={"annotations": {RESERVED_CAPACITY: publication.note}})


def test_a_reservation_is_written_on_the_group_and_removed_at_its_end():
    driver, (publication,) = reserving()
    assert publication.group == LARGE
    assert '"nodes":["n1","n2","n3","n4"]' in publication.note
    driver.see(noted(publication))
    assert published(driver.decide(after=1.0)) == []
    (cleared,) = published(driver.decide(after=RESERVATION_SECONDS))
    assert (cleared.group, cleared.note) == (LARGE, "")


def test_nothing_is_kept_of_a_group_that_is_gone():
    driver, (publication,) = reserving()
    driver.see(noted(publication))
    driver.lose(*MEMBERS, noted(publication))
    driver.decide(after=1.0)
    known = driver.engine._knowledge.published
    assert (known._written, known._own, known._made) == ({}, {}, {})


def test_a_note_that_may_be_lost_is_written_again():
    driver, (publication,) = reserving()
    driver.engine.absorb(PublicationFailed(publication))
    assert published(driver.decide(after=1.0)) == [publication]


def test_whoever_reads_the_cluster_knows_the_capacity_that_is_reserved():
    driver, (publication,) = reserving()
    reader = Driver(*NODES, *THERE, noted(publication), *MEMBERS, *SMALL_GANG)
    assert reader.engine.explain(SMALL).situation.state is State.FITS
    reader.engine.take_over(driver.now)
    told = reader.engine.explain(SMALL)
    assert told.situation.state is State.WAITING
    assert told.reserved == (ReservedCapacity(LARGE, 0, 4, is_preempting=False),)
    assert reader.engine.explain(LARGE).reserved_for_it == 4


def test_the_next_scheduler_keeps_what_is_reserved_for_the_rest_of_its_time():
    driver, (publication,) = reserving()
    successor = Driver(*NODES, *THERE, noted(publication), *MEMBERS, *SMALL_GANG)
    successor.now = driver.now + 10.0
    assert placements(successor.decide()) == {}
    assert sorted(placements(successor.decide(after=RESERVATION_SECONDS - 9.0))) == ["s1", "s2"]


def test_a_reservation_whose_time_is_over_counts_for_nobody_and_is_removed():
    driver, (publication,) = reserving()
    successor = Driver(*NODES, *THERE, noted(publication), *MEMBERS, *SMALL_GANG)
    successor.now = driver.now + RESERVATION_SECONDS
    decisions = successor.decide()
    assert sorted(placements(decisions)) == ["s1", "s2"]
    assert [(one.group, one.note) for one in published(decisions)] == [(LARGE, "")]


def test_notes_of_another_scheduler_and_nonsense_are_left_alone():
    others = [changed(one, spec={"scheduler_name": "another"}) for one in MEMBERS]
    for note in (
        "nonsense",
        '{"until": "soon", "reserved": []}',
        '{"until": "x", "reserved": [{"nodes": ["n1"]}]}',
    ):
        strange = changed(gang(minimum=4), metadata={"annotations": {RESERVED_CAPACITY: note}})
        driver = Driver(*NODES, *THERE, strange, *others, *SMALL_GANG)
        decisions = driver.decide()
        assert sorted(placements(decisions)) == ["s1", "s2"]
        assert published(decisions) == []


def forged(until, requests):
    """The gang with a note that its owner wrote."""
    note = {"until": until, "reserved": [{"nodes": ["n1", "n2", "n3", "n4"], "requests": requests}]}
    annotations = {RESERVED_CAPACITY: msgspec.json.encode(note).decode()}
    return changed(gang(minimum=4), metadata={"annotations": annotations})


def test_a_note_that_the_owner_wrote_lasts_no_longer_than_any_other():
    group = forged("9999-12-31T23:59:59Z", {"cpu": "1", "pods": "1"})
    successor = Driver(*NODES, *THERE, group, *MEMBERS, *SMALL_GANG)
    assert placements(successor.decide()) == {}
    assert sorted(placements(successor.decide(after=RESERVATION_SECONDS))) == ["s1", "s2"]


@pytest.mark.parametrize(
    "requests", [{"cpu": "2"}, {"cpu": "1", "memory": "1Gi"}, {"example.com/gpu": "1"}, {}]
)
def test_a_note_that_names_more_than_the_members_request_counts_for_nothing(requests):
    successor = Driver(*NODES, *THERE, forged("2100-01-01T00:00:00Z", requests), *MEMBERS, *SMALL_GANG)
    assert sorted(placements(successor.decide())) == ["s1", "s2"]


def test_a_pod_that_no_node_suits_is_not_told_of_reserved_capacity():
    driver, _ = reserving()
    picky = changed(pod("picky", cpu="1"), spec={"node_selector": {"disk": "fast"}})
    driver.see(picky, pod("plain", cpu="1"))
    told = pod_reports(driver.decide(after=1.0))
    assert "reserved" not in told["picky"][1]
    assert "Capacity on 4 nodes is reserved" in told["plain"][1]


def dated():
    """A driver that holds a free node for a gang of two until the other node is free, and what it published."""
    driver = driver_with("backfill", *nodes(2, cpu="1"))
    running(driver, "long", "2h", cpu="1")
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    return driver, published(driver.decide())


def reader_of(driver, publication, *objects):
    there = lasting(pod("long", cpu="1", on="n1"), "2h")
    holder = changed(gang(minimum=2), metadata={"annotations": {RESERVED_CAPACITY: publication.note}})
    reader = Driver(*nodes(2, cpu="1"), there, holder, *pods(2, cpu="1", group="g1"), *objects)
    reader.engine.take_over(driver.now)
    return reader


def small_gang(text=""):
    one = pod("s1", cpu="1", group="small")
    return gang("small", 1), lasting(one, text) if text else one


def test_a_dated_reservation_is_written_with_its_time_and_read_by_others():
    driver, (publication,) = dated()
    begins = driver.now + 2 * HOUR
    assert msgspec.json.decode(publication.note)["begins"] == format_timestamp(begins)
    told = reader_of(driver, publication, *small_gang()).engine.explain(SMALL)
    assert told.situation.state is State.WAITING
    assert told.reserved == (ReservedCapacity(LARGE, 0, 1, is_preempting=False, starts_in=2 * HOUR),)
    short = reader_of(driver, publication, *small_gang("1h"))
    assert short.engine.explain(SMALL).situation.state is State.FITS
    (guarded,) = short.engine.guarded_capacity()
    assert guarded.group == LARGE


def with_another_node(driver):
    """A third node, on which a job ends in an hour, so that the gang can start then."""
    other = changed(
        lasting(pod("other", cpu="1", on="n3"), "1h"), status={"start_time": format_timestamp(driver.now)}
    )
    driver.see(*nodes(3, cpu="1")[2:], other)
    return driver.now + HOUR


def wakeups(driver, seconds):
    """Decide whenever the engine asks for it; returns when it did, and what it published."""
    times, told, end = [], [], driver.now + seconds
    while (due := driver.engine.next_wakeup()) is not None and due <= end:
        told += published(driver.decide(after=max(0.0, due - driver.now)))
        times.append(due)
    return times, told


def test_a_dated_reservation_that_moves_is_written_again_after_a_pause():
    driver, (_,) = dated()
    made_at = driver.now
    begins = with_another_node(driver)
    assert published(driver.decide(after=1.0)) == []
    assert driver.engine._knowledge.published.next_wakeup() == made_at + 10.0
    times, (moved,) = wakeups(driver, 9.0)
    assert msgspec.json.decode(moved.note)["begins"] == format_timestamp(begins)
    assert times[-1] == made_at + 10.0
    assert driver.engine._knowledge.published.next_wakeup() is None


def test_a_reservation_that_is_planned_again_as_before_wakes_nothing():
    driver, (_,) = dated()
    (before,) = reservations(driver)
    driver.see(*nodes(3, cpu="500m")[2:])
    assert published(driver.decide(after=1.0)) == []
    assert reservations(driver) != [before]
    assert driver.engine._knowledge.published.next_wakeup() is None


def test_a_scheduler_that_does_not_look_ahead_drops_dated_reservations():
    driver, (publication,) = dated()
    reader = reader_of(driver, publication, *small_gang())
    reader.now = driver.now
    decisions = reader.decide()
    assert sorted(placements(decisions)) == ["s1"]
    assert [one.note for one in published(decisions)] == [""]


@pytest.mark.parametrize("begins", ["soon", "2026-13-01T00:00:00Z", 7])
def test_a_note_with_a_time_that_makes_no_sense_counts_for_nobody(begins):
    driver, (publication,) = dated()
    note = msgspec.json.decode(publication.note) | {"begins": begins}
    forged = replace(publication, note=msgspec.json.encode(note).decode())
    reader = reader_of(driver, forged, *small_gang())
    assert reader.engine.explain(SMALL).situation.state is State.FITS


ALL = ["n1", "n2"]


def told_by(driver, reserved, begins=2 * HOUR, until=2 * HOUR):
    """What a reader takes over from a dated note that the owner of the gang wrote."""
    note = {
        "until": format_timestamp(driver.now + until),
        "begins": format_timestamp(driver.now + begins),
        "reserved": [{"nodes": names, "requests": requests} for names, requests in reserved],
    }
    forged = PublishReservation(LARGE, "", msgspec.json.encode(note).decode())
    return reader_of(driver, forged, *small_gang())


def test_a_dated_note_of_a_very_large_gang_may_name_more_than_it_requests():
    driver, _ = dated()
    reader = told_by(driver, [(ALL, {"cpu": "1", "pods": "5"})])
    assert reader.engine.explain(SMALL).situation.state is State.WAITING


@pytest.mark.parametrize("amount", ["3", "1e18", "9e300"])
def test_of_a_forged_note_no_more_counts_than_the_nodes_have(amount):
    driver, _ = dated()
    reader = told_by(driver, [(ALL, {"cpu": amount, "pods": amount})])
    nodes = reader.engine._knowledge.state.nodes
    (held,) = reservations(reader)
    assert (held.usage(nodes.allocatable.shape) <= nodes.allocatable).all()
    assert nodes.requested.min() >= 0
    assert held.rows.size == 2


@pytest.mark.parametrize(
    "reserved",
    [
        [(["n2"], {"cpu": "4503599627370496"})] * 2048,
        [(["n2", "n2"], {"cpu": "1"})],
        [(["n2"], {"cpu": "-1"})],
        [(["n2"], {"cpu": "1", "memory": "0"})],
        [(["n2"], {"cpu": "1"}), ([], {"cpu": "1"})],
        [(["n2"], {"cpu": "1"}), (["n1"], {"cpu": "much"})],
    ],
    ids=["a node many times", "a node twice", "negative", "zero", "no node", "unreadable"],
)
def test_a_forged_note_that_no_scheduler_writes_counts_for_nobody(reserved):
    driver, _ = dated()
    reader = told_by(driver, reserved)
    assert reservations(reader) == []
    assert reader.engine.explain(SMALL).situation.state is State.FITS


@pytest.mark.parametrize(("begins", "until"), [(11 * 365 * 24 * HOUR, 2 * HOUR), (-HOUR, 2 * HOUR)])
def test_a_forged_note_lasts_no_longer_than_a_run_may(begins, until):
    driver, _ = dated()
    assert reservations(told_by(driver, [(["n2"], {"cpu": "1"})], begins, until)) == []


def test_a_note_longer_than_annotations_may_be_is_not_read():
    driver, (publication,) = dated()
    padded = replace(publication, note=publication.note + " " * MAX_CHARACTERS)
    assert reservations(reader_of(driver, padded)) == []


def test_no_more_dated_notes_are_taken_over_than_a_policy_has_reservations():
    driver, (publication,) = dated()
    groups = [
        changed(gang(f"h{number}", 2), metadata={"annotations": {RESERVED_CAPACITY: publication.note}})
        for number in range(MAX_DATED + 1)
    ]
    members = [
        pod(f"h{number}-{member}", cpu="1", group=f"h{number}")
        for number in range(MAX_DATED + 1)
        for member in (1, 2)
    ]
    assert len(reservations(reader_of(driver, publication, *groups, *members))) == MAX_DATED == 4
