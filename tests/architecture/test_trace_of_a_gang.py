"""How many modules of the engine a newcomer has to open to follow one gang from its first event to its binding."""

import sys

import pytest

from posse.engine.decisions import Bind
from posse.engine.engine import Engine
from posse.engine.events import Observed
from posse.engine.options import EngineOptions
from tests.support.builders import gang, nodes, pods

MAX_MODULES = 50
"""With the rules, each of which has a file of its own."""


@pytest.mark.parametrize("asks", [False, True], ids=["alone", "with an exact solver"])
def test_a_gang_is_followed_through_few_modules(asks):
    engine = Engine(EngineOptions(asks=asks))
    for node in nodes(2, cpu="4"):
        engine.absorb(Observed(node))
    steps = list(dict.fromkeys(entered_by(lambda: bindings_of_a_gang(engine))))
    assert len(steps) <= MAX_MODULES, "\n".join(["merge modules of one idea; in order of entry:", *steps])


def bindings_of_a_gang(engine):
    for obj in (gang("g1", minimum=2), *pods(2, cpu="1", group="g1")):
        engine.absorb(Observed(obj))
    return [decision for decision in engine.decide(1.0) if isinstance(decision, Bind)]


def entered_by(action):
    """Return the modules of the engine whose functions are entered, in order; generated functions do not count."""
    entered = []

    def note(frame, event, _):
        name = frame.f_globals.get("__name__", "")
        is_written = frame.f_code.co_filename != "<string>"
        if event == "call" and name.startswith("posse.engine.") and is_written:
            entered.append(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        found = action()
    finally:
        sys.setprofile(before)
    assert found
    return entered
