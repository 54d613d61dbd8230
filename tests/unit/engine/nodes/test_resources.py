import pytest

from posse.engine.nodes.resources import amount, effective_requests, node_allocatable, scoring_requests
from posse.model.container import ResourceRequirements
from posse.model.node import Node, NodeStatus
from posse.model.quantity import QuantityError
from tests.support.builders import container, node, pod
from tests.support.engine_driver import Driver, placements, pod_reports

MIB = 2**20


def requests(*containers, init=(), **spec):
    needed = effective_requests(pod(containers=containers, init_containers=tuple(init), **spec))
    assert needed.pop("pods") == 1
    return needed


def scoring(*containers, **spec):
    return scoring_requests(pod(containers=containers, **spec))


def test_cpu_counts_in_thousandths_and_everything_else_in_units():
    assert amount("cpu", "250m") == 250
    assert amount("cpu", 2) == 2000
    assert amount("memory", "1Ki") == 1024
    assert amount("example.com/gpu", "8") == 8


def test_fractions_of_a_unit_round_up():
    assert amount("cpu", "1u") == 1
    assert amount("memory", "500m") == 1


def test_amounts_stay_between_nothing_and_a_bound_that_sums_safely():
    assert amount("memory", "-1Gi") == 0
    assert 1000 * amount("memory", "8Ei") < 2**63


def test_containers_add_up():
    assert requests(container("100m", "1Mi"), container("200m")) == {"cpu": 300, "memory": MIB}


def test_a_pod_that_asks_for_nothing_needs_a_pod_slot():
    assert effective_requests(pod()) == {"pods": 1}


def test_a_request_of_zero_is_no_request():
    assert requests(container("0", "0")) == {}


def test_init_containers_run_one_after_another_before_the_others():
    init = [container("500m"), container("300m", "5Mi")]
    assert requests(container("200m", "1Mi"), init=init) == {"cpu": 500, "memory": 5 * MIB}


def test_sidecars_run_beside_the_containers():
    assert requests(container("200m"), init=[container("100m", sidecar=True)]) == {"cpu": 300}


def test_an_init_container_runs_beside_the_sidecars_before_it():
    init = [container("100m", sidecar=True), container("700m"), container("50m", sidecar=True)]
    assert requests(container("200m"), init=init) == {"cpu": 800}


def test_a_sidecar_after_an_init_container_does_not_run_beside_it():
    init = [container("700m"), container("600m", sidecar=True)]
    assert requests(container("200m"), init=init) == {"cpu": 800}


def test_overhead_is_added():
    assert requests(container("200m"), overhead={"cpu": "50m", "memory": "1Mi"}) == {
        "cpu": 250,
        "memory": MIB,
    }


def test_requests_of_the_pod_as_a_whole_replace_those_of_its_containers():
    whole = ResourceRequirements(requests={"cpu": "1"})
    needed = requests(container("200m", "3Mi"), resources=whole, overhead={"cpu": "50m"})
    assert needed == {"cpu": 1050, "memory": 3 * MIB}


def test_scores_assume_something_of_containers_that_ask_for_nothing():
    assert scoring(container(), container()) == (200, 400 * MIB)


def test_scores_believe_an_explicit_zero():
    assert scoring(container("0", "0")) == (0, 0)


def test_scores_assume_each_resource_on_its_own():
    assert scoring(container("250m"), container(memory="1Mi")) == (350, 201 * MIB)


def test_scores_assume_something_of_init_containers_too():
    assert scoring(container("1m", "1Mi"), init_containers=(container(),)) == (100, 200 * MIB)


def test_scores_see_the_requests_of_the_pod_as_a_whole():
    whole = ResourceRequirements(requests={"cpu": "1", "memory": "1Gi"})
    assert scoring(container(), container(), resources=whole) == (1000, 1024 * MIB)


def test_beside_a_request_as_a_whole_only_what_nobody_asked_for_is_assumed():
    whole = ResourceRequirements(requests={"cpu": "1"})
    assert scoring(container(memory="5Mi"), container(), resources=whole) == (1000, 5 * MIB)
    assert scoring(container(), container(), resources=whole) == (1000, 400 * MIB)


def test_a_request_nobody_can_read_is_an_error():
    with pytest.raises(QuantityError, match="lots"):
        effective_requests(pod(cpu="lots"))


def node_with(**status):
    return node_allocatable(Node(status=NodeStatus(**status)))


def test_a_node_offers_what_is_allocatable():
    assert node_with(allocatable={"cpu": "3"}, capacity={"cpu": "4"}) == {"cpu": 3000}


def test_a_node_that_does_not_say_what_is_allocatable_offers_its_capacity():
    assert node_with(capacity={"cpu": "4"}) == {"cpu": 4000}


def test_what_nobody_can_read_the_node_does_not_offer():
    assert node_with(allocatable={"cpu": "lots", "memory": "1Ki"}) == {"cpu": 0, "memory": 1024}


@pytest.mark.parametrize(
    ("resource", "wanted", "offered"),
    [
        ("memory", "5Pi", "4Pi"),
        ("memory", "8E", "7E"),
        ("cpu", "2e13", "1e13"),
        ("example.com/bytes", "8E", "8E"),
    ],
)
def test_a_request_beyond_what_is_counted_fits_nowhere(resource, wanted, offered):
    small, large = (
        pod(name, containers=(container(**{resource: asked}),))
        for name, asked in (("small", "4"), ("large", wanted))
    )
    driving = Driver(node(**{resource: offered}), small, large)
    decisions = driving.decide()
    assert placements(decisions) == {"small": "n1"}
    assert f"1 Insufficient {resource}" in pod_reports(decisions)["large"][1]


def test_the_largest_amount_that_is_counted_fits_exactly():
    driving = Driver(node(memory="4Pi"), pod(containers=(container(memory="3Pi"), container(memory="1Pi"))))
    assert driving.bind() == {"p1": "n1"}


def test_containers_that_want_too_much_together_fit_nowhere():
    driving = Driver(node(memory="7E"), pod(containers=(container(memory="3Pi"), container(memory="3Pi"))))
    assert not driving.bind()


def test_nodes_of_equal_capacity_do_not_share_what_they_offer():
    first = node_allocatable(node("a", cpu="4"))
    first["cpu"] = 0
    assert node_allocatable(node("b", cpu="4"))["cpu"] == 4000
    assert node_allocatable(node("b", cpu="5"))["cpu"] == 5000
