"""Objects in lists and watches, readable as JSON or as the struct of their kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from posse.model.decoding import decode
from posse.model.meta import ApiObject

Json = dict[str, Any]
S = TypeVar("S", bound=ApiObject)
Item = TypeVar("Item")


class Shown(Protocol):
    """One object at one version, in its stored form. It is shared and must not be edited."""

    @property
    def obj(self) -> Json: ...

    def read(self, struct: type[S]) -> S:
        """ShapeError: it is not what its kind should be."""


class ShownJson:
    """An object that is at hand as JSON already."""

    __slots__ = ("obj",)

    def __init__(self, obj: Json) -> None:
        self.obj = obj

    def read(self, struct: type[S]) -> S:
        return decode(struct, self.obj)


@dataclass(frozen=True, slots=True)
class Listing:
    """All objects that were asked for, at one version."""

    shown: Sequence[Shown]
    resource_version: str

    @property
    def items(self) -> list[Json]:
        return [shown.obj for shown in self.shown]


class PageOf(NamedTuple, Generic[Item]):
    """A page of a list; the version of the last page is that of the whole."""

    items: Sequence[Item]
    resource_version: str
    is_first: bool = True
    """Whether the list begins here. It may begin again; what came before does not count then."""


Page = PageOf[Shown]


Place = tuple[str, str]
"""Namespace, empty for none, and name."""


class Versions(NamedTuple):
    """Which objects of a kind there are, each with its resourceVersion, at one version of the whole."""

    of: Mapping[Place, str]
    at: str


class WatchEvent(NamedTuple):
    """A change in a watch. `type` is ADDED, MODIFIED or DELETED."""

    type: str
    shown: Shown

    @property
    def obj(self) -> Json:
        return self.shown.obj
