"""Sentences about annotations that are not used."""

from collections.abc import Sequence

from posse.engine.groups.annotations import (
    MAX_PREFERRED_LEVELS,
    MAX_SHOWN,
    AnnotationFault,
    AnnotationProblem,
)

_MAX_TOLD = 3
_PREDICATES = {
    AnnotationProblem.NO_DURATION: "is not a duration such as 90m or 1h30m",
    AnnotationProblem.OUT_OF_RANGE: "is not between 1ns and ten years",
    AnnotationProblem.NO_LABEL: "has an empty place where a label is expected",
    AnnotationProblem.INVALID_LABEL: "is not the key of a label, such as topology.kubernetes.io/zone",
    AnnotationProblem.TOO_MANY_LABELS: f"comes after the first {MAX_PREFERRED_LEVELS} labels, which count",
    AnnotationProblem.UNKNOWN_LABEL: "is a label that no node has, so it has no effect",
    AnnotationProblem.COMPOSITE: "is on a CompositePodGroup; write it to the PodGroups below it",
}


def annotation_text(fault: AnnotationFault) -> str:
    return f"annotation {fault.annotation}: {value_text(fault)}"


def value_text(fault: AnnotationFault) -> str:
    """What is wrong, without the place where it is stated."""
    return f"{_quoted(fault.text)} {_PREDICATES[fault.problem]}"


def annotations_text(faults: Sequence[AnnotationFault]) -> str:
    """The first of them: an event has little room."""
    rest = [f"{len(faults) - _MAX_TOLD} more"] if len(faults) > _MAX_TOLD else []
    return "; ".join([*map(annotation_text, faults[:_MAX_TOLD]), *rest])


def _quoted(text: str) -> str:
    """Bounded, also where characters are shown by their number."""
    shown = repr(text[:MAX_SHOWN])
    quote, inner = shown[0], shown[1:-1]
    is_whole = len(text) <= MAX_SHOWN and len(inner) <= MAX_SHOWN
    return shown if is_whole else f"{quote}{inner[:MAX_SHOWN]}{quote}..."
