"""Where a pod may and would rather go: node selectors, affinity, tolerations, topology spread.

Shapes only. Whether a node satisfies a requirement is said by `posse.model.selectors` and by the engine.
"""

from typing import Annotated

from posse.model.constraints import OPAQUE, PRESENT, Between, Minimum, OneOf, Required
from posse.model.formats import dns_label, label_key
from posse.model.meta import OPERATOR_TEXT, Int32, Int64, LabelSelector, Shape
from posse.model.node import TAINT_EFFECTS

DO_NOT_SCHEDULE = "DoNotSchedule"

Weight = Annotated[Int32, PRESENT, Between(1, 100, "must be in the range 1-100")]
TopologyKey = Annotated[str, Required("can not be empty"), label_key]
LabelKeys = Annotated[tuple[str, ...], label_key]
_AtLeastOne = Minimum(1, "must be greater than zero")


class NodeSelectorRequirement(Shape):
    key: Annotated[str, PRESENT, label_key] = ""
    operator: Annotated[
        str, OneOf(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"), text=OPERATOR_TEXT)
    ] = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(Shape):
    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: Annotated[tuple[NodeSelectorRequirement, ...], OPAQUE] = ()


class NodeSelector(Shape):
    node_selector_terms: Annotated[
        tuple[NodeSelectorTerm, ...], Required("must have at least one node selector term")
    ] = ()


class PreferredSchedulingTerm(Shape):
    weight: Weight = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Shape):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()


class PodAffinityTerm(Shape):
    label_selector: LabelSelector | None = None
    namespaces: Annotated[tuple[str, ...], dns_label] = ()
    topology_key: TopologyKey = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: LabelKeys = ()
    mismatch_label_keys: LabelKeys = ()


class WeightedPodAffinityTerm(Shape):
    weight: Weight = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Shape):
    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class PodAntiAffinity(Shape):
    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(Shape):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class Toleration(Shape):
    key: Annotated[str, label_key] = ""
    operator: Annotated[str, OneOf(("Equal", "Exists"), unlisted=("",))] = ""
    value: str = ""
    effect: Annotated[str, OneOf(TAINT_EFFECTS, unlisted=("",))] = ""
    toleration_seconds: Int64 | None = None


class TopologySpreadConstraint(Shape):
    max_skew: Annotated[Int32, _AtLeastOne] = 0
    topology_key: TopologyKey = ""
    when_unsatisfiable: Annotated[str, OneOf((DO_NOT_SCHEDULE, "ScheduleAnyway"))] = ""
    label_selector: LabelSelector | None = None
    min_domains: Annotated[Int32 | None, _AtLeastOne] = None
    node_affinity_policy: Annotated[str | None, OneOf(("Honor", "Ignore"))] = None
    node_taints_policy: Annotated[str | None, OneOf(("Honor", "Ignore"))] = None
    match_label_keys: LabelKeys = ()
