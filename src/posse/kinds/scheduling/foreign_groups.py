"""Rules for the PodGroups of other projects: coscheduling and Volcano. They may be changed at any time.

Fields that Posse does not act on are kept as they are; what they mean to their own scheduler is not checked.
"""

from posse.kinds.columns import AGE, NAME, value_at
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import fill, fill_text, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model import coscheduling, volcano

DEFAULT_QUEUE = "default"


def begin_pending(obj: Json) -> None:
    """A group is born waiting, whatever its maker says of its status."""
    obj["status"] = {"phase": "Pending"}


def _fill_minimum(obj: Json) -> None:
    fill(section(obj, "spec"), "minMember", 1)


def _fill_minimum_and_queue(obj: Json) -> None:
    _fill_minimum(obj)
    fill_text(section(obj, "spec"), "queue", DEFAULT_QUEUE)


Group = coscheduling.CoschedulingPodGroup | volcano.VolcanoPodGroup


def validate(group: Group) -> list[FieldError]:
    return metadata_errors(group.metadata, namespaced=True) + declared_errors("spec", group.spec)


def validate_update(new: Group, old: Group) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    return errors if new.spec == old.spec else errors + declared_errors("spec", new.spec)


COSCHEDULING_RULES = KindRules(
    default=_fill_minimum,
    prepare_create=begin_pending,
    validate=validate,
    validate_update=validate_update,
    allow_unconditional_update=False,
)
VOLCANO_RULES = KindRules(
    default=_fill_minimum_and_queue,
    prepare_create=begin_pending,
    validate=validate,
    validate_update=validate_update,
    allow_unconditional_update=False,
)


_PHASE = value_at("status", "phase", absent="")

_MIN_MEMBER = PrintedColumn(
    "MinMember", "integer", "Pods that start together.", 0, value_at("spec", "minMember", absent=0)
)

COSCHEDULING_POD_GROUP_COLUMNS = (
    NAME,
    PrintedColumn("Phase", "string", "How far the group has come.", 0, _PHASE),
    _MIN_MEMBER,
    PrintedColumn("Running", "integer", "Pods that run.", 0, value_at("status", "running", absent=0)),
    PrintedColumn(
        "Succeeded", "integer", "Pods that have succeeded.", 0, value_at("status", "succeeded", absent=0)
    ),
    PrintedColumn("Failed", "integer", "Pods that have failed.", 0, value_at("status", "failed", absent=0)),
    AGE,
)

VOLCANO_POD_GROUP_COLUMNS = (
    NAME,
    PrintedColumn("Status", "string", "How far the group has come.", 0, _PHASE),
    _MIN_MEMBER,
    PrintedColumn("Runnings", "integer", "Pods that run.", 0, value_at("status", "running", absent=0)),
    AGE,
    PrintedColumn("Queue", "string", "Queue of Volcano.", 1, value_at("spec", "queue", absent="")),
)

COSCHEDULING_POD_GROUP = Kind(
    name="PodGroup",
    plural="podgroups",
    group="scheduling.x-k8s.io",
    versions=("v1alpha1",),
    struct=coscheduling.CoschedulingPodGroup,
    rules=COSCHEDULING_RULES,
    columns=COSCHEDULING_POD_GROUP_COLUMNS,
    short_names=("pg", "pgs"),
    has_status=True,
)

VOLCANO_POD_GROUP = Kind(
    name="PodGroup",
    plural="podgroups",
    group="scheduling.volcano.sh",
    versions=("v1beta1",),
    struct=volcano.VolcanoPodGroup,
    rules=VOLCANO_RULES,
    columns=VOLCANO_POD_GROUP_COLUMNS,
    short_names=("pg", "podgroup-v1beta1"),
    has_status=True,
)
