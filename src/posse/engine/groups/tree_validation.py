"""What is wrong with a tree as a whole. The API cannot tell: objects come one by one, and in any order.

Modes of disruption are looked at in the Workload's templates, which say what its author said. The groups themselves do not:
the API server writes `single` where nothing was said.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.tree import MOST_LEVELS, Branch, Part, Tree
from posse.model.workload import (
    CompositePodGroup,
    CompositePodGroupTemplate,
    PodGroup,
    PodGroupTemplate,
    Workload,
    WorkloadReference,
)

Template = CompositePodGroupTemplate | PodGroupTemplate


def violation(tree: Tree, workload: Workload | None) -> str:
    """The first thing that is wrong; empty if nothing is. `workload` is the one that the root names, if it exists."""
    if tree.top is None:
        return _circle(tree)
    found = (
        _too_deep(tree.top),
        _several_workloads(tree),
        _several_priorities(tree),
        _unlike_templates(tree.top, workload) if workload is not None else "",
    )
    return next((one for one in found if one), "")


def workload_of(tree: Tree) -> str:
    """The name of the Workload that the root comes from."""
    reference = tree.top.record.composite.spec.workload_ref if tree.top is not None else None
    return reference.workload_name if reference is not None else ""


def _circle(tree: Tree) -> str:
    """Without a top that exists nothing can be said; without any top, groups are each other's ancestors."""
    names = {record.key.name: record for record in tree.composites}
    if tree.key.name not in names:
        return ""
    path, name = [tree.key.name], names[tree.key.name].composite.spec.parent_composite_pod_group_name
    while name in names and name not in path:
        path.append(name)
        name = names[name].composite.spec.parent_composite_pod_group_name
    return f"composite pod groups are each other's ancestors: {' > '.join(reversed([*path, path[0]]))}"


def _too_deep(top: Branch) -> str:
    path = _longest_path(top)
    if len(path) <= MOST_LEVELS:
        return ""
    return f"the tree is more than {MOST_LEVELS} levels deep: {' > '.join(path)}"


def _longest_path(part: Part) -> list[str]:
    if not isinstance(part, Branch):
        return [part.key.name]
    below = [_longest_path(child) for child in part.children]
    return [part.key.name, *max(below, key=len, default=[])]


def _several_workloads(tree: Tree) -> str:
    named: dict[str, str] = {}
    for obj in _objects(tree):
        if obj.spec.workload_ref is not None:
            named.setdefault(obj.spec.workload_ref.workload_name, _title(obj))
    if len(named) <= 1:
        return ""
    listed = ", ".join(f"{workload} ({who})" for workload, who in named.items())
    return f"all groups of a tree come from one Workload, but these name {len(named)}: {listed}"


def _several_priorities(tree: Tree) -> str:
    priorities: dict[int, str] = {}
    for obj in _objects(tree):
        priorities.setdefault(obj.spec.priority or 0, _title(obj))
    if len(priorities) <= 1:
        return ""
    listed = ", ".join(f"{priority} ({who})" for priority, who in priorities.items())
    return f"all groups of a tree should have the same priority, got {listed}"


def _objects(tree: Tree) -> Iterator[CompositePodGroup | PodGroup]:
    yield from (record.composite for record in tree.composites)
    yield from (leaf.podgroup for leaf in tree.leaves if leaf.podgroup is not None)


def _title(obj: CompositePodGroup | PodGroup) -> str:
    kind = "CompositePodGroup" if isinstance(obj, CompositePodGroup) else "PodGroup"
    return f"{kind} {obj.metadata.name}"


@dataclass(frozen=True, slots=True)
class _Placed:
    """A template and the templates above it, from the top down."""

    template: Template
    above: tuple[CompositePodGroupTemplate, ...]

    @property
    def parent(self) -> str:
        return self.above[-1].name if self.above else ""


def _unlike_templates(top: Branch, workload: Workload) -> str:
    templates = dict(_placed_templates(workload))
    found = (_unlike_template(part, parent, templates) for part, parent in _with_parents(top, None))
    problem = next((one for one in found if one), "")
    return f"{problem} in Workload {workload.metadata.name}" if problem else ""


def _placed_templates(workload: Workload) -> Iterator[tuple[str, _Placed]]:
    for template in workload.spec.pod_group_templates:
        yield template.name, _Placed(template, ())
    for composite in workload.spec.composite_pod_group_templates:
        yield from _below(composite, ())


def _below(
    template: CompositePodGroupTemplate, above: tuple[CompositePodGroupTemplate, ...]
) -> Iterator[tuple[str, _Placed]]:
    yield template.name, _Placed(template, above)
    for leaf in template.pod_group_templates:
        yield leaf.name, _Placed(leaf, (*above, template))
    for composite in template.composite_pod_group_templates:
        yield from _below(composite, (*above, template))


def _with_parents(part: Part, parent: Branch | None) -> Iterator[tuple[Part, Branch | None]]:
    yield part, parent
    if isinstance(part, Branch):
        for child in part.children:
            yield from _with_parents(child, part)


def _unlike_template(part: Part, parent: Branch | None, templates: Mapping[str, _Placed]) -> str:
    reference = _reference(part)
    if reference is None:
        return ""
    who, name = _name(part), reference.template_name
    placed = templates.get(name)
    if placed is None or isinstance(placed.template, CompositePodGroupTemplate) != isinstance(part, Branch):
        kind = "composite pod group" if isinstance(part, Branch) else "pod group"
        return f"{who} names template {name!r}, and there is no {kind} template of that name"
    above = _reference(parent) if parent is not None else None
    expected = above.template_name if above is not None else ""
    if placed.parent != expected:
        return f"{who} hangs {_place(expected)}, and its template {name!r} {_place(placed.parent)}"
    return _contradicting_modes(placed)


def _place(parent: str) -> str:
    return f"below {parent!r}" if parent else "at the top"


def _contradicting_modes(placed: _Placed) -> str:
    """A group that can only be evicted as a whole has no part that can be evicted by itself."""
    mode = placed.template.disruption_mode
    if mode is None or mode.single is None:
        return ""
    for above in placed.above:
        if above.disruption_mode is not None and above.disruption_mode.all is not None:
            return (
                f"template {placed.template.name!r} has disruption mode single "
                f"below {above.name!r}, which has all,"
            )
    return ""


def _reference(part: Part) -> WorkloadReference | None:
    if isinstance(part, Branch):
        return part.record.composite.spec.workload_ref
    return part.podgroup.spec.workload_ref if part.podgroup is not None else None


def _name(part: Branch | GroupRecord) -> str:
    return f"{'CompositePodGroup' if isinstance(part, Branch) else 'PodGroup'} {part.key.name}"
