"""What changed in the cluster since the last look, as lines for a log: one per group whose state is another."""

from collections.abc import Mapping

from posse.engine.overview import GroupSummary
from posse.runtime.overview import ClusterOverview


def group_states(overview: ClusterOverview) -> dict[str, str]:
    return {str(group.key): described(group) for group in overview.scheduling.groups}


def progress_lines(before: Mapping[str, str], overview: ClusterOverview) -> list[str]:
    now = group_states(overview)
    changed = [f"podgroup {key}: {text}" for key, text in now.items() if before.get(key) != text]
    gone = [f"podgroup {key}: gone" for key in before if key not in now]
    return changed + gone


def described(group: GroupSummary) -> str:
    counts = f"{group.attached} of {group.members} pods have a node, {group.minimum} needed"
    return f"{group.state} ({counts})" + (f": {group.message}" if group.message else "")
