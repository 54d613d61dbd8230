"""How many functions the engine calls for one of many equal gangs: what it costs beside the search itself."""

import sys

from posse.engine.decisions import Bind
from posse.engine.engine import Engine
from posse.engine.events import Observed
from posse.engine.options import EngineOptions
from tests.support.builders import gang, nodes, pods

MAX_CALLS = 600
"""Of a gang of three, from its first event to its bindings. A call that is new for every gang shows here."""
GANGS = 50


def test_a_gang_among_equal_ones_costs_few_calls():
    engine = Engine(EngineOptions())
    members = [
        one
        for number in range(GANGS)
        for one in (gang(f"g{number}", minimum=3), *pods(3, 3 * number, cpu="1", group=f"g{number}"))
    ]
    for node in nodes(10, cpu="64"):
        engine.absorb(Observed(node))
    calls, bound = calls_of(lambda: placed(engine, members))
    assert bound == GANGS
    assert calls / GANGS <= MAX_CALLS


def placed(engine, objects):
    for obj in objects:
        engine.absorb(Observed(obj))
    return len([decision for decision in engine.decide(1.0) if isinstance(decision, Bind)])


def calls_of(action):
    calls = 0

    def count(_frame, event, _arg):
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = action()
    finally:
        sys.setprofile(before)
    return calls, found
