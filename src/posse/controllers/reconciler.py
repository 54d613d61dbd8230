"""What a controller is to whoever runs it: objects go in as they are seen, and for each subject that was touched a plan comes out."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from posse.controllers.steps import Plan
from posse.controllers.touched import Touched
from posse.kinds.machinery.kind import Kind

Json = dict[str, Any]


class Reconciler(Protocol):
    """Pure: it knows what it was shown. Subjects, the objects that plans are made for, go by their uid."""

    @property
    def subject_kind(self) -> Kind: ...
    @property
    def reporter(self) -> str: ...
    @property
    def kinds(self) -> Sequence[Kind]:
        """What it wants to be shown, in this order."""

    @property
    def selectors(self) -> Mapping[Kind, str]:
        """The labels without which an object of a kind is of no interest."""

    @property
    def touched(self) -> Touched: ...
    def see(self, kind: Kind, obj: Json) -> None: ...
    def lose(self, kind: Kind, obj: Json) -> None: ...
    def subject(self, uid: str) -> Json | None: ...
    def plan(self, uid: str, now: float) -> Plan: ...
