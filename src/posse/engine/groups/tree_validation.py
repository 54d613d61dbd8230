"""Validation of a tree as a whole. The API server cannot check it: objects come one by one, in any order.

Whether modes contradict each other is read from the Workload's templates, as its author wrote them: in
groups the API server writes `single` as the default. A group has the policy of its template, perhaps with
another number.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from posse.engine.groups.part import Part, Root
from posse.engine.groups.priority_classes import PriorityClasses
from posse.engine.groups.reported_object import ReportedObject
from posse.engine.groups.tree import MAX_LEVELS
from posse.engine.invalid_groups import (
    CircularParents,
    ContradictingModes,
    NoSuchTemplate,
    OtherParent,
    OtherSetting,
    SeveralPriorities,
    SeveralPriorityClasses,
    SeveralWorkloads,
    TooDeep,
    TreeProblem,
    UnlikeWorkload,
)
from posse.engine.keys import GroupKey
from posse.model.meta import Shape
from posse.model.workload import (
    CompositePodGroupTemplate,
    PodGroupTemplate,
    Workload,
    WorkloadReference,
)

Template = CompositePodGroupTemplate | PodGroupTemplate


def violation(root: Root, workload: Workload | None, classes: PriorityClasses) -> TreeProblem | None:
    """The first violation of a tree.

    `workload` is the one that the root names, if it exists.
    """
    top = root.top
    if top is None:
        return _circle(root)
    return (
        _too_deep(top)
        or _several_workloads(root)
        or next((wrong for one in _joined(top) if (wrong := _several_priorities(one, classes))), None)
        or (_unlike_templates(top, workload) if workload is not None else None)
    )


def _circle(root: Root) -> CircularParents | None:
    """A violation if groups are each other's ancestors; nothing is known while the top does not exist."""
    parents = {record.key.name: record.parent_name for record in root.records if record.key.is_composite}
    if root.key.name not in parents:
        return None
    path, name = [root.key.name], parents[root.key.name]
    while name in parents and name not in path:
        path.append(name)
        name = parents[name]
    return CircularParents((path[0], *reversed(path)))


def _too_deep(top: Part) -> TooDeep | None:
    path = _longest_path(top)
    return TooDeep(MAX_LEVELS, tuple(path)) if len(path) > MAX_LEVELS else None


def _longest_path(part: Part) -> list[str]:
    below = [_longest_path(child) for child in part.children]
    return [part.key.name, *max(below, key=len, default=[])]


def _several_workloads(root: Root) -> SeveralWorkloads | None:
    named: dict[str, GroupKey] = {}
    for record in root.records:
        if record.workload_name:
            named.setdefault(record.workload_name, record.key)
    return SeveralWorkloads(tuple(named.items())) if len(named) > 1 else None


def _joined(part: Part) -> list[list[ReportedObject]]:
    """The groups of a tree that must have one priority; those of the part itself come first.

    A gang and its children start together. The children of a basic group do not, and may differ.
    """
    own, others = [part.record], list[list[ReportedObject]]()
    for child in part.children:
        joined, *apart = _joined(child)
        if part.record.is_gang:
            own += joined
        else:
            others.append(joined)
        others += apart
    return [own, *others]


def _several_priorities(
    records: Sequence[ReportedObject], classes: PriorityClasses
) -> SeveralPriorityClasses | SeveralPriorities | None:
    """One class for all, by name.

    Groups without a class, and those of the default class, are alike: which of the two a group is depends on
    when it was made. The root's priority counts for them.
    """
    described = [(record.key, record.obj.spec) for record in records if record.obj is not None]
    named: dict[str, tuple[str, GroupKey]] = {}
    for key, spec in described:
        name = spec.priority_class_name
        named.setdefault("" if classes.is_default(name) else name, (name, key))
    if len(named) > 1:
        return SeveralPriorityClasses(tuple(named.values()))
    if any(
        classes.is_default(spec.priority_class_name) and spec.priority_class_name for _, spec in described
    ):
        return None
    priorities: dict[int, GroupKey] = {}
    for key, spec in described:
        priorities.setdefault(spec.priority or 0, key)
    return SeveralPriorities(tuple(priorities.items())) if len(priorities) > 1 else None


@dataclass(frozen=True, slots=True)
class _Placed:
    """A template and the templates above it, from the top down."""

    template: Template
    above: tuple[CompositePodGroupTemplate, ...]

    @property
    def parent(self) -> str:
        return self.above[-1].name if self.above else ""


def _unlike_templates(top: Part, workload: Workload) -> UnlikeWorkload | None:
    templates = dict(_placed_templates(workload))
    found = (_unlike_template(part, parent, templates) for part, parent in _with_parents(top, None))
    problem = next((one for one in found if one is not None), None)
    return UnlikeWorkload(workload.metadata.name, problem) if problem is not None else None


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


def _with_parents(part: Part, parent: Part | None) -> Iterator[tuple[Part, Part | None]]:
    yield part, parent
    for child in part.children:
        yield from _with_parents(child, part)


def _unlike_template(
    part: Part, parent: Part | None, templates: Mapping[str, _Placed]
) -> NoSuchTemplate | OtherParent | OtherSetting | ContradictingModes | None:
    reference, is_composite = _reference(part.record), part.key.is_composite
    if reference is None:
        return None
    name = reference.template_name
    placed = templates.get(name)
    if placed is None or isinstance(placed.template, CompositePodGroupTemplate) != is_composite:
        return NoSuchTemplate(part.key, name)
    above = _reference(parent.record) if parent is not None else None
    expected = above.template_name if above is not None else ""
    if placed.parent != expected:
        return OtherParent(part.key, expected, name, placed.parent)
    return _unlike_settings(part, placed.template) or _contradicting_modes(placed)


def _unlike_settings(part: Part, template: Template) -> OtherSetting | None:
    """A group that was made by hand may say something else than the template that it names.

    A group with disruption mode single may have said nothing: that is the default.
    """
    spec = part.record.obj.spec if part.record.obj is not None else template
    own, stated = _choice(spec.scheduling_policy), _choice(template.scheduling_policy)
    what = "scheduling policy"
    if not own or not stated or own == stated:
        own, stated, what = (
            _choice(spec.disruption_mode),
            _choice(template.disruption_mode),
            "disruption mode",
        )
        if (own, stated) != ("all", "single"):
            return None
    return OtherSetting(part.key, what, own, template.name, stated)


def _choice(union: Shape | None) -> str:
    """The member of a union that is set; empty if none is."""
    names = union.__struct_fields__ if union is not None else ()
    return next((name for name in names if getattr(union, name) is not None), "")


def _contradicting_modes(placed: _Placed) -> ContradictingModes | None:
    """A group that can only be evicted as a whole has no part that can be evicted by itself."""
    mode = placed.template.disruption_mode
    if mode is None or mode.single is None:
        return None
    for above in placed.above:
        if above.disruption_mode is not None and above.disruption_mode.all is not None:
            return ContradictingModes(placed.template.name, above.name)
    return None


def _reference(record: ReportedObject) -> WorkloadReference | None:
    return record.obj.spec.workload_ref if record.obj is not None else None
