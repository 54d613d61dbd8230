"""PriorityClass: a name for a priority, and whether its holders may preempt others."""

from posse.model.meta import Int32, ObjectMeta, Shape


class PriorityClass(Shape):
    """Maps a name to a priority; higher values are scheduled first."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    value: Int32 = 0
    global_default: bool = False
    description: str = ""
    preemption_policy: str | None = None
