"""Claims that are puzzles: what all searches for a pod cost is bounded, and other pods go on."""

import pytest

from posse.engine.decisions import Evict
from posse.engine.devices import selecting
from posse.engine.devices.requests import shape_of
from posse.engine.devices.search import DeviceSearch
from posse.engine.devices.selecting import Selecting
from tests.support.builders import gang, nodes, pod
from tests.support.device_objects import (
    DRIVER,
    claim_spec,
    device,
    device_claim,
    device_class,
    exact,
    first_of,
    matching,
    pod_with_own,
    resource_slice,
    written,
)
from tests.support.engine_driver import Driver, binds, placements, pod_reports

UNDECIDED = "the search for devices did not end within its limit"
NUMBERS = ",".join(map(str, range(10)))
LOOPS = f"[{NUMBERS}].all(a,[{NUMBERS}].all(b,[{NUMBERS}].all(c,a+b+c>=0)))"


def different(count, row=0):
    """Devices that have nothing in common."""
    return [device(f"d{i}", attributes={"number": i, "row": row}) for i in range(count)]


def cluster(count, make):
    slices = [resource_slice(f"n{row}", make(row)) for row in range(1, count + 1)]
    return Driver(*nodes(count), device_class(), *slices)


def puzzled(name="p1", **description):
    """A pod whose last two requests never find what they want, which each choice for the others hides."""
    requests = tuple(first_of(f"r{i}", a=("gpu", 1), b=("gpu", 1)) for i in range(20))
    one, claims = pod_with_own(name, requests, **description)
    unequal = matching(f"{DRIVER}/number", "r18", "r19")
    return device_claim(claims[0].metadata.name, *requests, owner=name, constraints=(unequal,)), one


@pytest.fixture
def taken(monkeypatch):
    """Every device that a search tries to take."""
    found, take = [], DeviceSearch._take

    def noted(self, state, index, wanted, position):
        found.append(position)
        return take(self, state, index, wanted, position)

    monkeypatch.setattr(DeviceSearch, "_take", noted)
    return found


def told_and_passed(driver, *objects):
    """What pod p1 is told; a small pod behind it is bound."""
    driver.see(*objects, pod("small"))
    decisions = driver.decide()
    assert list(placements(decisions)) == ["small"]
    return pod_reports(decisions)["p1"][1]


def test_more_devices_than_calls_within_calls_are_not_sought():
    one, claims = pod_with_own("p1", *[tuple(exact(f"r{i}") for i in range(32))] * 40)
    driver = cluster(1, lambda _: [device("d", shared=True)])
    assert UNDECIDED in told_and_passed(driver, *claims, one)


def test_puzzles_on_many_nodes_share_their_steps(monkeypatch, taken):
    monkeypatch.setattr(selecting, "_MAX_SHARED_STEPS", 2_000)
    driver = cluster(10, lambda row: different(40, row))
    assert UNDECIDED in told_and_passed(driver, *puzzled())
    # For each node what any search may take, and what all share.
    assert len(taken) < 2_000 + 30 * 600


def test_a_gang_of_puzzles_is_counted_within_bounds(monkeypatch, taken):
    monkeypatch.setattr(selecting, "_MAX_SHARED_STEPS", 2_000)
    driver = cluster(2, lambda row: different(80, row))
    members = [one for number in range(1, 4) for one in puzzled(f"p{number}", group="g1")]
    assert UNDECIDED in told_and_passed(driver, gang("g1", 3), *members)
    assert len(taken) < 3 * 2_000 + 30 * 1_000


def test_selectors_that_loop_are_evaluated_within_bounds(monkeypatch):
    evaluated, evaluate = [], Selecting._evaluate
    monkeypatch.setattr(selecting, "_MAX_COST", 20_000)
    monkeypatch.setattr(
        Selecting,
        "_evaluate",
        lambda self, text, *further: (evaluated.append(text), evaluate(self, text, *further))[1],
    )
    costly = [exact(f"r{i}", 1, *[f"{LOOPS} && {j} >= 0" for j in range(10)]) for i in range(4)]
    one, claims = pod_with_own("p1", tuple(costly))
    driver = cluster(3, lambda row: different(30, row))
    assert UNDECIDED in told_and_passed(driver, *claims, one)
    assert len(evaluated) < 40


def test_the_depth_of_a_claim_counts_its_requests_and_devices():
    spec = claim_spec(exact("a", 3), first_of("b", x=("gpu", 2), y=("gpu", 5)))
    assert shape_of(spec, {"gpu": device_class()}).depth == 1 + (2 + 3) + (2 + 5)


def test_the_depth_of_a_claim_is_bounded_by_the_devices_that_it_may_have():
    spec = claim_spec(first_of("a", x=("gpu", 800), y=("gpu", 1)))
    assert shape_of(spec, {"gpu": device_class()}).depth == 1 + 2 + 32


def test_an_alternative_that_can_never_be_taken_leaves_the_others():
    one, claims = pod_with_own("p1", (first_of("r", x=("gpu", 800), y=("gpu", 1)),))
    driver = cluster(1, lambda _: different(1))
    driver.see(*claims, one)
    assert driver.bind() == {"p1": "n1"}


def test_a_puzzle_takes_nothing_from_the_searches_for_others():
    driver = cluster(2, lambda row: different(40, row))
    requests = tuple(exact(f"r{i}") for i in range(3))
    one, claims = pod_with_own("m1", requests)
    row = matching(f"{DRIVER}/row", "r0", "r1", "r2")
    claim = device_claim(claims[0].metadata.name, *requests, owner="m1", constraints=(row,))
    driver.see(*puzzled(), claim, one)
    assert list(placements(driver.decide())) == ["m1"]


def test_a_puzzle_does_not_keep_others_from_preempting(monkeypatch):
    monkeypatch.setattr(selecting, "_MAX_COST", 20_000)
    low, held = pod_with_own("low", (exact("r"),), priority=0)
    driver = cluster(1, lambda row: different(1, row))
    driver.see(*held, low)
    bound = binds(driver.decide())[0]
    driver.confirm(low, on="n1")
    driver.see(written(held[0], bound.claims[0]))
    costly = tuple(exact(f"r{i}", 1, *[f"{LOOPS} && {j} >= {i}" for j in range(10)]) for i in range(20))
    hard, costly_claims = pod_with_own("p1", costly, priority=200)
    high, claims = pod_with_own(
        "m1", (exact("r", 1, "device.attributes['dra.example.com'].number == 0"),), priority=100
    )
    driver.see(*costly_claims, hard, *claims, high)
    evicted = [one for _ in range(3) for one in driver.decide(60.0) if isinstance(one, Evict)]
    assert [one.pod.name for one in evicted] == ["low"]


def test_needs_of_pods_that_are_gone_are_not_searched_again(taken):
    driver = cluster(1, lambda row: different(12, row))
    claim, one = puzzled()
    driver.see(claim, one)
    driver.decide()
    driver.lose(one)
    driver.decide()
    taken.clear()
    driver.see(resource_slice("n1", different(13)))
    driver.decide()
    assert taken == []
