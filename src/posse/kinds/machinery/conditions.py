"""The rules for the conditions of pods and nodes. Those of other kinds follow from their declaration in
meta.py.
"""

from collections.abc import Sequence

import msgspec

from posse.kinds.machinery.checks import required
from posse.kinds.machinery.errors import FieldError
from posse.model.formats import label_key
from posse.model.meta import CONDITION_STATUSES
from posse.model.node import NodeCondition
from posse.model.pod import PodCondition


def core_conditions_errors(
    field: str,
    new: Sequence[PodCondition | NodeCondition],
    old: Sequence[PodCondition | NodeCondition] = (),
) -> list[FieldError]:
    """Judge conditions of a pod or node, which need no reason and no time; those it had before may stay."""
    errors = []
    # As text, which can be looked up: an author may write tens of thousands.
    kept = {msgspec.json.encode(condition) for condition in old}
    for index, condition in enumerate(new):
        if msgspec.json.encode(condition) not in kept:
            errors += required(f"{field}[{index}].type", condition.type, label_key)
            errors += _status_errors(f"{field}[{index}].status", condition.status)
    return errors


def _status_errors(path: str, status: str) -> list[FieldError]:
    return (
        [] if status in CONDITION_STATUSES else [FieldError.not_supported(path, status, CONDITION_STATUSES)]
    )
