"""What a served kind is: its names, its struct, its rules and its printed columns. The list of kinds is in
registry.py.

Rules work on JSON objects where they fill things in (so that unknown fields survive) and on structs where
they judge.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from posse.kinds.machinery.errors import FieldError
from posse.model.meta import Shape

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PrintedColumn:
    """One cell of `kubectl get`; priority 1 columns show with `-o wide` only."""

    name: str
    type: str
    description: str
    priority: int
    cell: Callable[[Json, float], Any]
    format: str = ""


def _leave_alone(_obj: Json) -> None:
    pass


def _no_times(_new: Json, _old: Json | None, _now: str) -> None:
    pass


def clear_status(obj: Json) -> None:
    """A new object has no status yet, whatever its maker says."""
    obj.pop("status", None)


def keep_status(new: Json, old: Json) -> None:
    """The main resource never writes status."""
    if "status" in old:
        new["status"] = old["status"]
    else:
        new.pop("status", None)


def keep_spec(new: Json, old: Json) -> None:
    """The status subresource of the core kinds writes status, labels and annotations."""
    written = {name: new[name] for name in ("metadata", "status") if name in new}
    new.clear()
    new.update({name: value for name, value in old.items() if name != "status"} | written)


def keep_all_but_status(new: Json, old: Json) -> None:
    """The status subresource of newer kinds writes status only; the version is what the caller has seen."""
    version = (new.get("metadata") or {}).get("resourceVersion")
    metadata = {name: value for name, value in old["metadata"].items() if name != "resourceVersion"}
    keep_spec(new, old)
    new["metadata"] = metadata if version is None else metadata | {"resourceVersion": version}


def _no_errors(_obj: Any) -> list[FieldError]:
    return []


def _no_update_errors(_new: Any, _old: Any) -> list[FieldError]:
    return []


def _at_once(_obj: Json, _asked_seconds: int | None) -> int:
    return 0


def _unchanged(obj: Json) -> Json:
    return obj


def _is_free(_obj: Json) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class DeletionRules:
    """How objects of a kind go away when they are deleted."""

    grace_seconds: Callable[[Json, int | None], int] = _at_once
    """How long it may take to stop, given the seconds that the request asks for."""
    mark: Callable[[Json], Json] = _unchanged
    """The object as it is while it goes; its metadata says so already."""
    is_held: Callable[[Json], bool] = _is_free
    """Whether something else than the finalizers of its metadata holds it."""
    heeds_propagation: bool = True
    """Whether a request may say what becomes of dependents."""
    answers_with_object: bool = False
    """Whether the answer to the last request is the object instead of a Status."""


@dataclass(frozen=True, slots=True)
class KindRules:
    """The hooks of one kind, in the order a request meets them.

    `validate_update` judges both the main resource and the status subresource: what a request may not touch
    has been put back by then, so it cannot fail.
    """

    # Filled in at creation only: taking it away later is for the rules to judge.
    default_new: Callable[[Json], None] = _leave_alone
    default: Callable[[Json], None] = _leave_alone
    stamp: Callable[[Json, Json | None, str], None] = _no_times
    """Fills in times that clients leave to the server, given the old object (None for a creation)."""
    prepare_create: Callable[[Json], None] = _leave_alone
    prepare_update: Callable[[Json, Json], None] = keep_status
    prepare_status_update: Callable[[Json, Json], None] = keep_all_but_status
    validate: Callable[[Any], list[FieldError]] = _no_errors
    validate_update: Callable[[Any, Any], list[FieldError]] = _no_update_errors
    allow_unconditional_update: bool = True
    creates_on_update: bool = False
    """Whether replacing an object that does not exist creates it."""
    deletion: DeletionRules = DeletionRules()


def _as_it_was(_new: Json, old: Json) -> Json:
    return old


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a kind looks in a version whose shape is not the stored one. Both conversions leave their argument
    alone.
    """

    struct: type[Shape]
    outgoing: Callable[[Json], Json]
    """From the stored form. What it leaves in that the struct does not have is dropped afterwards."""
    incoming: Callable[[Json], Json]
    """To the stored form, of an object that fits the struct."""
    refusals: Callable[[Any, Any], list[FieldError]]
    """What only this version forbids, given the new and the old object (None for a creation) as its struct.
    """
    field_names: tuple[tuple[str, str], ...]
    """Parts of stored field paths with what this version calls them, applied in order."""
    baseline: Callable[[Json, Json], Json] = _as_it_was
    """Given the new and the old stored object: what the new one is compared with."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """One of the kinds in the registry; there is one instance of each, so identity is equality."""

    name: str
    plural: str
    struct: type[Shape]
    rules: KindRules
    columns: tuple[PrintedColumn, ...]
    group: str = ""
    # Objects are stored in the first.
    versions: tuple[str, ...] = ("v1",)
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    has_status: bool = False
    # Whether one request can delete all objects of a collection.
    has_delete_collection: bool = True
    subresources: tuple[str, ...] = ()
    # For kinds with the subresource scale: the labels by which the pods that it counts are found.
    scale_selector: Callable[[Json], str] | None = None
    selectable_fields: tuple[str, ...] = ()
    # Values of selectable fields that an object does not set.
    absent_fields: Mapping[str, str] = field(default_factory=dict)
    # The versions whose shape differs from the stored one.
    dialects: Mapping[str, Dialect] = field(default_factory=dict)
    # Set when this kind is only another view of objects stored as that kind.
    view_of: "Kind | None" = None

    @property
    def storage_version(self) -> str:
        return self.versions[0]

    @property
    def singular(self) -> str:
        return self.name.lower()

    @property
    def api_version(self) -> str:
        return self.api_version_of(self.storage_version)

    @property
    def group_resource(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def group_kind(self) -> str:
        return f"{self.name}.{self.group}" if self.group else self.name

    @property
    def list_kind(self) -> str:
        return f"{self.name}List"

    @property
    def stored(self) -> "Kind":
        """The kind under which objects of this kind are kept: itself, unless it is a view."""
        return self.view_of or self

    def struct_of(self, version: str) -> type[Shape]:
        dialect = self.dialects.get(version)
        return self.struct if dialect is None else dialect.struct

    def api_version_of(self, version: str) -> str:
        return f"{self.group}/{version}" if self.group else version
