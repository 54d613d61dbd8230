"""Objects as a real cluster may show them, whatever wrote them: the engine absorbs all of them and decides."""

from posse.engine.engine import Engine
from posse.engine.events import Observed, Vanished
from posse.engine.options import EngineOptions
from posse.model.decoding import ShapeError, decode
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS
from tests.fuzz.generation import NAMES, NUMBERS, Maker

OBJECTS = 12
INT64 = 2**63


def fuzz(runs, seed):
    for number in range(seed, seed + runs):
        try:
            # No API server holds integers of more than 64 bits.
            _one(Maker(number, wildness=0.0, numbers=[each for each in NUMBERS if -INT64 <= each < INT64]))
        except Exception as error:
            error.add_note(f"engine objects, seed {number}")
            raise


def _one(maker):
    engine, now, seen = Engine(EngineOptions(asks=False)), 1000.0, []
    for number in range(OBJECTS):
        kind, struct = maker.chance.choice(FOLLOWED_KINDS)
        made = maker.object(kind)
        identity = {"name": maker.chance.choice(NAMES), "uid": f"u{number}", "resourceVersion": str(number)}
        made["metadata"] = made.get("metadata", {}) | identity
        if kind.name == "Pod":
            _make_likely(maker, made)
        try:
            obj = decode(struct, made)
        except ShapeError:
            continue
        engine.absorb(Observed(obj))
        seen.append(obj)
        if seen and maker.chance.random() < 0.2:
            engine.absorb(Vanished(seen.pop(maker.chance.randrange(len(seen)))))
        now += maker.chance.choice([0.0, 1.0, 400.0])
        engine.decide(now)
    for _ in range(20):
        if not engine.has_work:
            break
        engine.decide(now)


def _make_likely(maker, pod):
    """Most pods wait for us, and some name a group."""
    spec = pod.setdefault("spec", {})
    if isinstance(spec, dict):
        spec["schedulerName"] = "default-scheduler"
        if maker.chance.random() < 0.7:
            spec.pop("nodeName", None)
        if maker.chance.random() < 0.5:
            spec["schedulingGroup"] = {"podGroupName": maker.chance.choice(NAMES)}
