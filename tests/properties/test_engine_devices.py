"""Devices, by the engine and by an allocator that tries everything: none given twice, none overlooked."""

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.decisions import Bind, ReportGroup, Solve
from posse.engine.events import Solved
from posse.engine.options import EngineOptions
from posse.engine.proof import Outcome
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.model.pod import PodResourceClaim, PodResourceClaimStatus
from posse.model.resource_claim import (
    CapacityRequirements,
    DeviceRequest,
    DeviceSubRequest,
)
from posse.solver.solving import solve
from tests.differential.every_device import Ask, AskedClaim, AskingPod, Item, World
from tests.support.builders import changed, gang, node, pod
from tests.support.device_objects import (
    DRIVER,
    allocations,
    cel,
    claiming,
    device,
    device_claim,
    device_class,
    exact,
    matching,
    pod_with_own,
    released,
    resource_slice,
    written,
)
from tests.support.effort import up_to
from tests.support.engine_driver import Driver, evicted, placements

MEMORY = "memory"


@st.composite
def worlds(draw):
    nodes = [f"n{i}" for i in range(1, draw(st.integers(1, 3)) + 1)]
    cpu = {name: draw(st.integers(1, 3)) for name in nodes}
    items, units = [], {}
    pools = [*nodes, *(["net"] if draw(st.booleans()) else [])]
    for pool in pools:
        has_counter = draw(st.booleans()) and pool != "net"
        if has_counter:
            units[pool] = draw(st.integers(1, 3))
        for number in range(draw(st.integers(0, 3))):
            item = Item(
                pool,
                f"d{number}",
                node="" if pool == "net" else pool,
                size=draw(st.integers(1, 2)),
                numa=draw(st.integers(0, 1)),
                units=draw(st.integers(1, 2)) if has_counter else 0,
                memory=draw(st.sampled_from([None, None, 3])),
            )
            items += [item]
    asks = st.builds(
        Ask, count=st.integers(1, 2), size=st.integers(1, 2), memory=st.sampled_from([0, 0, 1, 2])
    )
    names = [f"c{i}" for i in range(1, draw(st.integers(1, 3)) + 1)]
    claims = {
        name: AskedClaim(
            name, tuple(draw(st.lists(asks, min_size=1, max_size=2))), matches=draw(st.booleans())
        )
        for name in names
    }
    pods = [
        AskingPod(
            f"p{i}",
            tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))),
            cpu=draw(st.integers(1, 2)),
        )
        for i in range(1, draw(st.integers(1, 3)) + 1)
    ]
    return World(cpu, items, units, claims, pods, has_own_claims=draw(st.booleans()))


def objects(world):
    yield device_class()
    for name, cpu in world.cpu.items():
        yield node(name, cpu=str(cpu))
    for pool in dict.fromkeys(item.pool for item in world.items):
        yield from slices(world, pool)
    for claim in world.claims.values():
        constraints = [matching(f"{DRIVER}/numa")] if claim.matches else []
        yield device_claim(claim.name, request(claim), constraints=constraints, owner=world.owner(claim.name))


def slices(world, pool):
    reach = {"all_nodes": True} if pool == "net" else {}
    where = "" if pool == "net" else pool
    devices = [
        device(
            item.name,
            attributes={"size": item.size, "numa": item.numa},
            capacity={MEMORY: str(item.memory if item.memory is not None else 1)},
            counters={"set": {"units": str(item.units)}} if item.units else {},
            shared=item.memory is not None or None,
        )
        for item in world.items
        if item.pool == pool
    ]
    if pool not in world.units:
        yield resource_slice(where, devices, pool=pool, **reach)
        return
    yield resource_slice(where, devices, pool=pool, name=f"{pool}-b", count=2, **reach)
    counters = {"set": {"units": str(world.units[pool])}}
    yield resource_slice(where, [], pool=pool, name=f"{pool}-a", count=2, counters=counters, **reach)


def request(claim):
    subs = [
        DeviceSubRequest(
            name=f"s{number}",
            device_class_name="gpu",
            count=ask.count,
            selectors=cel(f'device.attributes["{DRIVER}"].size >= {ask.size}'),
            capacity=CapacityRequirements(requests={MEMORY: str(ask.memory)}) if ask.memory else None,
        )
        for number, ask in enumerate(claim.alternatives)
    ]
    if len(subs) > 1:
        return DeviceRequest(name="req", first_available=tuple(subs))
    only = claim.alternatives[0]
    capacity = {MEMORY: str(only.memory)} if only.memory else None
    return exact("req", only.count, f'device.attributes["{DRIVER}"].size >= {only.size}', capacity=capacity)


def waiting(world, group=""):
    return [_pod(world, one, group) for one in world.pods]


def _pod(world, one, group):
    own = [name for name in one.claims if world.owner(name)]
    entries = [
        PodResourceClaim(name=f"entry-{name}", resource_claim_template_name="t")
        if name in own
        else claiming(name)[0]
        for name in one.claims
    ]
    made = pod(one.name, cpu=str(one.cpu), resource_claims=tuple(entries), group=group)
    statuses = tuple(PodResourceClaimStatus(name=f"entry-{name}", resource_claim_name=name) for name in own)
    return changed(made, status={"resource_claim_statuses": statuses})


@given(worlds())
@settings(max_examples=up_to(1000), deadline=None)
def test_a_single_pod_gets_devices_if_and_only_if_there_are_some(world):
    world.pods = world.pods[:1]
    decisions = Driver(*objects(world), *waiting(world)).decide()
    places = placements(decisions)
    assert bool(places) == world.can_start(world.pods)
    world.check(places, allocations(decisions))


@given(worlds())
@settings(max_examples=up_to(500), deadline=None)
def test_no_device_is_given_twice_to_pods_that_come_one_by_one(world):
    driver = Driver(*objects(world))
    places, given_devices = {}, {}
    for one in waiting(world):
        driver.see(one)
        decisions = driver.decide()
        places |= placements(decisions)
        given_devices |= allocations(decisions)
    world.check(places, given_devices)


@given(worlds())
@settings(max_examples=up_to(1000), deadline=None)
def test_a_gang_starts_if_and_only_if_it_can_and_a_refusal_is_proven(world):
    members = waiting(world, group="g1")
    decisions = Driver(*objects(world), gang(minimum=len(members)), *members).decide()
    places = placements(decisions)
    world.check(places, allocations(decisions))
    can_start = world.can_start(world.pods)
    assert len(places) == (len(members) if can_start else 0)
    findings = [one.finding for one in decisions if isinstance(one, ReportGroup) and one.finding is not None]
    if not can_start:
        assert all(one.outcome is not Outcome.PLACED for one in findings)


@given(worlds())
@settings(max_examples=up_to(500), deadline=None)
def test_the_exact_search_finds_every_gang_that_can_start_and_proves_no_other(world):
    members = waiting(world, group="g1")
    options = EngineOptions({"default-scheduler": DEFAULT_PROFILE}, asks=True)
    driver = Driver(*objects(world), gang(minimum=len(members)), *members, options=options)
    decisions = driver.decide()
    while questions := [one for one in decisions if isinstance(one, Solve)]:
        for asked in questions:
            driver.engine.absorb(Solved(asked.group, asked.number, solve(asked.problem, asked.effort)))
        decisions = driver.decide()
    places = placements(decisions)
    world.check(places, allocations(decisions))
    assert len(places) == (len(members) if world.can_start(world.pods) else 0)


@given(worlds())
@settings(max_examples=up_to(300), deadline=None)
def test_a_gang_that_evictions_can_help_gets_the_devices_of_its_victims(world):
    """Pods of low priority take what they can; a gang that fits without them starts once they have left."""
    driver = Driver(*objects(world))
    lows = []
    for number in range(3):
        low, claims = pod_with_own(f"low{number}", priority=1, cpu="1")
        driver.see(*claims, low)
        decisions = driver.decide()
        if node_name := placements(decisions).get(low.metadata.name):
            [bind] = [one for one in decisions if isinstance(one, Bind)]
            lows.append((low, written(claims[0], bind.claims[0])))
            driver.see(lows[-1][1])
            driver.confirm(low, on=node_name)
        else:
            driver.lose(low, *claims)
    members = [changed(one, spec={"priority": 9}) for one in waiting(world, group="g1")]
    driver.see(gang(minimum=len(members), priority=9), *members)
    places = {}
    for _ in range(8):
        decisions = driver.decide(after=2.0)
        places |= placements(decisions)
        for low, claim in [one for one in lows if one[0].metadata.name in evicted(decisions)]:
            driver.lose(low)
            # Other capacity is free before the devices are.
            later = driver.decide()
            assert not evicted(later)
            places |= placements(later)
            driver.see(released(claim))
    assert len(places) == (len(members) if world.can_start(world.pods) else 0)
