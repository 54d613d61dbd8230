"""Versioned objects: all of them in memory, every write numbered, made durable in groups, then told to
watchers.

The line of versions has four segments, and a change moves through them in order, never overtaking another:

    published  |  committed, to be published  |  pending, to be committed  |  not yet given out
    log.version <=     durable version        <=         version

Reads see everything up to `version`; an answer made from them waits until that is committed, as the answer to
a write does. Watchers see what is published. All methods belong to one thread (the event loop's), except
`commit_pending`, which may run in a worker. The store knows no kinds; of an object it touches only
metadata.resourceVersion.
"""

import gc
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import msgspec

from posse.store.change_log import ChangeLog, Feed, Interest
from posse.store.data_directory import DataDirectory
from posse.store.errors import CommitFailed, DataDirCorrupt, HistoryExpired, ObjectTooLarge, StoreFull
from posse.store.journal import Journal
from posse.store.objects import Change, Conflict, Json, Key, Stored

HISTORY_LIMIT = 20_000
"""Changes per resource."""
HISTORY_BYTES = 32 * 1024 * 1024
"""Of all resources together. States before and after count, so an object that changes counts twice."""
MAX_OBJECT_BYTES = 3 * 1024 * 1024
MAX_STORE_BYTES = 4 * 1024**3
# After a start versions continue this far above the last durable one. A version that was lost with the
# process is never assigned again, and a client that saw it has to list again.
RESTART_GAP = 1_000_000
ABSENT = 0

Place = tuple[str, str]


class Put(NamedTuple):
    """A new state for an object that is at `expected`; ABSENT: that does not exist."""

    key: Key
    obj: Json
    expected: int


class Store:
    def __init__(
        self,
        journal: Journal | None = None,
        history_limit: int = HISTORY_LIMIT,
        max_bytes: int = MAX_STORE_BYTES,
        history_bytes: int = HISTORY_BYTES,
        text_only: Collection[str] = (),
    ) -> None:
        """Objects of `text_only` resources are seldom read: they are kept as text once published."""
        self._journal = journal
        self._text_only = frozenset(text_only)
        self._max_bytes = max_bytes
        self.size_bytes = 0
        """All objects together, as text."""
        self._objects: defaultdict[str, dict[Place, Stored]] = defaultdict(dict)
        # The keys of `_objects`, per resource, always sorted.
        self._places: defaultdict[str, list[Place]] = defaultdict(list)
        self.version = self._load(journal) if journal else 1
        self._log = ChangeLog(self.version, history_limit, history_bytes)
        self._handover = Lock()
        self._pending: list[Change] = []
        self._committed: list[Change] = []
        # Changes that the log does not have yet, oldest first.
        self._unpublished: list[Change] = []
        self._failure: CommitFailed | None = None
        self._on_pending: Callable[[], None] | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        fsync: bool = True,
        max_bytes: int = MAX_STORE_BYTES,
        text_only: Collection[str] = (),
    ) -> "Store":
        """Open a data directory. DataDirError: it cannot be used, and why; nothing in it was changed."""
        journal = Journal(DataDirectory(path), fsync=fsync)
        try:
            return cls(journal, max_bytes=max_bytes, text_only=text_only)
        except BaseException:
            journal.close()
            raise

    def close(self) -> None:
        if self._journal:
            self._journal.close()

    def compact(self, version: int) -> bool:
        """Forget past states up to a version; return whether there were any."""
        return self._log.compact(version)

    # Reading

    def get(self, key: Key) -> Stored | None:
        return self._objects[key.resource].get((key.namespace, key.name))

    def list(self, resource: str, namespace: str | None = None, after: Place | None = None) -> list[Stored]:
        """All objects of a resource ordered by namespace and name, or those that follow the place `after`."""
        objects = self._objects[resource]
        return [objects[place] for place in self._span(resource, namespace, after)]

    def _span(self, resource: str, namespace: str | None, after: Place | None) -> Sequence[Place]:
        places = self._places[resource]
        start = 0 if namespace is None else bisect_left(places, (namespace, ""))
        # No name contains a NUL, so this is where the next namespace begins.
        end = len(places) if namespace is None else bisect_left(places, (namespace + "\0", ""))
        if after is not None:
            start = max(start, bisect_right(places, after))
        return places[start:end]

    def list_at(
        self, resource: str, version: int, namespace: str | None = None, after: Place | None = None
    ) -> Sequence[Stored]:
        """The list as it was at a version. HistoryExpired: the changes since are forgotten."""
        history = self._log.history(resource)
        changes = [
            *history.since(history.position_after(version), version),
            *(each for each in self._unpublished if each.key.resource == resource and each.version > version),
        ]
        before: dict[Place, Stored | None] = {}
        for change in changes:
            before.setdefault((change.key.namespace, change.key.name), change.before)
        if not before:
            return self.list(resource, namespace, after)
        objects, span = self._objects[resource], self._span(resource, namespace, after)
        found = {place: objects[place] for place in span if place not in before}
        found |= {
            place: was
            for place, was in before.items()
            if was is not None and namespace in (None, place[0]) and (after is None or place > after)
        }
        return [found[place] for place in sorted(found)]

    def watch(self, interest: Interest, after: int | None = None) -> Feed:
        """Follow changes after a version, or from now on after a synthetic ADDED for all there is (None)."""
        if after is not None:
            if after > self.version:
                raise HistoryExpired(after, self.version)
            return self._log.feed(interest, after)
        initial = [
            stored
            for stored in self.list(interest.resource, interest.namespace)
            if interest.accepts is None or interest.accepts(stored.obj)
        ]
        return self._log.feed(interest, self.version, initial)

    # Writing

    def put(self, key: Key, obj: Json, expected: int) -> Stored | Conflict:
        """Store a new version of an object that is at `expected` (ABSENT for none); `obj` is not copied."""
        answer = self.put_all([Put(key, obj, expected)])
        return answer if isinstance(answer, Conflict) else answer[0]

    def put_all(self, puts: Sequence[Put]) -> Sequence[Stored] | Conflict:
        """Store new versions of different objects in one transaction, or none of them if one conflicts.

        ObjectTooLarge, StoreFull: nothing was changed.
        """
        changes, stored = [], []
        for number, (key, obj, expected) in enumerate(puts):
            before = self.get(key)
            if (before.version if before else ABSENT) != expected:
                return Conflict(before)
            version = self._next_version() + number
            obj["metadata"]["resourceVersion"] = str(version)
            after = Stored(obj, version)
            # Encoded here and not when first needed: what cannot be kept must be refused before anything
            # changes.
            if len(after.encoded) > MAX_OBJECT_BYTES:
                raise ObjectTooLarge(len(after.encoded), MAX_OBJECT_BYTES)
            changes.append(Change(key, version, before, after))
            stored.append(after)
        growth = sum(change.growth_bytes for change in changes)
        if growth > 0 and self.size_bytes + growth > self._max_bytes:
            raise StoreFull(self._max_bytes)
        for change, after in zip(changes, stored, strict=True):
            place = (change.key.namespace, change.key.name)
            if change.before is None:
                insort(self._places[change.key.resource], place)
            self._objects[change.key.resource][place] = after
        self._record(changes)
        return stored

    def delete(self, key: Key, expected: int) -> Stored | Conflict:
        """Remove an object that is at `expected`; return its last state at the version of the removal."""
        before = self.get(key)
        if before is None or before.version != expected:
            return Conflict(before)
        place = (key.namespace, key.name)
        places = self._places[key.resource]
        version = self._next_version()
        del places[bisect_left(places, place)]
        del self._objects[key.resource][place]
        change = Change(key, version, before, None)
        self._record([change])
        return change.gone

    # Durability

    def on_pending(self, callback: Callable[[], None] | None) -> None:
        """Have `callback` called after every write that waits to be committed; None ends that."""
        self._on_pending = callback

    @property
    def durable_version(self) -> int:
        """Everything up to here survives the process."""
        return self._journal.version if self._journal else self.version

    def commit_pending(self) -> None:
        """Make what has been written so far durable. May run in any thread, but in one at a time.

        After a failure memory is ahead of the disk and cannot be taken back: others may have read it and
        built on it. So the store takes no further writes, which keeps everything acknowledged true, and the
        process must end; the next one starts from what is durable.
        """
        if self._failure:
            raise self._failure
        with self._handover:
            batch, self._pending = self._pending, []
        if not batch or self._journal is None:
            return
        try:
            self._journal.write(batch)
        except Exception as error:
            self._failure = CommitFailed(self._journal.path, str(error) or repr(error))
            raise self._failure from error
        with self._handover:
            self._committed += batch

    def publish_committed(self) -> None:
        """Tell the watchers of what has become durable."""
        with self._handover:
            batch, self._committed = self._committed, []
        if batch:
            self._log.publish(batch)
            del self._unpublished[: len(batch)]
            self._save_memory(batch)

    def _save_memory(self, published: Sequence[Change]) -> None:
        for change in published:
            if change.after is not None and change.key.resource in self._text_only:
                change.after.keep_text_only()

    def _next_version(self) -> int:
        if self._failure:
            raise self._failure
        return self.version + 1

    def _record(self, changes: Sequence[Change]) -> None:
        """Commit changes in one transaction and publish them together."""
        self.version = changes[-1].version
        self.size_bytes += sum(change.growth_bytes for change in changes)
        if self._journal is None:
            self._log.publish(changes)
            self._save_memory(changes)
            return
        self._unpublished += changes
        with self._handover:
            self._pending += changes
        if self._on_pending is not None:
            self._on_pending()

    def _load(self, journal: Journal) -> int:
        # Millions of small values without cycles come to stay. Looking through them for garbage, again and
        # again while they are made and once in a while ever after, would take longer than reading them.
        was_collecting = gc.isenabled()
        gc.disable()
        try:
            self._read_rows(journal)
            gc.freeze()
        finally:
            if was_collecting:
                gc.enable()
        version = journal.version + RESTART_GAP if journal.version else 1
        journal.advance(version)
        return version

    def _read_rows(self, journal: Journal) -> None:
        decode: Callable[[bytes], Json] = msgspec.json.Decoder(Json).decode
        for key, version, body in journal.rows():
            try:
                stored = Stored(decode(body), version, body)
            except msgspec.DecodeError as error:
                raise DataDirCorrupt(journal.path, f"{'/'.join(key)}: {error}") from error
            if key.resource in self._text_only:
                stored.keep_text_only()
            place = (key.namespace, key.name)
            self.size_bytes += len(body)
            self._objects[key.resource][place] = stored
            self._places[key.resource].append(place)
