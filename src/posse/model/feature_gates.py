"""Feature gates: which capabilities are enabled, by their Kubernetes names. In Posse all are by default.

What a gate disables is implemented where it applies; here are only their names, what each needs, and how
settings are read. Gates are passed as a plain value: the set of those that are on.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum


class Gate(StrEnum):
    GENERIC_WORKLOAD = "GenericWorkload"
    GANG_SCHEDULING = "GangScheduling"
    TOPOLOGY_AWARE_WORKLOAD_SCHEDULING = "TopologyAwareWorkloadScheduling"
    COMPOSITE_POD_GROUP = "CompositePodGroup"
    WORKLOAD_AWARE_PREEMPTION = "WorkloadAwarePreemption"
    DELAYED_PREEMPTION = "DelayedPreemption"
    WORKLOAD_BASIC_POLICY_DESIRED_COUNT = "WorkloadBasicPolicyDesiredCount"
    POD_GROUP_PREEMPTION_POLICY = "PodGroupPreemptionPolicy"
    WORKLOAD_WITH_JOB = "WorkloadWithJob"


Gates = frozenset[Gate]
"""Those that are on."""

ALL_GATES: Gates = frozenset(Gate)

NEEDS: Mapping[Gate, tuple[Gate, ...]] = {
    Gate.GANG_SCHEDULING: (Gate.GENERIC_WORKLOAD,),
    Gate.TOPOLOGY_AWARE_WORKLOAD_SCHEDULING: (Gate.GENERIC_WORKLOAD,),
    Gate.COMPOSITE_POD_GROUP: (Gate.GENERIC_WORKLOAD, Gate.TOPOLOGY_AWARE_WORKLOAD_SCHEDULING),
    Gate.WORKLOAD_AWARE_PREEMPTION: (Gate.GENERIC_WORKLOAD, Gate.GANG_SCHEDULING),
    Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT: (Gate.GENERIC_WORKLOAD,),
    Gate.POD_GROUP_PREEMPTION_POLICY: (Gate.GENERIC_WORKLOAD,),
    Gate.WORKLOAD_WITH_JOB: (Gate.GENERIC_WORKLOAD,),
}
"""What a gate needs to be on, also by way of others; one that is missing here needs nothing."""

_ON = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_OFF = frozenset({"0", "f", "F", "FALSE", "false", "False"})


class GateError(Exception):
    """The settings cannot be used; the message says which, and what would do."""


def parse_gates(texts: Iterable[str]) -> Gates:
    """Read settings such as `A=true,B=false`; of several for one gate the last counts."""
    settings = dict.fromkeys(Gate, True)
    for text in texts:
        for item in filter(None, map(str.strip, text.split(","))):
            gate, is_on = _setting(item)
            settings[gate] = is_on
    gates = frozenset(gate for gate, is_on in settings.items() if is_on)
    _check_needs(gates)
    return gates


def _setting(item: str) -> tuple[Gate, bool]:
    name, equals, value = (part.strip() for part in item.partition("="))
    if name not in ALL_GATES:
        raise GateError(f'there is no feature gate "{name}"; known are {", ".join(Gate)}')
    if not equals:
        raise GateError(f"{name} is neither on nor off; write {name}=true or {name}=false")
    if value not in _ON | _OFF:
        raise GateError(f'{name} is "{value}", which is neither true nor false')
    return Gate(name), value in _ON


def _check_needs(gates: Gates) -> None:
    sentences, stranded = [], dict[Gate, None]()
    for missing in (gate for gate in Gate if gate not in gates):
        needing = [gate for gate in Gate if gate in gates and missing in NEEDS.get(gate, ())]
        if needing:
            verb = "needs" if len(needing) == 1 else "need"
            sentences.append(f"{', '.join(needing)} {verb} {missing}, which is off")
            stranded |= dict.fromkeys(needing)
    if stranded:
        additions = ",".join(f"{gate}=false" for gate in Gate if gate in stranded)
        raise GateError(f"{'; '.join(sentences)}; add {additions}")
