"""Claims that are puzzles: what all searches of a cycle cost is bounded, and other pods go on."""

import pytest

from posse.engine.devices import answers, selecting
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
    monkeypatch.setattr(answers, "_STEPS_OF_ALL", 2_000)
    driver = cluster(10, lambda row: different(40, row))
    assert UNDECIDED in told_and_passed(driver, *puzzled())
    # On intake, in the cycle, and for each node what any search may take.
    assert len(taken) < 60_000 + 2_000 + 30 * 600


def test_a_gang_of_puzzles_is_counted_within_bounds(monkeypatch, taken):
    monkeypatch.setattr(answers, "_STEPS_OF_ALL", 2_000)
    driver = cluster(2, lambda row: different(80, row))
    members = [one for number in range(1, 4) for one in puzzled(f"p{number}", group="g1")]
    assert UNDECIDED in told_and_passed(driver, gang("g1", 3), *members)
    assert len(taken) < 60_000 + 2_000 + 30 * 1_000


def test_selectors_that_loop_are_evaluated_within_bounds(monkeypatch):
    evaluated, evaluate = [], Selecting._evaluate
    monkeypatch.setattr(selecting, "_MAX_COST", 20_000)
    monkeypatch.setattr(
        Selecting,
        "_evaluate",
        lambda self, text, kind: (evaluated.append(text), evaluate(self, text, kind))[1],
    )
    costly = [exact(f"r{i}", 1, *[f"{LOOPS} && {j} >= 0" for j in range(10)]) for i in range(4)]
    one, claims = pod_with_own("p1", tuple(costly))
    driver = cluster(3, lambda row: different(30, row))
    assert UNDECIDED in told_and_passed(driver, *claims, one)
    assert len(evaluated) < 40


def test_what_was_evaluated_is_known_in_the_next_cycle(monkeypatch):
    monkeypatch.setattr(selecting, "_MAX_COST", 20_000)
    one, claims = pod_with_own("p1", (exact("r", 1, *[f"{LOOPS} && {j} >= 0" for j in range(20)]),))
    driver = cluster(1, lambda row: different(1, row))
    assert UNDECIDED in told_and_passed(driver, *claims, one)
    for number in range(20):
        driver.see(*nodes(1, labels={"try": str(number)}))
        if binds(driver.decide(number * 1000.0)):
            return
    pytest.fail("never bound")


def test_the_depth_of_a_claim_counts_its_requests_and_devices():
    spec = claim_spec(exact("a", 3), first_of("b", x=("gpu", 2), y=("gpu", 5)))
    assert shape_of(spec, {"gpu": device_class()}).depth == 1 + (2 + 3) + (2 + 5)
