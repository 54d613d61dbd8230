"""What a group prefers by its annotations, as far as it is in force, in words."""

from posse.engine.explain.group_status import GroupStatus
from posse.engine.groups.group_record import MAX_PROTECTED_SECONDS
from posse.engine.reporting.messages import time_of_day
from posse.kinds.machinery.durations import human_duration


def preference_facts(now: GroupStatus) -> list[tuple[str, str]]:
    """Nothing where nothing is preferred."""
    facts = []
    if now.preferred_topology:
        facts.append(("preferred topology", _levels(now.preferred_topology)))
    if now.minimum_run_seconds:
        facts.append(("minimum run time", f"{_length(now.minimum_run_seconds)}{_protection(now)}"))
    return facts


def preferred_cell(preferred: tuple[str, ...]) -> str:
    """For a table: labels without their domains."""
    return ",".join(key.rpartition("/")[2] for key in preferred) or "-"


def protected_cell(protected_until: str) -> str:
    return f"until {protected_until.partition('T')[2]}" if protected_until else "-"


def _levels(preferred: tuple[str, ...]) -> str:
    """The narrowest is preferred most."""
    return ", else ".join(f"one {key}" for key in reversed(preferred))


def _length(seconds: float) -> str:
    length = human_duration(seconds)
    return f"{length} (the most that counts)" if seconds >= MAX_PROTECTED_SECONDS else length


def _protection(now: GroupStatus) -> str:
    if now.protected_until:
        return f", protected until {time_of_day(now.protected_until)}"
    return ", now over: it may be preempted" if now.counts.on_nodes else " from its start"
