"""Finds the kind that a user names, as in pods, po, PodGroup or podgroups.scheduling.k8s.io."""

from posse.cli.problems import Problem
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import KINDS


def kind_named(text: str) -> Kind:
    kind = _KIND_BY_NAME.get(text.lower())
    if kind is None:
        known = ", ".join(resource_names())
        raise Problem(f'Posse knows no resource "{text}"; try one of {known}, or kubectl for others')
    return kind


def resource_names() -> list[str]:
    return sorted({kind.plural for kind in KINDS})


def _names_of(kind: Kind) -> set[str]:
    return {kind.plural, kind.singular, kind.group_resource, kind.group_kind.lower(), *kind.short_names}


# Earlier kinds win: `events` means the core ones, not their second form in events.k8s.io.
_KIND_BY_NAME = {name: kind for kind in reversed(KINDS) for name in _names_of(kind)}
