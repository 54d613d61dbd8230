"""What feature gates take away at the API: kinds that are not served, fields that are dropped from what
clients send.

What is stored already stays, and so does a field that the stored object uses: a gate that is switched off
loses nothing. Only the API of Kubernetes is gated; kinds that a real cluster gets from CRDs are served as
they are.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import fields

from posse.kinds.machinery.filling import entries
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import COMPOSITE_POD_GROUP, JOB, KINDS, POD, POD_GROUP, WORKLOAD
from posse.model.feature_gates import Gate, Gates
from posse.model.workload import GATED_GROUP_FIELDS, PodGroupSpec

GATED_KINDS: Mapping[Kind, Gate] = {
    WORKLOAD: Gate.GENERIC_WORKLOAD,
    POD_GROUP: Gate.GENERIC_WORKLOAD,
    COMPOSITE_POD_GROUP: Gate.COMPOSITE_POD_GROUP,
}
_GatedFields = Mapping[str, tuple[Gate, ...]]
"""The gates that must all be on, by field."""

_OF_PODS: _GatedFields = {
    "schedulingGroup": (Gate.GENERIC_WORKLOAD,),
    "workloadRef": (Gate.GENERIC_WORKLOAD,),
}
_OF_GROUPS: _GatedFields = {
    **{
        field.encode_name: GATED_GROUP_FIELDS[field.name]
        for field in fields(PodGroupSpec)
        if field.name in GATED_GROUP_FIELDS
    },
    "compositePodGroupTemplates": (Gate.COMPOSITE_POD_GROUP,),
    "desiredCount": (Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT,),
}
GATED_FIELDS: Mapping[Kind, _GatedFields] = {
    POD: _OF_PODS,
    JOB: {"scheduling": (Gate.WORKLOAD_WITH_JOB,)},
    WORKLOAD: _OF_GROUPS,
    POD_GROUP: _OF_GROUPS,
    COMPOSITE_POD_GROUP: _OF_GROUPS,
}


def served_kinds(gates: Gates) -> tuple[Kind, ...]:
    return tuple(kind for kind in KINDS if kind not in GATED_KINDS or GATED_KINDS[kind] in gates)


def drop_disabled_fields(kind: Kind, new: Json, old: Json | None, gates: Gates) -> None:
    """Take out of `new`, in storage form, what gates forbid to begin using; `old` is what it replaces."""
    for field, needed in GATED_FIELDS.get(kind, {}).items():
        if not gates.issuperset(needed) and not (old is not None and _uses(old, field)):
            for part in _parts(new.get("spec", {})):
                part.pop(field, None)


def _uses(obj: Json, field: str) -> bool:
    return any(field in part for part in _parts(obj.get("spec", {})))


def _parts(spec: Json) -> Iterator[Json]:
    """Wherever a gated field may stand: a spec or template, its policy, and the templates in it."""
    yield spec
    yield spec.get("schedulingPolicy", {}).get("basic", {})
    for name in ("podGroupTemplates", "compositePodGroupTemplates"):
        for template in entries(spec, name):
            yield from _parts(template)
