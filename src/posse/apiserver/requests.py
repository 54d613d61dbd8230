"""What a caller can ask of the API service and what it gets back, as plain values.

Knows nothing of HTTP: query parameters and bodies are read into these by the HTTP layer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from posse.store.objects import Stored

FieldValidation = Literal["Ignore", "Warn", "Strict"]


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How a create, update or patch is to be carried out. Fields are owned only where there is a manager.

    `warnings` collects what the caller should be told, `repeated` names the fields that the body has twice.
    """

    dry_run: bool = False
    field_validation: FieldValidation = "Warn"
    field_manager: str = ""
    force: bool = False
    warnings: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Preconditions are empty when not given. `propagation` is "", Orphan, Background or Foreground."""

    grace_seconds: int | None = None
    uid: str = ""
    resource_version: str = ""
    propagation: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects of a kind are meant. `labels` and `fields` are selectors as written in a query."""

    labels: str = ""
    fields: str = ""
    limit: int = 0
    continue_token: str = ""
    resource_version: str = ""
    resource_version_match: str = ""


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of objects. `remaining` counts what is left after this page when that is known cheaply."""

    stored: Sequence[Stored]
    resource_version: str
    continue_token: str = ""
    remaining: int | None = None

    @property
    def items(self) -> list[dict[str, Any]]:
        return [stored.obj for stored in self.stored]
