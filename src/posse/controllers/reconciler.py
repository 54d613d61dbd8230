"""The interface of every controller: observed objects go in, and each key that they touch gets a plan.

Reconcilers are pure: they know what they have observed, and the time is an argument. The runner in
`posse.runtime.control` watches their kinds, asks for plans and carries them out.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any

from posse.controllers.observed import ObservedObjects
from posse.controllers.steps import News, Plan, controller_uid
from posse.kinds.machinery.kind import Kind

Json = dict[str, Any]


class Touched:
    """The keys that a reconciler has to plan for, in the order in which observed changes touched them."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._keys)

    def add(self, *keys: str) -> None:
        for key in keys:
            self._keys[key] = None

    def take(self, limit: int) -> list[str]:
        """Remove and return up to `limit` keys, longest waiting first."""
        keys = list(islice(self._keys, limit))
        for key in keys:
            del self._keys[key]
        return keys


class Reconciler(ABC):
    """A key stands for what one plan is about: the uid of an object, its name, or a part of the cluster."""

    # The name of the controller in events and logs.
    reporter: str
    # The kinds that it observes; objects that exist at the start are observed in this order.
    kinds: Sequence[Kind]
    # Label selectors for kinds of which only some objects are observed.
    selectors: Mapping[Kind, str] = MappingProxyType({})
    touched: Touched
    # The kind of the object that events refer to; None for no events.
    subject_kind: Kind | None = None

    def subject(self, _key: str) -> Json | None:
        """Return the object that events about the plan of a key refer to."""
        return None

    @abstractmethod
    def see(self, kind: Kind, obj: Json) -> None: ...

    @abstractmethod
    def lose(self, kind: Kind, obj: Json) -> None: ...

    @abstractmethod
    def plan(self, key: str, now: float) -> Plan: ...


class OwnerReconciler(Reconciler):
    """For subjects, the first of `kinds`, that own objects of the others. Keys are uids of subjects."""

    def __init__(self) -> None:
        self._observed = ObservedObjects()
        self.touched = Touched()

    def subject(self, key: str) -> Json | None:
        return self._observed.get(key)

    def see(self, kind: Kind, obj: Json) -> None:
        key = self._key(kind, obj)
        if key and self._observed.see(kind, obj):
            self.touched.add(key)

    def lose(self, kind: Kind, obj: Json) -> None:
        self._observed.lose(obj)
        if kind is not self.kinds[0] and (key := self._key(kind, obj)):
            self.touched.add(key)

    def _key(self, kind: Kind, obj: Json) -> str:
        subject_kind = self.kinds[0]
        return str(obj["metadata"]["uid"]) if kind is subject_kind else controller_uid(obj, subject_kind)


class EventDedup:
    """Events on objects without a condition of ours: an event is repeated only when it has changed."""

    def __init__(self) -> None:
        self._recorded: dict[str, News] = {}

    def plan(self, uid: str, news: News) -> Plan:
        """Return a plan that records the event, unless it was recorded already."""
        is_known = self._recorded.get(uid) == news
        self._recorded[uid] = news
        return Plan() if is_known else Plan(news=[news])

    def forget(self, uid: str) -> None:
        self._recorded.pop(uid, None)
