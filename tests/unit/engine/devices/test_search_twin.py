"""The search for devices against one that goes through every choice, for claims of which many are alike."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.devices.requests import shape_of
from posse.engine.devices.search import DeviceSearch
from posse.engine.devices.selecting import Selecting
from posse.engine.devices.usage import DevicesInUse, UsedDevice
from posse.engine.devices.wants import Want
from tests.support.device_objects import claim_spec, device, device_class, distinct, exact, matching
from tests.unit.engine.devices.test_search import offer

NUMA, EVEN = "dra.example.com/numa", 'device.attributes["dra.example.com"].numa % 2 == 0'
SPECS = (
    claim_spec(exact("a", 1)),
    claim_spec(exact("a", 1, EVEN)),
    claim_spec(exact("a", 2)),
    claim_spec(exact("a", 1), exact("b", 1), constraints=[matching(NUMA)]),
    claim_spec(exact("a", 1), exact("b", 1), constraints=[distinct(NUMA)]),
)
SHAPES = [shape_of(spec, {"gpu": device_class("gpu")}) for spec in SPECS]


def serves(number, numas):
    """Whether devices of these NUMA nodes serve the claim, for each of the shapes."""
    return (True, numas[0] % 2 == 0, True, len(set(numas)) == 1, len(set(numas)) == len(numas))[number]


def first_solution(chosen, numas, free):
    """Positions of the devices of each claim, in the order in which the search tries them."""
    if not chosen:
        return []
    number = chosen[0]
    for positions in permutations(free, 1 if number < 2 else 2):
        if number == 2 and list(positions) != sorted(positions):
            continue
        if serves(number, [numas[one] for one in positions]):
            rest = first_solution(chosen[1:], numas, [one for one in free if one not in positions])
            if rest is not None:
                return [positions, *rest]
    return None


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=6),
    st.lists(st.integers(0, len(SHAPES) - 1), min_size=1, max_size=5),
    st.sets(st.integers(0, 5), max_size=2),
)
def test_the_first_solution_is_found_and_as_many_claims_are_served_as_can_be(numas, chosen, taken):
    offered = offer([device(f"d{i}", attributes={"numa": numa}) for i, numa in enumerate(numas)])
    in_use = DevicesInUse()
    in_use.add(UsedDevice(offered.devices[one].id) for one in taken if one < len(numas))
    wants = [Want("c", SHAPES[number], offered) for number in chosen]
    free = [one for one in range(len(numas)) if one not in taken]

    solution = DeviceSearch(Selecting(), in_use).run(wants)
    positions = None if solution is None else [tuple(one.position for one in grants) for grants in solution]
    assert positions == first_solution(chosen, numas, free)

    most = max(n for n in range(len(chosen) + 1) if first_solution(chosen[:n], numas, free) is not None)
    has_enough = all(first_solution([one], numas, free) is not None for one in chosen)
    if has_enough or len(set(chosen)) == 1:
        assert DeviceSearch(Selecting(), in_use).most(wants) == most


@given(
    st.lists(st.integers(2, 5), min_size=1, max_size=3),
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
)
def test_shares_of_devices_are_found_as_by_trying_every_choice(capacities, amounts):
    """Devices that are alike differ by what was taken of them."""
    devices = [device(f"d{i}", shared=True, capacity={"mem": str(one)}) for i, one in enumerate(capacities)]
    offered, classes = offer(devices), {"gpu": device_class("gpu")}
    shapes = [
        shape_of(claim_spec(exact("a", 1, capacity={"mem": str(amount)})), classes) for amount in amounts
    ]
    solution = DeviceSearch(Selecting(), DevicesInUse()).run([Want("c", one, offered) for one in shapes])
    positions = None if solution is None else [grants[0].position for grants in solution]
    assert positions == first_shares(amounts, capacities)


def first_shares(amounts, left):
    if not amounts:
        return []
    for position, room in enumerate(left):
        if amounts[0] <= room:
            rest = first_shares(amounts[1:], [*left[:position], room - amounts[0], *left[position + 1 :]])
            if rest is not None:
                return [position, *rest]
    return None
