"""What may still be changed in the spec of a pod: very little, and where it may go only while it is gated."""

from collections.abc import Sequence

import msgspec

from posse.kinds.machinery.errors import FieldError
from posse.model.container import Container
from posse.model.placement import Affinity, NodeAffinity, NodeSelectorTerm, Toleration
from posse.model.pod import PodSpec

CHANGEABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
NODE_AFFINITY = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"


def pod_spec_update_errors(new: PodSpec, old: PodSpec) -> list[FieldError]:
    errors = [
        *_deadline_errors(new.active_deadline_seconds, old.active_deadline_seconds),
        *_toleration_errors(new.tolerations, old.tolerations),
        *_gate_errors(new, old),
    ]
    if old.scheduling_gates:
        errors += _narrowing_errors(new, old)
    changed = _changed_fields(_with_allowed_changes(new, old), old)
    if changed:
        text = f"pod updates may not change fields other than {CHANGEABLE}; changed: {', '.join(changed)}"
        errors.append(FieldError.forbidden("spec", text))
    return errors


def _with_allowed_changes(new: PodSpec, old: PodSpec) -> PodSpec:
    """The new spec with everything put back that may be changed, or whose change is judged by itself."""
    spec = msgspec.structs.replace(
        new,
        containers=_with_old_images(new.containers, old.containers),
        init_containers=_with_old_images(new.init_containers, old.init_containers),
        active_deadline_seconds=old.active_deadline_seconds,
        tolerations=old.tolerations,
        scheduling_gates=old.scheduling_gates,
    )
    grace = old.termination_grace_period_seconds
    if grace is not None and grace < 0 and new.termination_grace_period_seconds == 1:
        spec = msgspec.structs.replace(spec, termination_grace_period_seconds=grace)
    if old.scheduling_gates:
        affinity = _with_old_node_affinity(new.affinity, old.affinity)
        spec = msgspec.structs.replace(spec, node_selector=old.node_selector, affinity=affinity)
    return spec


def _with_old_images(new: Sequence[Container], old: Sequence[Container]) -> tuple[Container, ...]:
    if len(new) != len(old):
        return tuple(new)
    return tuple(
        msgspec.structs.replace(container, image=before.image)
        for container, before in zip(new, old, strict=True)
    )


def _with_old_node_affinity(new: Affinity | None, old: Affinity | None) -> Affinity | None:
    before = old or Affinity()
    affinity = msgspec.structs.replace(new or Affinity(), node_affinity=before.node_affinity)
    return old if affinity == before else affinity


def _changed_fields(new: PodSpec, old: PodSpec) -> list[str]:
    return [
        f"spec.{json_name}"
        for name, json_name in zip(new.__struct_fields__, new.__struct_encode_fields__, strict=True)
        if getattr(new, name) != getattr(old, name)
    ]


def _deadline_errors(new: int | None, old: int | None) -> list[FieldError]:
    field = "spec.activeDeadlineSeconds"
    if old is None or new == old:
        return []
    if new is None:
        return [FieldError.invalid(field, None, "must not update from a positive integer to nil value")]
    if new > old:
        return [FieldError.invalid(field, new, "must be less than or equal to previous value")]
    return []


def _toleration_errors(new: Sequence[Toleration], old: Sequence[Toleration]) -> list[FieldError]:
    kept = {msgspec.structs.replace(toleration, toleration_seconds=None) for toleration in new}
    if all(msgspec.structs.replace(toleration, toleration_seconds=None) in kept for toleration in old):
        return []
    text = "existing toleration can not be modified except its tolerationSeconds"
    return [FieldError.forbidden("spec.tolerations", text)]


def _gate_errors(new: PodSpec, old: PodSpec) -> list[FieldError]:
    before = {gate.name for gate in old.scheduling_gates}
    return [
        FieldError.forbidden(
            f"spec.schedulingGates[{index}]",
            f"only deletion is allowed, but found new scheduling gate '{gate.name}'",
        )
        for index, gate in enumerate(new.scheduling_gates)
        if gate.name not in before
    ]


def _narrowing_errors(new: PodSpec, old: PodSpec) -> list[FieldError]:
    """A gated pod may be sent to fewer nodes than before, never to others."""
    errors = []
    if any(new.node_selector.get(key) != value for key, value in old.node_selector.items()):
        text = "only additions are allowed to spec.nodeSelector (no mutations or deletions)"
        errors.append(FieldError.invalid("spec.nodeSelector", new.node_selector, text))
    terms = _required_terms(old.affinity)
    return errors if terms is None else errors + _term_errors(_required_terms(new.affinity) or (), terms)


def _required_terms(affinity: Affinity | None) -> Sequence[NodeSelectorTerm] | None:
    node_affinity = (affinity and affinity.node_affinity) or NodeAffinity()
    required = node_affinity.required_during_scheduling_ignored_during_execution
    return None if required is None else required.node_selector_terms


def _term_errors(new: Sequence[NodeSelectorTerm], old: Sequence[NodeSelectorTerm]) -> list[FieldError]:
    field = f"{NODE_AFFINITY}.nodeSelectorTerms"
    if len(new) != len(old):
        text = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [FieldError.invalid(field, new, text)]
    return [
        FieldError.invalid(
            f"{field}[{index}]", term, "only additions are allowed (no mutations or deletions)"
        )
        for index, (term, before) in enumerate(zip(new, old, strict=True))
        if not _adds_to(term, before)
    ]


def _adds_to(new: NodeSelectorTerm, old: NodeSelectorTerm) -> bool:
    return (
        new.match_expressions[: len(old.match_expressions)] == old.match_expressions
        and new.match_fields[: len(old.match_fields)] == old.match_fields
    )
