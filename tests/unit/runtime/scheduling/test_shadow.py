import asyncio

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from posse.engine.causes import NoNodeFits
from posse.engine.cycle.cycle import AttemptRecord
from posse.engine.decisions import Bind, Placement
from posse.engine.events import Observed, Vanished
from posse.engine.keys import GroupKey, PodRef
from posse.engine.verdict import Code, Verdict
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import POD
from posse.runtime.scheduling.observers import Round
from posse.runtime.scheduling.shadow import ShadowGauges, ShadowLedger, ShadowOutcome, ShadowTransport
from posse.transport.patches import MERGE_PATCH, Patch
from posse.transport.transport import PodBinding
from tests.support.builders import NAMESPACE, SCHEDULER, changed, pod

GROUP = GroupKey(NAMESPACE, "g")


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def ledger():
    return ShadowLedger(Clock(), [SCHEDULER])


def ref(of):
    return PodRef(of.metadata.namespace, of.metadata.name, of.metadata.uid)


def would_bind(ledger, *pods, node="n1", group=None):
    bind = Bind(tuple(Placement(ref(each), node) for each in pods), group)
    ledger.decided(Round(0.0, 0.0, [bind], ()))


def refuses(ledger, who):
    ledger.decided(
        Round(
            0.0, 0.0, [], [AttemptRecord(who, SCHEDULER, 1, 0.0, Verdict(Code.UNSCHEDULABLE, NoNodeFits(3)))]
        )
    )


def sees(ledger, *pods):
    for each in pods:
        ledger.absorbed(Observed(each))


def binds(ledger, *pods, node="n1"):
    """The other scheduler does."""
    sees(ledger, *(changed(each, spec={"node_name": node}) for each in pods))


def test_pods_are_compared_when_the_other_scheduler_has_bound_them(ledger):
    alike, unlike, hopeless, quick = (pod(name) for name in ("alike", "unlike", "hopeless", "quick"))
    sees(ledger, alike, unlike, hopeless, quick)
    assert ledger.agreement is None
    would_bind(ledger, alike, unlike)
    refuses(ledger, ref(hopeless))
    binds(ledger, alike, hopeless, quick)
    binds(ledger, unlike, node="n2")
    assert ledger.outcomes == dict.fromkeys(ShadowOutcome, 1)
    assert ledger.agreement == pytest.approx(2 / 3)
    assert ledger.placeable() == []
    assert ledger.summary().startswith(
        "2 of 3 pods were placed by both, 1 on the same node; 1 were bound before Posse tried them; waiting"
    )


def test_what_was_bound_before_or_is_not_for_these_names_is_not_compared(ledger):
    binds(ledger, pod("before"))
    theirs = pod("theirs", scheduler_name="a-third")
    sees(ledger, theirs)
    binds(ledger, theirs)
    assert not ledger.outcomes


def test_a_gang_that_waits_although_there_is_room_is_told(ledger):
    members = [pod(name, group="g") for name in ("a", "b")]
    sees(ledger, *members)
    would_bind(ledger, *members, group=GROUP)
    ledger._clock.now += 7
    (waiting,) = ledger.page()["placeable"]
    assert waiting == {
        "name": str(GROUP),
        "seconds": 7.0,
        "nodes": {f"{NAMESPACE}/a": "n1", f"{NAMESPACE}/b": "n1"},
    }
    assert ledger.summary().endswith(f"waiting although there is room: {GROUP}")
    refuses(ledger, GROUP)
    assert ledger.placeable() == []
    binds(ledger, *members)
    assert ledger.outcomes == {ShadowOutcome.REFUSED: 2}


def test_pods_that_end_or_vanish_are_forgotten(ledger):
    gone, ended = pod("gone"), pod("ended")
    sees(ledger, gone, ended)
    would_bind(ledger, gone, ended)
    ledger.absorbed(Vanished(gone))
    sees(ledger, changed(ended, status={"phase": "Failed"}))
    assert ledger.placeable() == []
    assert not ledger.outcomes


def test_nothing_is_remembered_of_groups_that_are_gone(ledger):
    members = [pod(name, group="g") for name in ("a", "b", "c")]
    sees(ledger, *members)
    refuses(ledger, GROUP)
    ledger.absorbed(Vanished(members[0]))
    binds(ledger, members[1])
    assert ledger.outcomes == {ShadowOutcome.REFUSED: 1}
    assert ledger._refused
    ledger.absorbed(Vanished(members[2]))
    assert not ledger._refused
    refuses(ledger, GROUP)
    refuses(ledger, ref(members[0]))
    assert not any((ledger._refused, ledger._pending, ledger._waiting, ledger._placeable))


def test_it_is_counted_for_monitoring(ledger):
    one, other = pod("one"), pod("other")
    sees(ledger, one, other)
    would_bind(ledger, one, other)
    binds(ledger, one)
    registry = CollectorRegistry()
    registry.register(ShadowGauges(ledger))
    text = generate_latest(registry).decode()
    assert 'posse_shadow_pods_total{outcome="same_node"} 1.0' in text
    assert "posse_shadow_placeable 1.0" in text


def test_nothing_is_written():
    async def main():
        transport = ShadowTransport(None)
        ((refusal, _),) = await transport.bind_all(
            [[PodBinding("ns", "a", "u", "n"), PodBinding("ns", "b", "v", "n")]]
        )
        with pytest.raises(ApiError, match="only looking on"):
            await transport.patch(POD, "ns", "a", Patch(MERGE_PATCH, {}), subresource="status")
        return refusal.reason

    assert asyncio.run(main()) == "Shadow"
