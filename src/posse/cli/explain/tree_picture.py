"""A tree of groups as text: one line per group, indented by depth, with its minimum and what it has."""

from collections.abc import Sequence

from posse.cli.explain.group_words import groups, pods, shown_state
from posse.cli.reading.ended_members import Fates
from posse.cli.tables import aligned
from posse.engine.explain.group_status import GroupStatus
from posse.engine.keys import GroupKey

INDENT = "  "


def tree_lines(tree: Sequence[GroupStatus], asked_for: GroupKey) -> list[str]:
    """One line per group; the group that was asked for is marked."""
    return aligned([_row(one, is_marked=one.key == asked_for and one.depth > 0) for one in tree])


def _row(now: GroupStatus, *, is_marked: bool) -> tuple[str, ...]:
    name = f"{INDENT * now.depth}{now.key.name}{' <' if is_marked else ''}"
    return name, _needs(now), _there(now), shown_state(now, Fates())


def _needs(now: GroupStatus) -> str:
    total = now.groups.children if now.groups is not None else now.counts.members
    counted = groups if now.groups is not None else pods
    if now.policy != "Gang":
        return f"{counted(total)}, any"
    if total < now.minimum:
        return f"{counted(now.minimum)} together, {total or 'none'} there"
    return f"{now.minimum} of {counted(total)} together"


def _there(now: GroupStatus) -> str:
    there = now.groups.started if now.groups is not None else now.counts.on_nodes
    more = max(sum(number for _, number in now.placement) if now.groups is None else 0, now.fits - there)
    word = "started" if now.groups is not None else "on nodes"
    return f"{there} {word}" + (f", {more} would fit" if more > 0 else "")
