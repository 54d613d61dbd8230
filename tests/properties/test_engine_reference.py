"""Whole decisions of single pods against a slow reference scheduler: the same node, or one with an equal total."""

from hypothesis import given
from hypothesis import strategies as st

from tests.differential import oracle, oracle_reference
from tests.differential.strategies_pods import NAMESPACES, objects_of, sociable_pods, worlds
from tests.support.builders import changed
from tests.support.engine_driver import Driver, placements, pod_reports


def named(pod, name):
    return changed(pod, metadata={"name": name, "uid": name})


def refusal_message(pod, world):
    if oracle.pinned_names(pod) == set():
        return f"0/{len(world)} nodes are available: {oracle.CONFLICT}."
    counts = {}
    for node, _ in world:
        for reason in oracle_reference.refusals(pod, node, world, NAMESPACES):
            counts[reason] = counts.get(reason, 0) + 1
    reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    return f"0/{len(world)} nodes are available: {reasons}."


@given(world=worlds(), newcomers=st.lists(sociable_pods(), min_size=1, max_size=4))
def test_each_pod_goes_where_the_reference_would_put_it(world, newcomers):
    """One after the other, each seeing those before it on their nodes."""
    driver = Driver(*objects_of(world))
    for index, drawn in enumerate(newcomers):
        pod = named(drawn, f"newcomer-{index}")
        expected = oracle_reference.totals(pod, world, NAMESPACES)
        driver.see(pod)
        decisions = driver.decide(after=1.0)
        chosen = placements(decisions).get(pod.metadata.name)
        if not expected:
            assert chosen is None
            _, message = pod_reports(decisions)[pod.metadata.name]
            assert message.startswith(refusal_message(pod, world))
            continue
        assert expected.get(chosen) == max(expected.values())
        there = next(pods for node, pods in world if node.metadata.name == chosen)
        there.append(changed(pod, spec={"node_name": chosen}))
