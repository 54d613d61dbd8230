from posse.engine.nodes.arrays import ALL_ROWS
from posse.engine.rules.taints import NodeUnschedulable
from tests.support.builders import node, pod, toleration
from tests.support.engine_parts import accepted, compiled, reasons, state_of

RULE = NodeUnschedulable()
NODES = (node("open"), node("cordoned", unschedulable=True))
CORDON = "node.kubernetes.io/unschedulable"


def test_cordoned_nodes_take_no_pods():
    assert accepted(RULE, pod(), *NODES) == ["open"]


def test_a_toleration_of_the_cordon_lets_a_pod_pass():
    assert accepted(RULE, pod(tolerations=(toleration(CORDON),)), *NODES) == ["open", "cordoned"]
    assert accepted(RULE, pod(tolerations=(toleration(),)), *NODES) == ["open", "cordoned"]


def test_a_toleration_of_another_effect_does_not():
    only_running = toleration(CORDON, effect="NoExecute")
    assert accepted(RULE, pod(tolerations=(only_running,)), *NODES) == ["open"]


def test_a_refusal_says_so_and_no_eviction_helps():
    row_filter = compiled(RULE, pod(), state_of(*NODES))
    assert reasons(row_filter, 1) == ["node(s) were unschedulable"]
    assert row_filter.unresolvable(ALL_ROWS)[1]
