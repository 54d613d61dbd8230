"""The store against a plain dict, under any order of writes, commits, publications and restarts."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.store.change_log import Interest
from posse.store.errors import HistoryExpired
from posse.store.objects import Conflict, Key
from posse.store.store import ABSENT, Store

NAMES = st.sampled_from(["a", "b", "c"])
NAMESPACES = st.sampled_from(["x", "x-y", "z"])
WRITES = st.one_of(
    st.tuples(st.just("put"), NAMESPACES, NAMES, st.integers(0, 3)),
    st.tuples(st.just("delete"), NAMESPACES, NAMES, st.just(0)),
    st.tuples(st.just("stale put"), NAMESPACES, NAMES, st.integers(0, 3)),
    st.tuples(st.just("stale delete"), NAMESPACES, NAMES, st.just(0)),
)
# A disk may take its time; that is no failure of the store.
UNHURRIED = settings(deadline=None)
STEPS = st.one_of(st.just("commit"), st.just("publish"), WRITES)


def write(store, model, step):
    """Carry out one write on the store and on a dict of place to value."""
    action, namespace, name, value = step
    key, place = Key("pods", namespace, name), (namespace, name)
    current = store.get(key)
    assert (current is not None) == (place in model)
    expected = current.version if current else ABSENT
    if action.startswith("stale"):
        expected += 1
    obj = {"metadata": {"namespace": namespace, "name": name}, "value": value}
    version_before = store.version
    result = store.put(key, obj, expected) if action.endswith("put") else store.delete(key, expected)
    if action.startswith("stale") or (action == "delete" and current is None):
        assert result == Conflict(current)
        assert store.version == version_before
    else:
        assert result.version == store.version == version_before + 1
        if action == "put":
            model[place] = value
        else:
            del model[place]


def state(stored_objects):
    return {place_of(stored.obj): stored.obj["value"] for stored in stored_objects}


def place_of(obj):
    return (obj["metadata"]["namespace"], obj["metadata"]["name"])


def replay(known, events):
    """What a client holds that knew `known` and was then told these events; it checks that they make sense."""
    held = dict(known)
    for event in events:
        place = place_of(event.obj)
        if event.type == "DELETED":
            del held[place]
        else:
            assert (place in held) == (event.type == "MODIFIED")
            held[place] = event.obj["value"]
    return held


@UNHURRIED
@given(st.lists(WRITES, max_size=40))
def test_the_store_holds_what_a_dict_would(steps):
    store, model = Store(), {}
    for step in steps:
        write(store, model, step)
        listed = store.list("pods")
        assert [place_of(stored.obj) for stored in listed] == sorted(model)
        assert state(listed) == model
        assert state(store.list("pods", "x")) == {place: v for place, v in model.items() if place[0] == "x"}


@UNHURRIED
@given(st.lists(WRITES, max_size=40), st.sampled_from([None, lambda obj: obj["value"] % 2 == 0]))
def test_events_replayed_from_any_version_lead_to_the_present(steps, accepts):
    store, model = Store(), {}
    interest = Interest("pods", None, accepts)
    past = [(store.version, {})]
    for step in steps:
        write(store, model, step)
        past.append((store.version, selected(store.list("pods"), accepts)))
    present = selected(store.list("pods"), accepts)
    for version, known in past:
        assert replay(known, store.watch(interest, version).drain()) == present
    assert replay({}, store.watch(interest).drain()) == present


@UNHURRIED
@given(st.lists(WRITES, max_size=60), st.integers(1, 5))
def test_a_reader_gets_every_change_or_is_told_that_it_missed_some(steps, limit):
    store, model = Store(history_limit=limit), {}
    feed, held = store.watch(Interest("pods")), {}
    for index, step in enumerate(steps):
        write(store, model, step)
        if index % 7 == 6:
            try:
                held = replay(held, feed.drain())
            except HistoryExpired:
                feed, held = store.watch(Interest("pods")), {}
                held = replay(held, feed.drain())
            assert held == model


@UNHURRIED
@given(st.lists(STEPS, max_size=30))
def test_a_restart_brings_back_exactly_what_was_committed(steps):
    with tempfile.TemporaryDirectory() as folder:
        store, model, durable = Store.open(Path(folder)), {}, {}
        feed, told = store.watch(Interest("pods")), {}
        for step in steps:
            if step == "commit":
                store.commit_pending()
                durable = dict(model)
            elif step == "publish":
                store.publish_committed()
                told = replay(told, feed.drain())
                assert told == durable
            else:
                write(store, model, step)
            assert state(store.list("pods")) == model
        highest = store.version
        store.close()
        again = Store.open(Path(folder))
        assert state(again.list("pods")) == durable
        assert again.version > highest
        assert again.list("pods") == sorted(again.list("pods"), key=lambda stored: place_of(stored.obj))
        again.close()


def selected(listed, accepts):
    return state(stored for stored in listed if accepts is None or accepts(stored.obj))
