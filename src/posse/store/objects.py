"""Objects as the store keeps them: a JSON object at one version, and the change from one version to the next.

A stored object is shared by everyone who reads it and therefore never edited; a new version is a new object.
"""

from typing import Any, NamedTuple

import msgspec

Json = dict[str, Any]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Json).decode


class Key(NamedTuple):
    """Where an object lives. `namespace` is empty for objects that belong to the whole cluster."""

    resource: str
    namespace: str
    name: str


class Stored:
    """One version of one object, with its JSON text made at most once."""

    __slots__ = ("_encoded", "_obj", "version")

    def __init__(self, obj: Json, version: int, encoded: bytes | None = None) -> None:
        self._obj: Json | None = obj
        self.version = version
        self._encoded = encoded

    @property
    def obj(self) -> Json:
        obj = self._obj
        return obj if obj is not None else _decode(self.encoded)

    @property
    def is_text_only(self) -> bool:
        return self._obj is None

    def keep_text_only(self) -> None:
        """Save memory: a third of it or less is needed from now on, and each read costs a decoding."""
        self._encoded, self._obj = self.encoded, None

    @property
    def encoded(self) -> bytes:
        # Two threads may both find it missing; they then make the same bytes, so no lock is needed.
        if self._encoded is None:
            self._encoded = _encode(self._obj)
        return self._encoded


class Conflict(NamedTuple):
    """A write that was refused because the object is not at the expected version; None: it does not exist."""

    current: Stored | None


class Change:
    """One write. `after` is None for a deletion, `before` for a creation."""

    __slots__ = ("_gone", "after", "before", "key", "version")

    def __init__(self, key: Key, version: int, before: Stored | None, after: Stored | None) -> None:
        self.key = key
        self.version = version
        self.before = before
        self.after = after
        self._gone: Stored | None = None

    @property
    def size_bytes(self) -> int:
        """What it takes to keep the change: the states before and after, as text."""
        return _size(self.before) + _size(self.after)

    @property
    def growth_bytes(self) -> int:
        """By how much the store grows with it."""
        return _size(self.after) - _size(self.before)

    @property
    def gone(self) -> Stored:
        """The last state as watchers see it leave: its content as it was, at the version of this change."""
        if self._gone is not None:
            return self._gone
        if self.before is None:
            raise ValueError(f"{self.key} did not exist before version {self.version}")
        gone = Stored(stamped(self.before.obj, self.version), self.version)
        if not self.before.is_text_only:
            self._gone = gone
        return gone

    def keep_text_only(self) -> None:
        """Save memory on what is no longer the present state of the object."""
        self._gone = None
        if self.before is not None:
            self.before.keep_text_only()


def _size(stored: Stored | None) -> int:
    return len(stored.encoded) if stored is not None else 0


def stamped(obj: Json, version: int) -> Json:
    """The same object saying it is at `version`; the rest of it is shared, not copied."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(version)}}
