"""What a group states by annotations of Posse, and what is wrong with it.

Any tenant can write them: what makes no sense is not used, and is told with a bounded part of its text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from posse.model.durations import parse_duration
from posse.model.formats import LABEL_LENGTH_MAX, SUBDOMAIN_LENGTH_MAX, label_key

EXPECTED_DURATION = "posse.dev/expected-duration"
"""On a PodGroup, its pods or their Job: how long it is expected to run, such as 1h30m."""
MINIMUM_RUN_TIME = "posse.dev/minimum-run-time"
"""On a PodGroup or its pods: how long it runs before it may be preempted, such as 30m."""
PREFERRED_TOPOLOGY = "posse.dev/preferred-topology"
"""On a PodGroup or its pods: node labels that members share if possible, the widest first."""
GROUP_ANNOTATIONS = (EXPECTED_DURATION, MINIMUM_RUN_TIME, PREFERRED_TOPOLOGY)
MAX_STATED_SECONDS = 10 * 365 * 86400.0
MAX_PREFERRED_LEVELS = 8
"""Labels beyond these are ignored: each label costs memory for every node."""
MAX_SHOWN = 64
"""Characters of a text that are kept to be told."""
_MAX_KEY_LENGTH = SUBDOMAIN_LENGTH_MAX + 1 + LABEL_LENGTH_MAX


class AnnotationProblem(StrEnum):
    NO_DURATION = "NoDuration"
    OUT_OF_RANGE = "OutOfRange"
    """A duration, but not above zero, or of more than ten years."""
    NO_LABEL = "NoLabel"
    """Empty where a label is expected."""
    INVALID_LABEL = "InvalidLabel"
    TOO_MANY_LABELS = "TooManyLabels"
    UNKNOWN_LABEL = "UnknownLabel"
    """A label that no node has."""
    COMPOSITE = "Composite"
    """It is on a CompositePodGroup, where it means nothing."""


@dataclass(frozen=True, slots=True)
class AnnotationFault:
    """An annotation, or a part of one, that is not used."""

    annotation: str
    text: str
    """The part that is not used; if it is long, its first characters and one more."""
    problem: AnnotationProblem


def fault(annotation: str, text: str, problem: AnnotationProblem) -> AnnotationFault:
    return AnnotationFault(annotation, text[: MAX_SHOWN + 1], problem)


def stated_seconds(annotation: str, text: str | None) -> tuple[float | None, AnnotationFault | None]:
    """The duration, or what is wrong with it; neither without the annotation."""
    if text is None:
        return None, None
    seconds = parse_duration(text)
    if seconds is None:
        return None, fault(annotation, text, AnnotationProblem.NO_DURATION)
    if not 0 < seconds <= MAX_STATED_SECONDS:
        return None, fault(annotation, text, AnnotationProblem.OUT_OF_RANGE)
    return seconds, None


def stated_labels(text: str | None) -> tuple[tuple[str, ...], tuple[AnnotationFault, ...]]:
    """The labels that are preferred, and what is wrong with others."""
    if text is None:
        return (), ()
    parts = [part.strip() for part in text.split(",", MAX_PREFERRED_LEVELS)]
    problems = [_problem_of(part, place) for place, part in enumerate(parts)]
    faults = tuple(
        fault(PREFERRED_TOPOLOGY, part or text, problem)
        for part, problem in zip(parts, problems, strict=True)
        if problem is not None
    )
    keys = tuple(part for part, problem in zip(parts, problems, strict=True) if problem is None)
    return keys, tuple(dict.fromkeys(faults))


def faults_of(texts: Mapping[str, str | None]) -> tuple[AnnotationFault, ...]:
    """What is wrong with the annotations of a group, by name."""
    wrong = [stated_seconds(name, texts.get(name))[1] for name in (EXPECTED_DURATION, MINIMUM_RUN_TIME)]
    labels = stated_labels(texts.get(PREFERRED_TOPOLOGY))[1]
    return (*(one for one in wrong if one is not None), *labels)


def _problem_of(part: str, place: int) -> AnnotationProblem | None:
    if place == MAX_PREFERRED_LEVELS:
        return AnnotationProblem.TOO_MANY_LABELS
    if not part:
        return AnnotationProblem.NO_LABEL
    # Formats remember what they have checked, so a text of any length stays away from them.
    is_valid = len(part) <= _MAX_KEY_LENGTH and not label_key(part)
    return None if is_valid else AnnotationProblem.INVALID_LABEL
