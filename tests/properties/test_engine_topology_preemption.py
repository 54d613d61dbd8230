"""Room for gangs that must be in one rack: made exactly if some rack allows it, at the lowest priority that suffices."""

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.decisions import Evict
from tests.support.builders import changed, gang, node, one_domain, pod
from tests.support.engine_driver import Driver, placements

HIGH = 9
racks = st.sampled_from(["r1", "r2", "r3"])
clusters = st.lists(st.tuples(racks, st.integers(1, 4)), min_size=1, max_size=5)
running = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 3), st.sampled_from([0, 1, 2, HIGH])), max_size=7
)


def there(cluster, pods):
    """Return pods as (node, cpu, priority), without those that would overfill their node or have none."""
    kept, free = [], [cpu for _, cpu in cluster]
    for where, cpu, priority in pods:
        if where < len(cluster) and free[where] >= cpu:
            free[where] -= cpu
            kept.append((where, cpu, priority))
    return kept


def slots(cluster, pods, rack, size):
    """Return how many members fit in a rack beside these pods."""
    left = [cpu - sum(taken for on, taken, _ in pods if on == n) for n, (_, cpu) in enumerate(cluster)]
    return sum(left[n] // size for n, (where, _) in enumerate(cluster) if where == rack)


def level_needed(cluster, pods, minimum, size):
    """Return the lowest priority up to which all have to go in some rack; -1 if none has, None if nothing helps."""
    for level in (-1, 0, 1, 2):
        staying = [one for one in pods if one[2] > level]
        if any(slots(cluster, staying, rack, size) >= minimum for rack, _ in cluster):
            return level
    return None


@given(clusters, running, st.integers(1, 4), st.integers(1, 2))
def test_room_is_made_where_the_lowest_priority_suffices_and_is_enough(cluster, pods, minimum, size):
    pods = there(cluster, pods)
    objects = [
        pod(f"there-{i}", cpu=str(cpu), on=f"n{on}", priority=priority)
        for i, (on, cpu, priority) in enumerate(pods)
    ]
    machines = [
        node(f"n{i}", cpu=str(cpu), memory=None, labels={"rack": rack})
        for i, (rack, cpu) in enumerate(cluster)
    ]
    members = [pod(f"m{i}", cpu=str(size), group="g1", priority=HIGH) for i in range(minimum)]
    driver = Driver(*machines, *objects, gang(minimum=minimum, priority=HIGH, **one_domain()), *members)
    decisions = driver.decide()
    victims = [decision.pod.name for decision in decisions if isinstance(decision, Evict)]
    level = level_needed(cluster, pods, minimum, size)
    if level is None or level < 0:
        assert victims == []
        assert bool(placements(decisions)) == (level == -1)
        return
    leaving = [one for one in objects if one.metadata.name in victims]
    assert max(one.spec.priority for one in leaving) == level
    driver.lose(*(changed(one, metadata={"deletion_timestamp": "2026-01-01T00:00:00Z"}) for one in leaving))
    placed = driver.bind(after=10)
    assert len(placed) == minimum
    assert len({cluster[int(name[1:])][0] for name in placed.values()}) == 1
