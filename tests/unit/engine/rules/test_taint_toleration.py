from posse.engine.nodes.arrays import ALL_ROWS
from posse.engine.rules.taints import TaintPreference, TaintToleration
from tests.support.builders import node, pod, taint, toleration
from tests.support.engine_parts import accepted, compiled, reasons, state_of

RULE = TaintToleration()
NODES = (
    node("clean"),
    node("keeps-away", taints=[taint("gpu", "NoSchedule")]),
    node("drives-out", taints=[taint("gpu", "NoExecute")]),
    node("would-rather-not", taints=[taint("gpu", "PreferNoSchedule")]),
    node("two", taints=[taint("gpu", "NoSchedule"), taint("disk", "NoSchedule")]),
)


def chosen(*tolerations):
    return accepted(RULE, pod(tolerations=tolerations), *NODES)


def test_taints_keep_pods_away_unless_they_are_only_a_preference():
    assert chosen() == ["clean", "would-rather-not"]


def test_a_toleration_lets_a_pod_pass():
    assert chosen(toleration("gpu")) == ["clean", "keeps-away", "drives-out", "would-rather-not"]


def test_every_taint_must_be_tolerated():
    assert chosen(toleration("disk")) == ["clean", "would-rather-not"]
    assert "two" in chosen(toleration("disk"), toleration("gpu", effect="NoSchedule"))


def test_a_set_of_taints_first_seen_later_is_judged():
    state = state_of(*NODES)
    row_filter = compiled(RULE, pod(tolerations=(toleration("gpu"),)), state)
    assert row_filter.passes(ALL_ROWS)[0]
    row = state.nodes.put(node("clean", taints=[taint("net", "NoExecute")]))
    assert not row_filter.passes(ALL_ROWS)[row]


def test_a_first_taint_is_judged_though_all_nodes_were_without():
    state = state_of(node("a"), node("b"))
    row_filter, score = compiled(RULE, pod(), state), compiled(TaintPreference(), pod(), state)
    assert row_filter.passes(ALL_ROWS)[:2].tolist() == [True, True]
    assert score.raw(ALL_ROWS)[:2].tolist() == [0, 0]
    state.put_node(node("a", taints=[taint("gpu", "PreferNoSchedule"), taint("gpu", "NoSchedule")]))
    assert row_filter.passes(ALL_ROWS)[:2].tolist() == [False, True]
    assert score.raw(ALL_ROWS)[:2].tolist() == [1, 0]
    state.put_node(node("a"))
    assert row_filter.passes(ALL_ROWS)[:2].tolist() == [True, True]


def test_a_refusal_says_so_and_no_eviction_helps():
    row_filter = compiled(RULE, pod(), state_of(*NODES))
    assert reasons(row_filter, 1) == ["node(s) had untolerated taint(s)"]
    assert row_filter.unresolvable(ALL_ROWS)[1]
