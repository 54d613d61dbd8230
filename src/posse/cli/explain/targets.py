"""The groups or the pod that a user names, as in podgroup/trainer, workload/job-1, job/train or pod/web."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from posse.cli.problems import Misuse, Problem
from posse.cli.reading.cluster_reader import Survey
from posse.cli.reading.owners import CONTROLLERS
from posse.cli.resources import kind_named
from posse.engine.groups.forms import FORMS, NATIVE, form_of
from posse.engine.keys import GroupKey
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import COMPOSITE_POD_GROUP, POD, POD_GROUP, WORKLOAD
from posse.writes.group_status import forms_of, object_kind

MAX_LISTED = 10
_SIMILAR = 0.8
"""How similar two names are, from 0 to 1, if one is probably a misspelling of the other."""
_MIN_LETTERS = 3
"""Shorter names are close to nearly all others of their length."""
ANY_POD_GROUP = frozenset({"podgroup", "podgroups", "pg"})
ANY_COMPOSITE = frozenset({"compositepodgroup", "compositepodgroups", "cpg"})
EXPLAINED = (
    "podgroup/NAME, pod/NAME, workload/NAME, compositepodgroup/NAME, "
    "job/NAME, jobset/NAME, lws/NAME, statefulset/NAME or deployment/NAME"
)


@dataclass(frozen=True, slots=True)
class Target:
    """Kind and name of an object.

    `forms` are the forms of groups that it may name; a pod and a controller have none.
    """

    kind: Kind
    name: str
    forms: tuple[str, ...]


def parse_target(text: str, name: str = "") -> Target:
    kind_text, slash, rest = text.partition("/")
    if slash and name:
        raise Misuse(f'"{text}" has a name already; "{name}" is a second one')
    if not kind_text or not (rest or name):
        raise Misuse(f"{text!r} is not the name of an object, as in {EXPLAINED}")
    name = rest or name
    if kind_text.lower() in ANY_POD_GROUP:
        return Target(POD_GROUP, name, tuple(form.name for form in FORMS if not form.is_implied))
    if kind_text.lower() in ANY_COMPOSITE:
        return Target(COMPOSITE_POD_GROUP, name, tuple(form.name for form in FORMS if form.has_composites))
    kind = _CONTROLLER_BY_NAME.get(kind_text.lower()) or kind_named(kind_text)
    if kind in CONTROLLERS:
        return Target(kind, name, ())
    forms = forms_of(kind)
    if kind is not POD and not forms:
        raise Misuse(f"{kind.plural} cannot be explained; try {EXPLAINED}")
    return Target(kind, name, forms)


def groups_meant(survey: Survey, target: Target, namespace: str) -> list[GroupKey]:
    """One group, or all groups of a Workload."""
    found = list(_matching(survey, target, namespace))
    if target.kind is WORKLOAD and found:
        return found
    if len(found) > 1:
        choices = " or ".join(typed(key) for key in found)
        what = f'{target.kind.name}s "{target.name}"'
        raise Problem(f"there are several {what} in {namespace}: use {choices}")
    if not found:
        raise Problem(_nothing(survey, target, namespace))
    return found


def typed(key: GroupKey) -> str:
    """The argument that names this group and no other."""
    if form_of(key).is_implied:
        return f"workload/{short_name(key)}"
    kind = object_kind(key)
    return f"{kind.singular}.{kind.group}/{key.name}"


def short_name(key: GroupKey) -> str:
    """Name of the group within its namespace."""
    return "/".join(filter(None, (key.name, key.pod_group, key.replica_key)))


def listing(names: Sequence[str], wanted: str = "") -> str:
    """What there is instead; the name that was probably meant, if one is close."""
    if not names:
        return "there are none"
    if close := closest(wanted, names):
        return f'did you mean "{close}"?'
    rest = len(names) - MAX_LISTED
    return f"there are {', '.join(names[:MAX_LISTED])}" + (f" and {rest} more" if rest > 0 else "")


def closest(wanted: str, names: Iterable[str]) -> str:
    """The name that differs from the wanted one by a slip of the fingers; empty if there is none."""
    found = list(names)
    slips = [name for name in found if _is_one_slip(wanted, name)]
    return next(iter([*slips, *difflib.get_close_matches(wanted, found, 1, cutoff=_SIMILAR)]), "")


def _is_one_slip(wanted: str, name: str) -> bool:
    """Whether one letter is wrong, missing or too many, or two neighbours are swapped."""
    short, long = sorted((wanted, name), key=len)
    start = _shared(short, long)
    end = _shared(short[start:][::-1], long[start:][::-1])
    differing = long[start : len(long) - end]
    is_swapped = len(differing) == len("ab") and differing == short[start : len(short) - end][::-1]
    return len(short) >= _MIN_LETTERS and (len(differing) <= 1 or is_swapped)


def _shared(one: str, other: str) -> int:
    """How many letters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (left, right) in pairs if left != right), min(len(one), len(other)))


def group_probably_meant(survey: Survey, key: GroupKey) -> str:
    """The name of an existing group in the namespace that differs from that of a missing one by a slip."""
    if survey.object_of(key) is not None:
        return ""
    others = (one for one in survey.group_keys() if one.namespace == key.namespace and one.form == key.form)
    return closest(key.name, dict.fromkeys(one.name for one in others if survey.object_of(one) is not None))


def _matching(survey: Survey, target: Target, namespace: str) -> Iterator[GroupKey]:
    for key in survey.group_keys():
        if key.namespace == namespace and (
            _is_meant(key, target) or (target.kind is WORKLOAD and _workload_name(survey, key) == target.name)
        ):
            yield key


def _is_meant(key: GroupKey, target: Target) -> bool:
    if key.form not in target.forms or key.is_composite != (target.kind.name == COMPOSITE_POD_GROUP.name):
        return False
    return target.name == key.name or target.name == short_name(key)


def _workload_name(survey: Survey, key: GroupKey) -> str:
    """The Workload that the group was made from; empty if none."""
    obj = survey.object_of(key) if key.form == NATIVE.name else None
    reference = ((obj or {}).get("spec") or {}).get("workloadRef") or {}
    return str(reference.get("workloadName") or "")


def _unnamed(workload: dict[str, Any], name: str, namespace: str) -> str:
    """Message for a Workload that lacks the group asked for."""
    own_name, _, group = name.partition("/")
    if not group:
        return f'no pod and no PodGroup names Workload "{name}" in {namespace} yet, so it has no groups'
    templates = (workload.get("spec") or {}).get("podGroupTemplates") or []
    names = [str(template.get("name")) for template in templates]
    if group.partition("/")[0] in names:
        return f'no pod names "{group}" of Workload "{own_name}" in {namespace} yet'
    return f'Workload "{own_name}" in {namespace} has no group "{group}"; {listing(names, group)}'


def _nothing(survey: Survey, target: Target, namespace: str) -> str:
    workload = survey.find(WORKLOAD, namespace, target.name.partition("/")[0])
    if target.kind is WORKLOAD and workload is not None:
        return _unnamed(workload, target.name, namespace)
    is_composite = target.kind.name == COMPOSITE_POD_GROUP.name
    keys = [
        key for key in survey.group_keys() if key.form in target.forms and key.is_composite == is_composite
    ]
    elsewhere = dict.fromkeys(key.namespace for key in keys if _is_meant(key, target))
    what = f'there is no {target.kind.name} "{target.name}" in namespace {namespace}'
    if elsewhere:
        return f"{what}; there is one in {', '.join(elsewhere)} (use -n)"
    here = dict.fromkeys(short_name(key) for key in keys if key.namespace == namespace)
    return f"{what}; {listing(list(here), target.name)}"


_CONTROLLER_BY_NAME = {
    name: kind
    for kind in CONTROLLERS
    for name in (kind.singular, kind.plural, kind.group_resource, kind.group_kind.lower(), *kind.short_names)
}
