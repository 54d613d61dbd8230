"""Changes since the last look as lines of a log: one per group whose state changed."""

from collections.abc import Mapping

from posse.engine.explain.overview import GroupSummary, Overview


def group_states(overview: Overview) -> dict[str, str]:
    return {str(group.key): described(group) for group in overview.groups}


def progress_lines(before: Mapping[str, str], overview: Overview) -> list[str]:
    now = group_states(overview)
    changed = [f"podgroup {key}: {text}" for key, text in now.items() if before.get(key) != text]
    gone = [f"podgroup {key}: gone" for key in before if key not in now]
    return changed + gone


def described(group: GroupSummary) -> str:
    counts = f"{group.attached} of {group.members} pods have a node, {group.minimum} needed"
    return f"{group.state} ({counts})" + (f": {group.message}" if group.message else "")
