"""Runs in which evicted pods come back: they end, no pod is evicted by one that it evicted, and all preemptions end with them."""

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.decisions import Bind, Evict
from posse.engine.keys import GroupRef
from posse.model.meta import OwnerReference
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import changed, gang, node, pod
from tests.support.engine_driver import Driver

MOST_ROUNDS = 80

owners = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.lists(st.integers(1, 3), min_size=1, max_size=3),
        st.sampled_from(["alone", "gang", "whole"]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=6,
)
"""Priority, sizes of pods, how they belong together, and in which round they come."""


class World:
    """An API server that binds whatever it is asked to, lets victims end after a round, and makes new pods for old ones."""

    def __init__(self, capacities):
        self.driver = Driver(*(node(f"n{i}", cpu=str(cpu)) for i, cpu in enumerate(capacities)))
        self.pods = {}
        self.owner_of = {}
        self.ending = []
        self.evictions = []
        """Preemptor, victim: each as (owner, priority)."""
        self._made = 0

    def add_owner(self, name, priority, sizes, form):
        if form != "alone":
            mode = DisruptionMode(all=AllDisruptionMode()) if form == "whole" else None
            self.driver.see(gang(name, minimum=len(sizes), priority=priority, disruption_mode=mode))
        for size in sizes:
            self.make(name, priority, size, "" if form == "alone" else name)

    def make(self, owner, priority, size, group):
        self._made += 1
        reference = OwnerReference(kind="Job", name=owner, uid=owner, controller=True)
        made = pod(f"p{self._made}", cpu=str(size), priority=priority, group=group)
        made = changed(made, metadata={"owner_references": (reference,)})
        self.pods[made.metadata.uid] = made
        self.owner_of[made.metadata.uid] = (owner, priority, size, group)
        self.driver.see(made)

    def step(self):
        """Let a round pass; returns whether anything happened."""
        gone, self.ending = self.ending, []
        for uid in gone:
            self.driver.lose(self.pods.pop(uid))
        for uid in gone:
            self.make(*self.owner_of[uid])
        decisions = self.driver.decide(after=2.0)
        for decision in decisions:
            if isinstance(decision, Bind):
                for placed in decision.placements:
                    self.see(placed.pod.uid, spec={"node_name": placed.node})
            elif isinstance(decision, Evict):
                self.evict(decision)
        return bool(gone) or any(isinstance(decision, Bind | Evict) for decision in decisions)

    def evict(self, decision):
        preemptor = decision.preemptor
        name = preemptor.key.name if isinstance(preemptor, GroupRef) else self.owner_of[preemptor.uid][0]
        priority = next(entry[1] for entry in self.owner_of.values() if entry[0] == name)
        self.evictions.append(((name, priority), self.owner_of[decision.pod.uid][:2]))
        self.see(decision.pod.uid, metadata={"deletion_timestamp": "2026-01-01T00:00:00Z"})
        assert decision.pod.uid not in self.ending
        self.ending.append(decision.pod.uid)

    def see(self, uid, **parts):
        self.pods[uid] = changed(self.pods[uid], **parts)
        self.driver.see(self.pods[uid])


@given(st.lists(st.integers(2, 5), min_size=1, max_size=4), owners)
def test_evictions_come_to_an_end_and_are_never_returned(capacities, arriving):
    world = World(capacities)
    for turn in range(MOST_ROUNDS):
        for number, (priority, sizes, form, when) in enumerate(arriving):
            if when == turn:
                world.add_owner(f"o{number}", priority, sizes, form)
        if not world.step() and turn > 3:
            break
    else:
        raise AssertionError(f"it goes on for ever: {world.evictions[-10:]}")
    pairs = {(preemptor[0], victim[0]) for preemptor, victim in world.evictions}
    assert all(preemptor[1] > victim[1] for preemptor, victim in world.evictions)
    assert not any((victim, preemptor) in pairs for preemptor, victim in pairs)
    assert all(not preemption.left for preemption in world.driver.engine._knowledge.ledger.under_way.values())
