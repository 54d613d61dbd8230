"""Reads a KubeSchedulerConfiguration: the profiles it describes, or everything that is wrong with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from posse.configuration.decoding import decoded
from posse.configuration.outside import PluginLoader
from posse.configuration.problems import ConfigurationError, ConfigurationProblem
from posse.configuration.profiles import ProfileReader
from posse.configuration.running import Running, read_running
from posse.configuration.shapes import (
    API_VERSION,
    IGNORE,
    KIND,
    MUST_MATCH,
    ConfigurationShape,
    ProfileShape,
)
from posse.engine.options import DEFAULT_SCHEDULER, EngineOptions
from posse.engine.queue.backlog import Backoff
from posse.engine.rules.profile import Profile

_ALL_NODES_ARE_SCORED = "Posse always scores all nodes"
_WITHOUT_EFFECT = {
    "parallelism": "Posse works on all nodes at once",
    "enableProfiling": "Posse serves no profiling data",
    "enableContentionProfiling": "Posse serves no profiling data",
    "percentageOfNodesToScore": _ALL_NODES_ARE_SCORED,
    "delayCacheUntilActive": "a scheduler that waits to lead knows the cluster already",
}
_WITHOUT_EFFECT_EMBEDDED = {
    "leaderElection": "an embedded cluster has one scheduler",
    "clientConnection": "the scheduler of an embedded cluster needs no connection",
}


@dataclass(frozen=True, slots=True)
class Configuration:
    """The content of a file, or the defaults of Kubernetes."""

    options: EngineOptions = field(default_factory=EngineOptions)
    notices: tuple[str, ...] = ()
    """Settings of the file that have no effect, and why."""
    running: Running = field(default_factory=Running)
    embedded_notices: tuple[str, ...] = ()
    """Further settings that have no effect in an embedded cluster."""
    document: Any = None
    """The content as it was read; None for the defaults."""


def read_configuration(document: Any, plugins: Mapping[str, PluginLoader]) -> Configuration:
    """Raises ConfigurationError, with all problems at once."""
    if problems := _identity_problems(document):
        raise ConfigurationError(problems)
    misfits: list[ConfigurationProblem] = []
    shape = decoded(ConfigurationShape, document, "", misfits)
    reader = ProfileReader(plugins)
    profiles = _profiles(shape, reader)
    running = read_running(shape.leader_election, shape.client_connection, reader.problems)
    problems = [*misfits, *_beside(misfits, [*_file_problems(shape), *reader.problems])]
    if problems:
        raise ConfigurationError(problems)
    return Configuration(
        EngineOptions(
            profiles,
            _backoff(shape),
            reader.faults,
            members_must_match=shape.member_priority == MUST_MATCH,
        ),
        (*_notices(shape, document), *reader.notices),
        running,
        tuple(_unused(document, _WITHOUT_EFFECT_EMBEDDED)),
        document,
    )


def _profiles(shape: ConfigurationShape, reader: ProfileReader) -> dict[str, Profile]:
    """No profile means the default one; a single profile needs no name."""
    return {
        profile.scheduler_name or DEFAULT_SCHEDULER: reader.read(profile, f"profiles[{index}]")
        for index, profile in enumerate(shape.profiles or (ProfileShape(),))
    }


def _identity_problems(document: Any) -> list[ConfigurationProblem]:
    """Problems of apiVersion and kind; with any of them, nothing else is checked."""
    if not isinstance(document, dict):
        return [ConfigurationProblem("", f"expected a {KIND}: an object with apiVersion and kind")]
    expected = (("apiVersion", API_VERSION), ("kind", KIND))
    return [
        ConfigurationProblem(name, f"must be {right}, not {document.get(name)!r}")
        for name, right in expected
        if document.get(name) != right
    ]


def _beside(
    misfits: list[ConfigurationProblem], others: list[ConfigurationProblem]
) -> list[ConfigurationProblem]:
    """Drop problems that only follow from a value that was left out."""
    return [other for other in others if not any(other.path.startswith(misfit.path) for misfit in misfits)]


def _file_problems(shape: ConfigurationShape) -> Iterator[ConfigurationProblem]:
    yield from _name_problems(shape.profiles)
    yield from _backoff_problems(_backoff(shape))
    if shape.parallelism is not None and shape.parallelism <= 0:
        yield ConfigurationProblem("parallelism", f"must be greater than 0, not {shape.parallelism}")
    if shape.member_priority not in {None, IGNORE, MUST_MATCH}:
        yield ConfigurationProblem(
            "memberPriority", f"must be {IGNORE} or {MUST_MATCH}, not {shape.member_priority!r}"
        )
    yield from _percentage_problems(shape.percentage_of_nodes_to_score, "")
    for index, profile in enumerate(shape.profiles):
        yield from _percentage_problems(profile.percentage_of_nodes_to_score, f"profiles[{index}].")
    if shape.extenders:
        yield ConfigurationProblem(
            "extenders", "Posse calls no extenders; remove them, or write what they do as a plugin"
        )


def _name_problems(profiles: tuple[ProfileShape, ...]) -> Iterator[ConfigurationProblem]:
    seen: dict[str, int] = {}
    for index, profile in enumerate(profiles):
        name, path = profile.scheduler_name, f"profiles[{index}].schedulerName"
        if not name and len(profiles) > 1:
            yield ConfigurationProblem(path, "is missing; with several profiles each needs a name of its own")
        elif name in seen:
            yield ConfigurationProblem(
                path, f"{name} is the name of profiles[{seen[name]}] already; choose another"
            )
        seen.setdefault(name, index)


def _backoff(shape: ConfigurationShape) -> Backoff:
    usual = Backoff()
    first, most = shape.pod_initial_backoff_seconds, shape.pod_max_backoff_seconds
    return Backoff(
        usual.first_seconds if first is None else first, usual.most_seconds if most is None else most
    )


def _backoff_problems(backoff: Backoff) -> Iterator[ConfigurationProblem]:
    if backoff.first_seconds <= 0:
        yield ConfigurationProblem(
            "podInitialBackoffSeconds", f"must be greater than 0, not {backoff.first_seconds}"
        )
    if backoff.most_seconds < backoff.first_seconds:
        yield ConfigurationProblem(
            "podMaxBackoffSeconds", f"must not be less than the initial {backoff.first_seconds}"
        )


def _percentage_problems(percentage: int | None, prefix: str) -> Iterator[ConfigurationProblem]:
    if percentage is not None and not 0 <= percentage <= 100:
        yield ConfigurationProblem(
            f"{prefix}percentageOfNodesToScore", f"must be from 0 to 100, not {percentage}"
        )


def _notices(shape: ConfigurationShape, document: Mapping[str, Any]) -> Iterator[str]:
    yield from _unused(document, _WITHOUT_EFFECT)
    for index, profile in enumerate(shape.profiles):
        if profile.percentage_of_nodes_to_score is not None:
            yield f"profiles[{index}].percentageOfNodesToScore: without effect; {_ALL_NODES_ARE_SCORED}"


def _unused(document: Mapping[str, Any], reasons: Mapping[str, str]) -> Iterator[str]:
    for name, reason in reasons.items():
        if document.get(name) is not None:
            yield f"{name}: without effect; {reason}"
