"""PriorityClass: a name for a priority, and whether its holders may preempt others."""

from posse.model.meta import ApiObject, Int32


class PriorityClass(ApiObject):
    """Maps a name to a priority; higher values are scheduled first."""

    value: Int32 = 0
    global_default: bool = False
    description: str = ""
    preemption_policy: str | None = None
