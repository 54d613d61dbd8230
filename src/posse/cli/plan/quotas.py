"""Which new objects the quotas of their namespaces refuse, as an API server does at their creation."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from posse.apiserver.quota_ledger import QuotaLedger
from posse.cli.reading.owners import readable
from posse.cli.reading.sources import ClusterSource
from posse.kinds.machinery.errors import ApiError
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import RESOURCE_QUOTA

Json = dict[str, Any]


class RefusedObject(msgspec.Struct, frozen=True, rename="camel"):
    """What would not be created."""

    kind: str
    namespace: str
    name: str
    why: str


def within_quotas(
    objects: Sequence[tuple[Kind, Json]], source: ClusterSource
) -> tuple[list[tuple[Kind, Json]], list[RefusedObject]]:
    """What is created of the objects, in their order, and what is refused.

    Only objects of the same kinds are counted: no other kind takes of what bounds them. Quotas that the user
    may not list refuse nothing, with a warning.
    """
    if not any(readable(source, RESOURCE_QUOTA, None)):
        return list(objects), []
    counted = {kind for kind, _ in objects} | {RESOURCE_QUOTA}

    def listed(kind: Kind, namespace: str | None) -> Iterable[Json]:
        return readable(source, kind, namespace) if kind in counted else ()

    ledger = QuotaLedger(listed)
    created: list[tuple[Kind, Json]] = []
    refused: list[RefusedObject] = []
    for kind, obj in objects:
        try:
            ledger.check(kind, obj)
        except ApiError as error:
            metadata = obj["metadata"]
            refused.append(RefusedObject(kind.name, metadata["namespace"], metadata["name"], str(error)))
            continue
        ledger.move(kind, None, obj)
        created.append((kind, obj))
    return created, refused


def refusal_lines(refused: Sequence[RefusedObject]) -> list[str]:
    """The first of each kind, and how many more."""
    lines: list[str] = []
    for kind in dict.fromkeys(one.kind for one in refused):
        first, *others = (one for one in refused if one.kind == kind)
        more = f" (and {len(others)} more)" if others else ""
        lines.append(f"would not be created: {kind} {first.namespace}/{first.name}{more}: {first.why}")
    return lines
