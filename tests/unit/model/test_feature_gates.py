import pytest

from posse.model.feature_gates import ALL_GATES, NEEDS, Gate, GateError, parse_gates


def refusal(*texts):
    with pytest.raises(GateError) as caught:
        parse_gates(texts)
    return str(caught.value)


def test_all_are_on_by_default():
    assert parse_gates([]) == ALL_GATES == frozenset(Gate)


@pytest.mark.parametrize(
    "texts",
    [
        ["DelayedPreemption=false,WorkloadWithJob=false"],
        ["DelayedPreemption=false", "WorkloadWithJob=false"],
        [" DelayedPreemption = f , WorkloadWithJob=0,", ""],
        ["DelayedPreemption=true", "GangScheduling=True,DelayedPreemption=FALSE,WorkloadWithJob=F"],
    ],
    ids=["commas", "repeated", "loosely", "the last counts"],
)
def test_gates_are_switched_off_by_name(texts):
    assert ALL_GATES - parse_gates(texts) == {Gate.DELAYED_PREEMPTION, Gate.WORKLOAD_WITH_JOB}


def test_an_unknown_gate_is_refused_with_those_that_are_known():
    message = refusal("GangSchedulling=false")
    assert message.startswith('there is no feature gate "GangSchedulling"; known are GenericWorkload, ')
    assert all(gate in message for gate in Gate)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "GangScheduling",
            "GangScheduling is neither on nor off; write GangScheduling=true or GangScheduling=false",
        ),
        ("GangScheduling=", 'GangScheduling is "", which is neither true nor false'),
        ("GangScheduling=no", 'GangScheduling is "no", which is neither true nor false'),
        ("GangScheduling=true=false", 'GangScheduling is "true=false", which is neither true nor false'),
    ],
)
def test_a_value_that_is_neither_true_nor_false_is_refused(text, message):
    assert refusal(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "TopologyAwareWorkloadScheduling=false",
            "CompositePodGroup needs TopologyAwareWorkloadScheduling, which is off; add CompositePodGroup=false",
        ),
        (
            "CompositePodGroup=true,TopologyAwareWorkloadScheduling=false",
            "CompositePodGroup needs TopologyAwareWorkloadScheduling, which is off; add CompositePodGroup=false",
        ),
        (
            "GangScheduling=false",
            "WorkloadAwarePreemption needs GangScheduling, which is off; add WorkloadAwarePreemption=false",
        ),
        (
            "GangScheduling=false,TopologyAwareWorkloadScheduling=false",
            (
                "WorkloadAwarePreemption needs GangScheduling, which is off; "
                "CompositePodGroup needs TopologyAwareWorkloadScheduling, which is off; "
                "add CompositePodGroup=false,WorkloadAwarePreemption=false"
            ),
        ),
    ],
)
def test_a_gate_that_needs_one_that_is_off_is_refused_by_both_names(text, message):
    assert refusal(text) == message


@pytest.mark.parametrize("gate", Gate)
def test_adding_what_the_refusal_says_is_enough(gate):
    text = f"{gate}=false"
    if any(gate in needed for needed in NEEDS.values()):
        text += "," + refusal(text).rpartition("; add ")[2]
    gates = parse_gates([text])
    assert gate not in gates
    assert all(needed in gates for one in Gate if one in gates for needed in NEEDS.get(one, ()))


def test_what_a_gate_needs_is_listed_to_the_end():
    assert all(set(NEEDS.get(needed, ())) <= set(needs) for needs in NEEDS.values() for needed in needs)
