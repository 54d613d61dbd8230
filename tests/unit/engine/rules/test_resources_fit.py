from posse.engine.nodes.arrays import ALL_ROWS
from posse.engine.rules.resources import ResourcesFit
from tests.support.builders import node, pod
from tests.support.engine_parts import accepted, attached, compiled, reasons, state_of

GPU = "example.com/gpu"
RULE = ResourcesFit()


def test_a_node_needs_room_for_every_request():
    nodes = [node("small", cpu="1"), node("large", cpu="2"), node("thin", cpu="2", memory="1Mi")]
    assert accepted(RULE, pod(cpu="1500m", memory="1Gi"), *nodes) == ["large"]


def test_an_exact_fit_fits():
    assert accepted(RULE, pod(cpu="1"), node("a", cpu="1")) == ["a"]


def test_pods_on_the_node_take_room():
    state = state_of(node("a", cpu="1"))
    attached(state, pod("there", cpu="600m"), "a")
    fit = compiled(RULE, pod(cpu="500m"), state)
    assert not fit.passes(ALL_ROWS)[0]
    assert reasons(fit, 0) == ["Insufficient cpu"]


def test_a_pod_slot_is_needed_even_by_pods_that_ask_for_nothing():
    state = state_of(node("full", pods="0"))
    fit = compiled(RULE, pod(), state)
    assert not fit.passes(ALL_ROWS)[0]
    assert reasons(fit, 0) == ["Too many pods"]


def test_every_lacking_resource_is_named():
    state = state_of(node("a", cpu="1", memory="1Mi", pods="0"))
    fit = compiled(RULE, pod(cpu="2", memory="1Gi", requests={GPU: 1}), state)
    assert sorted(reasons(fit, 0)) == [
        "Insufficient cpu",
        f"Insufficient {GPU}",
        "Insufficient memory",
        "Too many pods",
    ]


def test_a_resource_the_pod_does_not_request_does_not_matter():
    state = state_of(node("a", cpu="1", memory="1Gi"))
    attached(state, pod("greedy", memory="4Gi"), "a")
    fit = compiled(RULE, pod(cpu="1"), state)
    assert fit.passes(ALL_ROWS)[0]


def test_it_is_hopeless_only_where_the_whole_node_would_not_do():
    state = state_of(node("a", cpu="2"), node("b", cpu="1"))
    attached(state, pod("there", cpu="1"), "a")
    fit = compiled(RULE, pod(cpu="2"), state)
    assert fit.passes(ALL_ROWS)[:2].tolist() == [False, False]
    assert fit.unresolvable(ALL_ROWS)[:2].tolist() == [False, True]
