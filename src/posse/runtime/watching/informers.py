"""Observes the objects of a kind, all or by a label selector: lists them, watches them, and lists again when
the watch breaks.

A new list shows what the watch has missed; objects that are not in it are reported as gone. Lists are
repeated with growing pauses, so that a large cluster is not kept busy by them.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

from posse.client.repeating import Pauses, retry_after
from posse.kinds.machinery.errors import EXPIRED, FORBIDDEN, NOT_FOUND, ApiError, no_such_resource
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import EVENT
from posse.model.decoding import ShapeError
from posse.model.meta import ApiObject, ObjectMeta
from posse.runtime.process.error_isolation import skipping
from posse.transport.objects import Page, Place, Shown, Versions, WatchEvent
from posse.transport.transport import Transport

log = logging.getLogger(__name__)

MOST_PAUSE_SECONDS = 5.0
REPEATED_PAUSE_SECONDS = 2.0
"""An error that goes on is logged again only before pauses of at least this length."""
SETTLED_SECONDS = 10.0
"""A watch that lasted so long resets the pauses."""
CATCH_UP_SECONDS = 1.0
"""For a watch to bring what is known to be there."""
LOOK_SECONDS = 0.02
UNSERVED_SECONDS = 30.0
"""Between looks whether a kind is served by now."""

KNOWN_BY_IDENTITY = frozenset({EVENT})
"""Kinds with so many objects that only the identity of each is remembered."""
_IDENTITY = ("namespace", "name", "uid", "resourceVersion")

Json = dict[str, Any]
T = TypeVar("T")
S = TypeVar("S", bound=ApiObject)
AskVersions = Callable[[Kind], Awaitable[Versions]]


class Following(ABC, Generic[T]):
    """Base of both followers, which differ in the form of the objects they report."""

    def __init__(
        self,
        transport: Transport,
        kind: Kind,
        on_seen: Callable[[T], None],
        on_gone: Callable[[T], None],
        labels: str = "",
        *,
        is_optional: bool = False,
    ) -> None:
        self._transport = transport
        self.kind = kind
        self._labels = labels
        self._on_seen = on_seen
        self._on_gone = on_gone
        self._known: dict[Place, T] = {}
        self._version = ""
        self.is_served = True
        self._was_listed = False
        """After a successful list, a refusal is a passing error of a server that has just started."""
        self._is_optional = is_optional
        """An optional kind that is not served has no objects."""
        self._pauses = Pauses(MOST_PAUSE_SECONDS)
        self._told = ""
        """The last error that was logged, since the cluster last answered."""
        self._watching: asyncio.Timeout | None = None
        """Ends the watch that is under way."""
        self._listed = asyncio.Event()
        self._deleted: dict[Place, str] | None = None
        """While it catches up: objects that the watch reported as deleted, with the version."""

    @abstractmethod
    def _form(self, shown: Shown) -> T:
        """ShapeError: it cannot be read."""

    def _remembered(self, obj: T) -> T:
        """What is kept of an object, and reported if a list says that it is gone."""
        return obj

    @abstractmethod
    def _place(self, obj: T) -> Place: ...

    @abstractmethod
    def _uid(self, obj: T) -> str: ...

    @abstractmethod
    def _resource_version(self, obj: T) -> str: ...

    async def sync(self) -> None:
        """List, and report all objects and those that have gone since the last list.

        A first list is reported page by page, so that it need not be held as a whole.
        """
        is_first_list, present, later = not self._known, set[Place](), list[tuple[Place, T | None]]()
        version = ""
        async for page in self._pages():
            read = [self._read(shown) for shown in page.items]
            if page.is_first:
                present.clear()
                later.clear()
            present.update(place for place, _ in read)
            version = page.resource_version
            if not is_first_list:
                later += read
                continue
            for place, obj in read:
                self._see(place, obj)
        for place in [place for place in self._known if place not in present]:
            self._lose(place, None)
        for place, obj in later:
            self._see(place, obj)
        self._version = version
        self._listed.set()

    def known(self, obj: T) -> T | None:
        """Return the newest version of the object that was observed."""
        known = self._known.get(self._place(obj))
        return known if known is not None and self._uid(known) == self._uid(obj) else None

    async def begin(self) -> None:
        """List once, retrying until the cluster answers."""
        while True:
            try:
                return await self.sync()
            except ApiError as error:
                await self._pause(error)

    async def follow(self) -> None:
        """Report changes for ever, with a new list whenever the watch breaks. `begin` comes first."""
        now = asyncio.get_running_loop().time
        while True:
            started = now()
            try:
                await self._follow_once()
            except ApiError as error:
                if now() - started > SETTLED_SECONDS:
                    self._pauses.start_over()
                    self._told = ""
                await self._pause(error)
            await self.begin()

    async def catch_up(self, ask: AskVersions) -> None:
        """Return when everything that exists now has been reported."""
        pauses = Pauses(MOST_PAUSE_SECONDS)
        self._deleted = {}
        while self.is_served:
            try:
                await self._reach(await ask(self.kind))
                break
            except ApiError as error:
                await asyncio.sleep(pauses.next(retry_after(error)))
        self._deleted = None

    async def _reach(self, there: Versions) -> None:
        """Wait for the watch to reach these versions; if it does not soon, list instead."""
        now = asyncio.get_running_loop().time
        deadline = now() + CATCH_UP_SECONDS
        behind = [place for place in {**there.of, **self._known} if self._is_behind(place, there)]
        while self.is_served and behind:
            if now() > deadline and self._watching is not None:
                self._listed.clear()
                self._watching.reschedule(now())
                await self._listed.wait()
                return
            await asyncio.sleep(LOOK_SECONDS)
            behind = [place for place in behind if self._is_behind(place, there)]

    def _is_behind(self, place: Place, there: Versions) -> bool:
        """Whether the object is newer than its last report, or gone without one."""
        known = self._known.get(place)
        told = (self._deleted or {}).get(place, "") if known is None else self._resource_version(known)
        if place in there.of:
            return is_older(told, there.of[place])
        return known is not None and not is_older(there.at, told)

    async def _pages(self) -> AsyncIterator[Page]:
        """An optional kind that is not served or not readable has no objects for now."""
        try:
            async for page in self._transport.pages(self.kind, labels=self._labels):
                if not self.is_served:
                    log.info("the cluster serves %s now", self.kind.group_resource)
                self.is_served = self._was_listed = True
                yield page
        except ApiError as error:
            is_hidden = error.code == FORBIDDEN and not self._was_listed
            if not self._is_optional or not (error.code == NOT_FOUND or is_hidden):
                raise
            if is_hidden and self.is_served:
                log.warning("going on without %s: %s", self.kind.group_resource, error)
            self.is_served = False
            yield Page((), "")

    async def _pause(self, error: ApiError) -> None:
        if not self.is_served:
            await asyncio.sleep(UNSERVED_SECONDS)
            return
        pause = self._pauses.next(retry_after(error))
        is_news = str(error) != self._told or pause >= REPEATED_PAUSE_SECONDS
        if error.code != EXPIRED and is_news:
            # That a watch expires is to be expected.
            self._told = str(error)
            log.warning("cannot list %s: %s; retrying in %.1f s", self.kind.plural, error, pause)
        await asyncio.sleep(pause)

    async def _follow_once(self) -> None:
        """Return if it lags behind."""
        if not self.is_served:
            raise no_such_resource()
        try:
            async with asyncio.timeout(None) as self._watching:
                async for batch in self._transport.watch(self.kind, self._version, labels=self._labels):
                    self._take(batch)
        except TimeoutError:
            log.warning("the watch of %s lags behind, listing again", self.kind.plural)
        finally:
            self._watching = None

    def _take(self, batch: Sequence[WatchEvent]) -> None:
        for event in batch:
            place, obj = self._read(event.shown)
            if event.type == "DELETED":
                self._lose(place, obj)
                if self._deleted is not None and obj is not None:
                    self._deleted[place] = self._resource_version(obj)
            else:
                self._see(place, obj)

    def _read(self, shown: Shown) -> tuple[Place, T | None]:
        """An object that cannot be decoded is left out."""
        try:
            obj = self._form(shown)
        except ShapeError as error:
            place = _place_in(shown.obj)
            log.warning("ignoring %s %s: %s", self.kind.name, "/".join(filter(None, place)), error)
            return place, None
        return self._place(obj), obj

    def _see(self, place: Place, obj: T | None) -> None:
        if obj is None:
            return
        previous = self._known.get(place)
        if previous is not None and self._uid(previous) != self._uid(obj):
            self._tell(self._on_gone, place, previous)
        self._known[place] = self._remembered(obj)
        self._tell(self._on_seen, place, obj)

    def _lose(self, place: Place, last: T | None) -> None:
        """Report the last known state."""
        known = self._known.pop(place, None)
        gone = known if last is None else last
        if gone is not None:
            self._tell(self._on_gone, place, gone)

    def _tell(self, listener: Callable[[T], None], place: Place, obj: T) -> None:
        with skipping(self.kind.name, *place):
            listener(obj)


class Follower(Following[Json]):
    """Reports objects as JSON."""

    def _remembered(self, obj: Json) -> Json:
        if self.kind not in KNOWN_BY_IDENTITY:
            return obj
        return {"metadata": {name: obj["metadata"].get(name, "") for name in _IDENTITY}}

    def _form(self, shown: Shown) -> Json:
        return shown.obj

    def _place(self, obj: Json) -> Place:
        return _place_in(obj)

    def _uid(self, obj: Json) -> str:
        return str(obj["metadata"].get("uid", ""))

    def _resource_version(self, obj: Json) -> str:
        return str(obj["metadata"].get("resourceVersion", ""))


class StructFollower(Following[S]):
    """Reports objects as structs, which take less memory and time."""

    def __init__(
        self,
        transport: Transport,
        kind: Kind,
        on_seen: Callable[[S], None],
        on_gone: Callable[[S], None],
        struct: type[S],
        *,
        is_optional: bool = False,
    ) -> None:
        super().__init__(transport, kind, on_seen, on_gone, is_optional=is_optional)
        self._struct = struct

    def _form(self, shown: Shown) -> S:
        return shown.read(self._struct)

    def _place(self, obj: S) -> Place:
        return obj.metadata.namespace, obj.metadata.name

    def _uid(self, obj: S) -> str:
        return obj.metadata.uid

    def _resource_version(self, obj: S) -> str:
        return obj.metadata.resource_version


class PartFollower(StructFollower[S]):
    """Reports a few fields of objects. There may be many, so only the identity of each is remembered."""

    def _remembered(self, obj: S) -> S:
        own = obj.metadata
        identity = ObjectMeta(
            namespace=own.namespace, name=own.name, uid=own.uid, resource_version=own.resource_version
        )
        return self._struct(metadata=identity)


async def attend(
    followers: Sequence[Following[Any]], *works: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    """Follow all of these for ever; the works run beside it, and start after the first lists."""
    for follower in followers:
        await follower.begin()
    async with asyncio.TaskGroup() as tasks:
        for follower in followers:
            tasks.create_task(follower.follow())
        for work in works:
            tasks.create_task(work())


def _place_in(obj: Json) -> Place:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def is_older(version: str, than: str) -> bool:
    """Versions are numbers in Kubernetes; of others, one that differs is taken for older."""
    if version.isdecimal() and than.isdecimal():
        return int(version) < int(than)
    return version != than
