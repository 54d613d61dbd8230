"""Entries of a recording: what the engine absorbed, and calls of `decide` with a digest of the decisions."""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias, get_args

import msgspec

from posse.engine.decisions import Advise, Bind, Decision, Evict, Solve
from posse.engine.events import ClusterObject, EngineEvent, Observed, Vanished
from posse.model.coscheduling import CoschedulingPodGroup
from posse.model.meta import GroupObject
from posse.model.volcano import VolcanoPodGroup
from posse.model.workload import PodGroup


class Absorbed(msgspec.Struct, frozen=True, tag="absorbed"):
    event: str
    """The class of the event."""
    body: msgspec.Raw
    kind: str = ""
    """The class of the object, if the event is about one."""


class AbsorbedNow(msgspec.Struct, frozen=True, tag="absorbed"):
    """The same while it is written, with what has not become text yet."""

    event: str
    body: object
    kind: str = ""


class DecidedRound(msgspec.Struct, frozen=True, tag="decided"):
    now: float
    digest: str
    """Of all decisions."""
    outcomes: tuple[str, ...] = ()
    """Bindings and evictions, in words for the first difference."""


class EngineReset(msgspec.Struct, frozen=True, tag="reset"):
    """From here on an engine that knows nothing: the scheduler was started again."""


class KnownObjects(msgspec.Struct, frozen=True, tag="known"):
    """All objects at the beginning of a segment: what came before it may have been removed."""

    objects: tuple[Absorbed, ...]


class KnownNow(msgspec.Struct, frozen=True, tag="known"):
    """The same while it is written."""

    objects: tuple[AbsorbedNow, ...]


Entry: TypeAlias = Absorbed | DecidedRound | EngineReset | KnownObjects
NewEntry: TypeAlias = AbsorbedNow | DecidedRound | EngineReset | KnownNow

_encoder = msgspec.json.Encoder()
ENTRIES_ENCODER = msgspec.json.Encoder()
ENTRIES_DECODER = msgspec.json.Decoder(list[Entry])


def _classes(union: Any) -> dict[str, type]:
    found: dict[str, type] = {}
    for one in get_args(union) or (union,):
        found |= {one.__name__: one} if isinstance(one, type) else _classes(one)
    return found


_EVENTS = _classes(EngineEvent)
_GROUPS: tuple[type[GroupObject], ...] = (PodGroup, CoschedulingPodGroup, VolcanoPodGroup)
_OBJECTS = _classes(ClusterObject) | {one.__name__: one for one in _GROUPS}


@cache
def _decoder(kind: type) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def absorbed_entry(event: EngineEvent) -> AbsorbedNow:
    if isinstance(event, Observed | Vanished):
        return AbsorbedNow(type(event).__name__, event.obj, type(event.obj).__name__)
    return AbsorbedNow(type(event).__name__, event)


def event_of(entry: Absorbed) -> EngineEvent:
    """ValueError: it was recorded by a version with other events."""
    try:
        if entry.kind:
            obj = _decoder(_OBJECTS[entry.kind]).decode(entry.body)
            return Observed(obj) if entry.event == "Observed" else Vanished(obj)
        event: EngineEvent = _decoder(_EVENTS[entry.event]).decode(entry.body)
    except (KeyError, msgspec.MsgspecError) as error:
        raise ValueError(f"an entry about {entry.kind or entry.event} cannot be read: {error}") from error
    return event


def decided_entry(now: float, decisions: Sequence[Decision]) -> DecidedRound:
    return DecidedRound(now, digest_of(decisions), outcomes_of(decisions))


def digest_of(decisions: Sequence[Decision]) -> str:
    """Equal for equal decisions in equal order, whatever the version that printed them."""
    if not decisions:
        return ""
    text = "\n".join(map(_in_words, decisions))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _in_words(decision: Decision) -> str:
    if isinstance(decision, Solve | Advise):
        # The question is a large table that follows from the same events.
        return f"{type(decision).__name__} {decision.group} {decision.number}"
    return f"{type(decision).__name__} {_encoder.encode(decision).decode()}"


def outcomes_of(decisions: Sequence[Decision]) -> tuple[str, ...]:
    outcomes = []
    for decision in decisions:
        if isinstance(decision, Bind):
            outcomes += [
                f"bind pod {one.pod.namespace}/{one.pod.name} to {one.node}" for one in decision.placements
            ]
        elif isinstance(decision, Evict):
            outcomes.append(f"evict pod {decision.pod.namespace}/{decision.pod.name} from {decision.node}")
    return tuple(outcomes)
