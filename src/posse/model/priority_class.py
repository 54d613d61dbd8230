"""PriorityClass: a name for a priority, and whether its holders may preempt others."""

from typing import Annotated

from posse.model.constraints import Immutable, OneOf
from posse.model.meta import ApiObject, Int32
from posse.model.workload import PREEMPTION_POLICIES


class PriorityClass(ApiObject):
    """Maps a name to a priority; higher values are scheduled first."""

    value: Annotated[Int32, Immutable(text="may not be changed in an update.")] = 0
    global_default: bool = False
    description: str = ""
    preemption_policy: Annotated[str | None, OneOf(PREEMPTION_POLICIES), Immutable(shows_value=True)] = None
