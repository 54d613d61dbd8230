import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.controllers.deployments.rollout import Limits, SetSize, limits_of, recreated, rolled
from posse.model.deployment import DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment


def spec(replicas, surge, unavailable):
    rolling = RollingUpdateDeployment(max_surge=surge, max_unavailable=unavailable)
    return DeploymentSpec(
        replicas=replicas, strategy=DeploymentStrategy(type="RollingUpdate", rolling_update=rolling)
    )


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "expected"),
    [
        (4, "25%", "25%", Limits(4, 5, 3)),
        (10, "25%", "25%", Limits(10, 13, 8)),
        (1, "25%", "25%", Limits(1, 2, 1)),
        (3, 0, 1, Limits(3, 3, 2)),
        (3, "0%", "10%", Limits(3, 3, 2)),
        (2, 1, 5, Limits(2, 3, 0)),
    ],
)
def test_surge_is_rounded_up_and_unavailability_down(replicas, surge, unavailable, expected):
    assert limits_of(spec(replicas, surge, unavailable)) == expected


def settled(size):
    return SetSize(size, size, 0, size)


def test_an_update_goes_step_by_step():
    limits, old, new = Limits(3, 4, 2), settled(3), SetSize(0)
    seen = []
    for _ in range(20):
        grown, [shrunk] = rolled(limits, [old], new)
        if (grown, shrunk) == (new.wanted, old.wanted):
            break
        seen.append((grown, shrunk))
        old, new = settled(shrunk), settled(grown)
    assert seen == [(1, 3), (1, 1), (3, 1), (3, 0)]


def test_old_pods_stay_while_new_ones_are_not_available():
    stuck = SetSize(1, 1, 0, 0)
    assert rolled(Limits(3, 4, 3), [settled(3)], stuck) == (1, [3])
    assert rolled(Limits(3, 4, 2), [settled(3)], stuck) == (1, [2])


def test_old_pods_that_are_not_available_go_first():
    sick = SetSize(2, 2, 0, 0)
    assert rolled(Limits(3, 4, 2), [settled(2), sick], SetSize(0)) == (0, [2, 0])


def test_recreation_waits_for_the_end_of_all_old_pods():
    limits = Limits(3, 3, 0)
    assert recreated(limits, [settled(3)], SetSize(0)) == (0, [0])
    assert recreated(limits, [SetSize(0, 0, 2)], SetSize(0)) == (0, [0])
    assert recreated(limits, [SetSize(0)], SetSize(0)) == (3, [0])


@given(st.data())
def test_an_update_ends_and_keeps_its_limits(data):
    wanted = data.draw(st.integers(0, 8))
    surge, unavailable = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))
    limits = limits_of(spec(wanted, surge, unavailable))
    sizes = data.draw(st.lists(st.integers(0, 4), max_size=3))
    old, new = [settled(size) for size in sizes], SetSize(0)
    for _ in range(60):
        available = new.available + sum(each.available for each in old)
        total = new.wanted + sum(each.wanted for each in old)
        grown, shrunk = rolled(limits, old, new)
        if (grown, shrunk) == (new.wanted, [each.wanted for each in old]):
            break
        assert grown + sum(shrunk) <= max(total, limits.highest)
        left = min(grown, new.available) + sum(
            min(size, each.available) for size, each in zip(shrunk, old, strict=True)
        )
        assert left >= min(available, limits.lowest)
        old, new = [settled(size) for size in shrunk], settled(grown)
    assert (new.wanted, sum(each.wanted for each in old)) == (wanted, 0)
