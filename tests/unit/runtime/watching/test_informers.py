import asyncio

import pytest

from posse.client import repeating
from posse.kinds.machinery.errors import ApiError, expired, no_such_resource
from posse.kinds.registry import EVENT, JOB, NAMESPACE, NODE
from posse.model.job import JobRunTime
from posse.model.node import Node
from posse.runtime.watching import informers as following
from posse.runtime.watching.informers import Follower, PartFollower, StructFollower
from posse.transport.objects import Page, ShownJson, Versions, WatchEvent


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(repeating, "FIRST_PAUSE_SECONDS", 0.001)


AGAIN = object()
"""The list begins again."""


def node(name, uid="u1", version=1):
    return {"metadata": {"name": name, "uid": uid, "resourceVersion": str(version)}}


class Log:
    def __init__(self):
        self.entries = []

    def seen(self, obj):
        self.entries.append(("seen", obj["metadata"]["name"], obj["metadata"]["uid"]))

    def gone(self, obj):
        self.entries.append(("gone", obj["metadata"]["name"], obj["metadata"]["uid"]))


class ScriptedTransport:
    """Lists and watches what it was told to, the latter after a while; where that is an error it is raised."""

    def __init__(self, listings, watches, watch_seconds=0.0):
        self.watch_seconds = watch_seconds
        self.listings = list(listings)
        self.watches = list(watches)
        self.watched_from = []

    async def pages(self, kind, *, labels=""):
        """A listing is one page, or a tuple of pages and errors."""
        pages = self.listings.pop(0)
        is_first = True
        for page in pages if isinstance(pages, tuple) else (pages,):
            if page is AGAIN:
                is_first = True
                continue
            if isinstance(page, Exception):
                raise page
            yield Page([ShownJson(obj) for obj in page], "10", is_first)
            is_first = False

    async def watch(self, kind, resource_version, labels=""):
        self.watched_from.append(resource_version)
        if self.watch_seconds:
            await asyncio.sleep(self.watch_seconds)
        for step in self.watches.pop(0):
            if isinstance(step, Exception):
                raise step
            yield [WatchEvent(type_, ShownJson(obj)) for type_, obj, _ in step]
        await asyncio.Event().wait()


async def until(condition):
    for _ in range(5000):
        if condition():
            return
        await asyncio.sleep(0.001)


def followed(transport, steps_until, *, is_optional=False):
    log = Log()
    follow(transport, log, steps_until, log.seen, is_optional=is_optional)
    return log.entries


def follow(transport, log, steps_until, on_seen, *, is_optional=False):
    async def main():
        follower = Follower(transport, NODE, on_seen, log.gone, is_optional=is_optional)
        await follower.begin()
        task = asyncio.create_task(follower.follow())
        await until(lambda: steps_until(log))
        task.cancel()

    asyncio.run(main())


def test_everything_there_is_comes_first_then_every_change():
    changes = [("ADDED", node("b"), 11), ("MODIFIED", node("a"), 12), ("DELETED", node("b"), 13)]
    transport = ScriptedTransport([[node("a")]], [[changes]])
    entries = followed(transport, lambda log: len(log.entries) == 4)
    assert entries == [("seen", "a", "u1"), ("seen", "b", "u1"), ("seen", "a", "u1"), ("gone", "b", "u1")]
    assert transport.watched_from == ["10"]


def test_a_first_list_is_reported_part_by_part():
    """What was reported of a list that broke off or began again, and is not in the next, has gone."""
    broken = ApiError(500, "InternalError", "no luck")
    transport = ScriptedTransport(
        [([node("a"), node("b")], [node("c")], broken), ([node("a")], [node("c")]), ([node("a")],)],
        [[expired("too old")], []],
    )
    entries = followed(transport, lambda log: ("gone", "c", "u1") in log.entries)
    assert entries[:3] == [("seen", "a", "u1"), ("seen", "b", "u1"), ("seen", "c", "u1")]
    assert entries[3:6] == [("gone", "b", "u1"), ("seen", "a", "u1"), ("seen", "c", "u1")]
    assert entries[6:] == [("gone", "c", "u1"), ("seen", "a", "u1")]


def test_a_list_that_begins_again_counts_from_there():
    transport = ScriptedTransport([([node("a")], AGAIN, [node("b")], [node("c")])], [[]])
    entries = followed(transport, lambda log: ("gone", "a", "u1") in log.entries)
    assert entries == [("seen", "a", "u1"), ("seen", "b", "u1"), ("seen", "c", "u1"), ("gone", "a", "u1")]


def test_what_an_expired_watch_missed_shows_in_the_next_list():
    transport = ScriptedTransport(
        [[node("a"), node("b")], [node("b"), node("c")]], [[expired("too old")], [[("ADDED", node("d"), 30)]]]
    )
    entries = followed(transport, lambda log: ("seen", "d", "u1") in log.entries)
    assert entries[2:] == [("gone", "a", "u1"), ("seen", "b", "u1"), ("seen", "c", "u1"), ("seen", "d", "u1")]


def test_an_object_replaced_by_a_namesake_is_gone_first():
    transport = ScriptedTransport([[node("a", "old")]], [[[("MODIFIED", node("a", "new"), 11)]]])
    entries = followed(transport, lambda log: len(log.entries) == 3)
    assert entries == [("seen", "a", "old"), ("gone", "a", "old"), ("seen", "a", "new")]


def test_other_failures_are_tried_again_after_a_pause():
    broken = ApiError(500, "InternalError", "no luck")
    transport = ScriptedTransport([[], [node("a")]], [[broken], []])
    assert followed(transport, lambda log: log.entries) == [("seen", "a", "u1")]


def test_lists_that_do_not_help_are_further_and_further_apart(monkeypatch):
    slept = []
    real = asyncio.sleep

    async def sleep(seconds):
        slept.append(seconds)
        await real(0)

    monkeypatch.setattr(following.asyncio, "sleep", sleep)
    useless = 8
    transport = ScriptedTransport(
        [[], *[[]] * (useless - 1), [node("a")]], [*[[expired("too old")]] * useless, []]
    )

    async def main():
        seen = asyncio.Event()
        follower = Follower(transport, NODE, lambda _: seen.set(), lambda _: None)
        follower._pauses = repeating.Pauses(0.02, lambda least, most: most)
        await follower.begin()
        task = asyncio.create_task(follower.follow())
        await seen.wait()
        task.cancel()

    asyncio.run(main())
    assert slept == [0.001, 0.002, 0.004, 0.008, 0.016, 0.02, 0.02, 0.02]


def test_after_a_watch_that_lasted_the_pauses_start_over(monkeypatch):
    monkeypatch.setattr(following, "SETTLED_SECONDS", 0.0)
    transport = ScriptedTransport([[]] * 5, [[expired("too old")]] * 4 + [[]])

    async def main():
        follower = Follower(transport, NODE, lambda _: None, lambda _: None)
        follower._pauses = repeating.Pauses(0.02, lambda least, most: most)
        await follower.begin()
        task = asyncio.create_task(follower.follow())
        await until(lambda: not transport.watches)
        task.cancel()
        return follower._pauses.next()

    assert asyncio.run(main()) == 0.002


def test_a_list_that_fails_is_tried_again_too():
    refusals = [ApiError(500, "InternalError", "no luck"), expired("too old")]
    transport = ScriptedTransport([[], *refusals, [node("a")]], [[expired("too old")], []])
    assert followed(transport, lambda log: log.entries) == [("seen", "a", "u1")]
    assert transport.listings == []


def test_an_object_that_cannot_be_handled_is_skipped_with_a_traceback(caplog):
    def choosy(obj):
        if obj["metadata"]["name"] == "odd":
            raise KeyError("type")
        log.seen(obj)

    log = Log()
    changes = [("ADDED", node("odd"), 11), ("ADDED", node("b"), 12)]
    transport = ScriptedTransport([[node("odd"), node("a")]], [[changes]])
    follow(transport, log, lambda log: len(log.entries) == 2, choosy)
    assert log.entries == [("seen", "a", "u1"), ("seen", "b", "u1")]
    assert [record.getMessage() for record in caplog.records] == [
        "Node odd could not be handled and is left out"
    ] * 2
    assert all(record.exc_info for record in caplog.records)


def caught_up(transport, *asked, answer_seconds=0.0, is_optional=False):
    """What is told by the time it has caught up with what is there, when asked so often."""
    log, answers = Log(), list(asked)

    async def ask(kind):
        await asyncio.sleep(answer_seconds)
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def main():
        follower = Follower(transport, NODE, log.seen, log.gone, is_optional=is_optional)
        await follower.begin()
        task = asyncio.create_task(follower.follow())
        try:
            async with asyncio.timeout(5):
                await follower.catch_up(ask)
        finally:
            task.cancel()
        return [entry[:2] for entry in log.entries]

    return asyncio.run(main())


def there(at, **versions):
    return Versions({("", name): str(version) for name, version in versions.items()}, str(at))


def test_who_knows_all_that_is_there_has_caught_up():
    transport = ScriptedTransport([[node("a", version=3), node("b", version=9)]], [[]])
    assert caught_up(transport, there(12, a=3, b=8)) == [("seen", "a"), ("seen", "b")]


def test_catching_up_waits_for_the_watch():
    transport = ScriptedTransport(
        [[node("a"), node("b")]], [[[("MODIFIED", node("a", version=11), 11)]]], 0.05
    )
    assert caught_up(transport, there(12, a=11, b=1))[2:] == [("seen", "a")]


def test_something_made_since_is_no_reason_to_wait():
    transport = ScriptedTransport([[node("a"), node("new", version=15)]], [[]])
    assert len(caught_up(transport, there(12, a=1))) == 2


def test_something_gone_since_is_no_reason_to_wait():
    deleted = [("DELETED", node("a", version=13), 13)]
    transport = ScriptedTransport([[node("a"), node("b")]], [[deleted]])
    assert caught_up(transport, there(12, a=1, b=1), answer_seconds=0.01)[2:] == [("gone", "a")]
    assert transport.watched_from == ["10"]


@pytest.mark.parametrize(
    "missed", [there(12, a=11, b=1), there(12, a=1, b=1, c=12), there(12, a=1), there(12, a="opaque", b=1)]
)
def test_a_watch_that_lags_behind_is_given_up_for_a_list(monkeypatch, caplog, missed):
    monkeypatch.setattr(following, "CATCH_UP_SECONDS", 0.05)
    fresh = [node(name, version=version) for (_, name), version in missed.of.items()]
    transport = ScriptedTransport([[node("a"), node("b")], fresh], [[], []])
    told = caught_up(transport, missed)
    assert told[-len(fresh) :] == [("seen", name) for _, name in missed.of]
    assert "the watch of nodes lags behind" in caplog.text


def test_catching_up_takes_as_long_as_the_cluster_cannot_be_asked():
    busy = ApiError(503, "Unavailable", "no luck")
    transport = ScriptedTransport([[node("a")]], [[]])
    assert caught_up(transport, busy, busy, there(12, a=1)) == [("seen", "a")]


def test_there_is_nothing_to_catch_up_with_of_a_kind_that_is_not_served():
    transport = ScriptedTransport([no_such_resource()], [])
    assert caught_up(transport, is_optional=True) == []


def test_follows_a_real_cluster(in_lab):
    log = Log()

    async def scenario(lab):
        await lab.until(lambda: ("seen", "default") in [entry[:2] for entry in log.entries])
        await lab.transport.create(NAMESPACE, "", {"metadata": {"name": "new"}})
        await lab.until(lambda: log.entries[-1][1] == "new")

    async def background(lab):
        follower = Follower(lab.transport, NAMESPACE, log.seen, log.gone)
        await follower.sync()
        await follower.follow()

    in_lab(scenario, background)


def test_objects_are_told_as_structs_where_asked_and_what_cannot_be_read_is_left_out(caplog):
    unreadable = node("a") | {"spec": {"unschedulable": "perhaps"}}
    changes = [("MODIFIED", unreadable, 11), ("ADDED", node("b"), 12), ("DELETED", unreadable, 13)]
    transport = ScriptedTransport([[node("a")]], [[changes]])
    told = []

    async def main():
        follower = StructFollower(
            transport,
            NODE,
            lambda obj: told.append(("seen", obj)),
            lambda obj: told.append(("gone", obj)),
            Node,
        )
        await follower.sync()
        task = asyncio.create_task(follower.follow())
        await until(lambda: len(told) == 3)
        task.cancel()

    asyncio.run(main())
    assert all(isinstance(obj, Node) for _, obj in told)
    assert [(what, obj.metadata.name) for what, obj in told] == [("seen", "a"), ("seen", "b"), ("gone", "a")]
    assert "ignoring Node a: spec.unschedulable: expected a boolean" in caplog.text


def begun(transport, *, is_optional):
    told = []

    async def main():
        follower = StructFollower(transport, NODE, told.append, told.append, Node, is_optional=is_optional)
        async with asyncio.timeout(5):
            await follower.begin()

    asyncio.run(main())
    return [obj.metadata.name for obj in told]


def test_a_kind_that_is_not_served_is_empty_until_it_is(monkeypatch, caplog):
    caplog.set_level("INFO")
    monkeypatch.setattr(following, "UNSERVED_SECONDS", 0.001)
    transport = ScriptedTransport([no_such_resource(), no_such_resource(), [node("a")]], [[]])
    assert followed(transport, lambda log: log.entries, is_optional=True) == [("seen", "a", "u1")]
    assert caplog.text.count("the cluster serves nodes now") == 1


@pytest.mark.parametrize("refusal", [no_such_resource(), ApiError(404, "", "the page was not found")])
def test_a_kind_that_every_cluster_has_is_never_taken_for_empty(refusal, caplog):
    transport = ScriptedTransport([refusal, refusal, [node("a")]], [])
    assert begun(transport, is_optional=False) == ["a"]
    transport = ScriptedTransport([[node("a")], refusal, [node("a")]], [[expired("too old")], []])
    told = followed(transport, lambda _: len(transport.watched_from) == 2)
    assert told == [("seen", "a", "u1"), ("seen", "a", "u1")]
    assert "cannot list nodes: " in caplog.text


def test_an_error_that_goes_on_is_not_logged_before_every_short_pause(caplog):
    refusal = ApiError(401, "Unauthorized", "https://x rejected the credentials in a file (401)")
    assert begun(ScriptedTransport([refusal] * 3 + [[node("a")]], []), is_optional=False) == ["a"]
    assert caplog.text.count("cannot list nodes: https://x rejected the credentials in a file (401)") == 1


def test_what_was_seen_does_not_go_because_a_server_knows_nothing_of_the_kind_for_a_while():
    told = []
    transport = ScriptedTransport([[node("a")], no_such_resource(), [node("a")]], [[no_such_resource()], []])

    async def main():
        follower = StructFollower(
            transport, NODE, lambda obj: told.append("seen"), lambda obj: told.append("gone"), Node
        )
        await follower.begin()
        task = asyncio.create_task(follower.follow())
        await until(lambda: len(transport.watched_from) == 2)
        task.cancel()

    asyncio.run(main())
    assert told == ["seen", "seen"]


def test_a_kind_that_may_not_be_seen_is_done_without_only_if_it_is_optional(caplog):
    hidden = ApiError(403, "Forbidden", "not for you")
    assert begun(ScriptedTransport([hidden], []), is_optional=True) == []
    assert "going on without nodes: not for you" in caplog.text
    assert begun(ScriptedTransport([hidden, hidden, [node("a")]], []), is_optional=False) == ["a"]


def test_what_was_seen_does_not_go_because_a_server_forbids_to_look_for_a_while():
    told = []
    hidden = ApiError(403, "Forbidden", "not yet")
    transport = ScriptedTransport([[node("a")], hidden, [node("a"), node("b")]], [[expired("old")], []])

    async def main():
        follower = StructFollower(
            transport,
            NODE,
            lambda obj: told.append(("seen", obj)),
            lambda obj: told.append(("gone", obj)),
            Node,
            is_optional=True,
        )
        await follower.begin()
        task = asyncio.create_task(follower.follow())
        await until(lambda: len(transport.watched_from) == 2)
        task.cancel()

    asyncio.run(main())
    assert [(what, obj.metadata.name) for what, obj in told] == [("seen", "a"), ("seen", "a"), ("seen", "b")]


def test_of_events_only_the_identity_is_remembered():
    metadata = {"namespace": "default", "name": "e", "uid": "u", "resourceVersion": "7"}
    event = {"metadata": metadata | {"labels": {"a": "b"}}, "message": "x" * 1000}
    seen, gone = [], []

    async def main():
        follower = Follower(ScriptedTransport([[event], []], []), EVENT, seen.append, gone.append)
        await follower.sync()
        assert follower.known(event) == {"metadata": metadata}
        await follower.sync()

    asyncio.run(main())
    assert seen == [event]
    assert gone == [{"metadata": metadata}]


def test_of_a_job_only_the_identity_is_remembered():
    told = []
    job = {
        "metadata": {"name": "j", "uid": "u1", "resourceVersion": "1", "annotations": {"a": "b"}},
        "spec": {"activeDeadlineSeconds": 60},
    }
    transport = ScriptedTransport([[job], []], [])

    async def main():
        follower = PartFollower(transport, JOB, told.append, told.append, JobRunTime)
        await follower.begin()
        await follower.sync()

    asyncio.run(main())
    seen, gone = told
    assert (seen.spec.active_deadline_seconds, seen.metadata.annotations) == (60, {"a": "b"})
    assert (gone.metadata.uid, gone.spec.active_deadline_seconds, gone.metadata.annotations) == (
        "u1",
        None,
        {},
    )
