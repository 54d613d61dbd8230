"""Room for groups compared with every choice of victims there is, on small clusters."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.decisions import Evict
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import gang, node, pod
from tests.support.engine_driver import Driver, placements

PRIORITY = 5
SIZES = st.integers(1, 3)

clusters = st.lists(st.integers(2, 6), min_size=1, max_size=3)
lone_pods = st.lists(st.tuples(st.integers(0, 2), SIZES, st.integers(0, 6)), max_size=5)
"""Node, size and priority of pods that stand for themselves."""
whole_groups = st.lists(
    st.tuples(st.lists(st.tuples(st.integers(0, 2), SIZES), min_size=1, max_size=3), st.integers(0, 6)),
    max_size=2,
)
"""Where the members are and how large, and the priority of groups that are evicted as a whole."""


class World:
    """Units as (priority, ((node, size), ...)), as far as they fit on the nodes in their order."""

    def __init__(self, capacities, alone, together):
        self.free = list(capacities)
        self.units = []
        for priority, places in [
            *((priority, ((where, size),)) for where, size, priority in alone),
            *((priority, tuple(places)) for places, priority in together),
        ]:
            self._add(priority, [(where % len(capacities), size) for where, size in places])

    def _add(self, priority, places):
        after = list(self.free)
        for where, size in places:
            after[where] -= size
        if min(after) >= 0:
            self.free = after
            self.units.append((priority, tuple(places)))

    def objects(self):
        for number, (priority, places) in enumerate(self.units):
            group = f"u{number}" if len(places) > 1 else ""
            if group:
                mode = DisruptionMode(all=AllDisruptionMode())
                yield gang(group, minimum=1, priority=priority, disruption_mode=mode)
            for member, (where, size) in enumerate(places):
                name = f"u{number}-{member}"
                # Members may claim what they like for themselves: their group counts.
                claimed = (5 * priority + where + member) % 7 if group else priority
                yield pod(name, cpu=str(size), on=f"n{where}", group=group, priority=claimed)

    def holds(self, gone, sizes):
        """Whether pods of these sizes, the largest first, fit in any way with these units gone."""
        free = list(self.free)
        for number in gone:
            for where, taken in self.units[number][1]:
                free[where] += taken
        return packs(sizes, free)


def packs(sizes, free):
    if not sizes:
        return True
    less = ([*free[:i], room - sizes[0], *free[i + 1 :]] for i, room in enumerate(free) if room >= sizes[0])
    return any(packs(sizes[1:], left) for left in less)


gangs = st.one_of(
    st.builds(lambda size, count: [size] * count, SIZES, st.integers(1, 4)),
    st.lists(SIZES, min_size=1, max_size=5),
).map(lambda sizes: sorted(sizes, reverse=True))


@given(clusters, lone_pods, whole_groups, gangs)
def test_whole_units_are_evicted_that_matter_less_and_none_that_could_stay(
    capacities, alone, together, sizes
):
    world = World(capacities, alone, together)
    driver = Driver(*(node(f"n{i}", cpu=str(cpu)) for i, cpu in enumerate(capacities)), *world.objects())
    driver.decide()
    driver.see(gang("urgent", minimum=len(sizes), priority=PRIORITY))
    members = [
        pod(f"m{i}", cpu=str(size), group="urgent", priority=PRIORITY, created="2026-01-02T00:00:00Z")
        for i, size in enumerate(sizes)
    ]
    driver.see(*members)
    decisions = driver.decide()
    evicted = [decision.pod.name for decision in decisions if isinstance(decision, Evict)]
    victims = sorted({int(name.partition("-")[0][1:]) for name in evicted})
    below = [number for number, (priority, _) in enumerate(world.units) if priority < PRIORITY]
    if placements(decisions) or not world.holds(below, sizes):
        assert evicted == []
        return
    assert len(evicted) == len(set(evicted)) == sum(len(world.units[number][1]) for number in victims)
    assert set(victims) <= set(below)
    assert world.holds(victims, sizes)
    for fewer in combinations(victims, len(victims) - 1) if victims else ():
        assert not world.holds(fewer, sizes), f"{victims} are evicted, {fewer} would do"
