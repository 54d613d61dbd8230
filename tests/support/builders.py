"""Terse makers of cluster objects for tests: only what a test says is set, everything else is ordinary."""

import itertools

import msgspec

from posse.model.container import Container, ResourceRequirements
from posse.model.meta import Condition, ObjectMeta
from posse.model.node import Node, NodeSpec, NodeStatus, Taint
from posse.model.placement import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Toleration,
)
from posse.model.pod import Pod, PodSchedulingGate, PodSchedulingGroup, PodSpec, PodStatus
from posse.model.priority_class import PriorityClass
from posse.model.workload import (
    BasicGroupSchedulingPolicy,
    BasicSchedulingPolicy,
    CompositeGangSchedulingPolicy,
    CompositePodGroup,
    CompositePodGroupSchedulingPolicy,
    CompositePodGroupSpec,
    CompositePodGroupStatus,
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    PodGroupStatus,
    SchedulingConstraints,
    TopologyConstraint,
    WorkloadReference,
)

NAMESPACE = "test"
SCHEDULER = "default-scheduler"
CREATED = "2026-01-01T00:00:00Z"


def node(
    name="n1", cpu="4", memory="8Gi", pods="110", *, labels=None, taints=(), unschedulable=False, **resources
):
    """Make a node; further resources are named with underscores or given as **{"example.com/gpu": 8}."""
    offered = {"cpu": cpu, "memory": memory, "pods": pods, **resources}
    return Node(
        metadata=ObjectMeta(name=name, uid=f"node-{name}", labels=labels or {}),
        spec=NodeSpec(taints=tuple(taints), unschedulable=unschedulable),
        status=NodeStatus(allocatable={key: value for key, value in offered.items() if value is not None}),
    )


def nodes(count, **description):
    return [node(f"n{i}", **description) for i in range(1, count + 1)]


def container(cpu=None, memory=None, *, sidecar=False, **resources):
    requests = {"cpu": cpu, "memory": memory, **resources}
    return Container(
        name="c",
        resources=ResourceRequirements(
            requests={key: value for key, value in requests.items() if value is not None}
        ),
        restart_policy="Always" if sidecar else "",
    )


def pod(name="p1", cpu=None, memory=None, *, on="", group="", created=CREATED, uid="", requests=None, **spec):
    """Make a pod with one container; keywords are fields of the spec, `phase` and `conditions` of the status."""
    status = PodStatus(phase=spec.pop("phase", "Pending"), conditions=spec.pop("conditions", ()))
    metadata = ObjectMeta(
        name=name,
        namespace=NAMESPACE,
        uid=uid or f"uid-{name}",
        creation_timestamp=created,
        deletion_timestamp=spec.pop("deleted", ""),
    )
    settings = {
        "scheduler_name": SCHEDULER,
        "containers": (container(cpu, memory, **(requests or {})),),
        "node_name": on,
        "scheduling_group": PodSchedulingGroup(pod_group_name=group) if group else None,
        **spec,
    }
    return Pod(metadata=metadata, spec=PodSpec(**settings), status=status)


def pods(count, first=1, **description):
    return [pod(f"p{i}", **description) for i in range(first, first + count)]


def gated(*gates):
    return tuple(PodSchedulingGate(name=gate) for gate in gates)


def gang(name="g1", minimum=2, *, uid="", conditions=(), **spec):
    return _podgroup(name, uid, conditions, gang=GangSchedulingPolicy(min_count=minimum), **spec)


def basic_group(name="g1", *, expected=None, uid="", conditions=(), **spec):
    return _podgroup(name, uid, conditions, basic=BasicSchedulingPolicy(desired_count=expected), **spec)


def _podgroup(name, uid, conditions, gang=None, basic=None, **spec):
    return PodGroup(
        metadata=ObjectMeta(name=name, namespace=NAMESPACE, uid=uid or f"group-{name}"),
        spec=PodGroupSpec(scheduling_policy=PodGroupSchedulingPolicy(basic=basic, gang=gang), **spec),
        status=PodGroupStatus(conditions=tuple(conditions)),
    )


def priority_class(name, value, **fields):
    return PriorityClass(metadata=ObjectMeta(name=name, uid=f"class-{name}"), value=value, **fields)


def one_domain(key="rack"):
    """Let all members of a group be in one domain of a node label."""
    return {"scheduling_constraints": SchedulingConstraints(topology=(TopologyConstraint(key=key),))}


def in_rack(rack, *names, **description):
    """Make nodes with the label of a rack; without one if the rack is empty."""
    labels = {"rack": rack} if rack else {}
    return [node(name, labels=labels, **description) for name in names]


def initially_scheduled(status, reason="", message=""):
    return Condition(type="PodGroupInitiallyScheduled", status=status, reason=reason, message=message)


def taint(key, effect="NoSchedule", value=""):
    return Taint(key=key, value=value, effect=effect)


def toleration(key="", operator="Exists", value="", effect=""):
    return Toleration(key=key, operator=operator, value=value, effect=effect)


def requirement(key, operator, *values):
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


def required_affinity(*terms):
    """Each term is a list of label requirements; `NodeSelectorTerm`s are taken as they are."""
    made = tuple(
        term if isinstance(term, NodeSelectorTerm) else NodeSelectorTerm(match_expressions=tuple(term))
        for term in terms
    )
    required = NodeSelector(node_selector_terms=made)
    return Affinity(node_affinity=NodeAffinity(required_during_scheduling_ignored_during_execution=required))


def changed(obj, **parts):
    """Return the object with fields of its parts replaced: spec={"node_name": "n1"} binds a pod."""
    replaced = {
        part: msgspec.structs.replace(getattr(obj, part), **fields) if isinstance(fields, dict) else fields
        for part, fields in parts.items()
    }
    return msgspec.structs.replace(obj, **replaced)


def interleaved(*sequences):
    """Return the first of each, then the second of each, and so on."""
    return [item for together in itertools.zip_longest(*sequences) for item in together if item is not None]


def composite(name="root", minimum=None, *, uid="", created=CREATED, conditions=(), **spec):
    """Make a group of groups: a gang with that minimum, or without one the basic policy."""
    gang_policy = CompositeGangSchedulingPolicy(min_group_count=minimum) if minimum is not None else None
    basic_policy = BasicGroupSchedulingPolicy() if minimum is None else None
    settings = {"workload_ref": WorkloadReference(workload_name="w", template_name="cpg"), **spec}
    return CompositePodGroup(
        metadata=ObjectMeta(
            name=name, namespace=NAMESPACE, uid=uid or f"composite-{name}", creation_timestamp=created
        ),
        spec=CompositePodGroupSpec(
            scheduling_policy=CompositePodGroupSchedulingPolicy(basic=basic_policy, gang=gang_policy),
            **settings,
        ),
        status=CompositePodGroupStatus(conditions=tuple(conditions)),
    )
