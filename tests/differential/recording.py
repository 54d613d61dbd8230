"""Event logs that can be kept in a file and run again: `python -m tests.differential.recording < log` prints decisions.

A log is one JSON object per line: {"observed": "Pod", "object": ...}, {"vanished": ...}, {"refused": uid, "node": name},
{"spared": uid} or {"decide": now}. Decisions are printed one per line, in full.
"""

import json
import sys

import msgspec

from posse.engine.engine import Engine
from posse.engine.events import BindRefused, EvictionFailed, Observed, Vanished
from posse.engine.options import EngineOptions
from posse.model.decoding import decode
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.workload import PodGroup

KINDS = {kind.__name__: kind for kind in (Pod, Node, PodGroup, PodDisruptionBudget)}


def write_event(event):
    if isinstance(event, BindRefused):
        return {"refused": event.pod_uid, "node": event.node}
    if isinstance(event, EvictionFailed):
        return {"spared": event.pod_uid}
    verb = "observed" if isinstance(event, Observed) else "vanished"
    return {verb: type(event.obj).__name__, "object": msgspec.to_builtins(event.obj)}


def read_event(line):
    if "refused" in line:
        return BindRefused(line["refused"], line["node"], "refused")
    if "spared" in line:
        return EvictionFailed(line["spared"], "refused")
    if "observed" in line:
        return Observed(decode(KINDS[line["observed"]], line["object"]))
    return Vanished(decode(KINDS[line["vanished"]], line["object"]))


def replay(lines):
    """Yield the decisions of a fresh engine that lives through the log."""
    engine = Engine(EngineOptions())
    for line in lines:
        if "decide" in line:
            yield from engine.decide(line["decide"])
        else:
            engine.absorb(read_event(line))


if __name__ == "__main__":
    for decision in replay(json.loads(line) for line in sys.stdin):
        sys.stdout.write(f"{decision!r}\n")
