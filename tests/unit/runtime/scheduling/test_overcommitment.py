import asyncio
import time

from posse.engine.explain.statistics import Overcommitted
from posse.kinds.registry import EVENT
from posse.runtime.scheduling.overcommitment import OvercommitmentReports
from posse.runtime.watching.event_recorder import EventRecorder


def looking_at(found):
    async def look():
        return found

    return look


OVER = Overcommitted("n1", "cpu", 5000, 4000)


class Recorder:
    def __init__(self):
        self.notes = []

    def record(self, note):
        self.notes.append(note)


def test_a_node_is_told_of_once_and_again_when_it_comes_back(caplog):
    found, recorder = [OVER], Recorder()
    reports = OvercommitmentReports(looking_at(found), recorder)
    asyncio.run(reports.report())
    asyncio.run(reports.report())
    assert len(recorder.notes) == 1
    assert "node n1 is overcommitted: its pods request 5 of cpu, and it has 4" in caplog.text
    found.clear()
    asyncio.run(reports.report())
    found.append(OVER)
    asyncio.run(reports.report())
    assert len(recorder.notes) == 2


def test_amounts_are_told_as_people_write_them(caplog):
    found = [Overcommitted("n1", "cpu", 4500, 4000), Overcommitted("n1", "memory", 65 * 2**30, 64 * 2**30)]
    asyncio.run(OvercommitmentReports(looking_at(found), Recorder()).report())
    assert "request 4500m of cpu, and it has 4" in caplog.text
    assert "request 65Gi of memory, and it has 64Gi" in caplog.text


def test_the_event_is_where_events_about_nodes_are_looked_for(in_lab):
    async def background(lab):
        recorder = EventRecorder(lab.transport, time.time)
        await asyncio.gather(recorder.run(), OvercommitmentReports(looking_at([OVER]), recorder).run())

    async def scenario(lab):
        (event,) = await lab.until(lambda: lab.service.list(EVENT, "default").items)
        assert event["involvedObject"] == {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "n1"}
        assert (event["type"], event["reason"]) == ("Warning", "Overcommitted")

    in_lab(scenario, background)
