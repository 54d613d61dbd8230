"""All rules, in the order in which they are asked. The first filter that refuses a node gives the reason."""

from posse.engine.contract import FilterRule, ScoreRule
from posse.engine.rules.least_allocated import LeastAllocated
from posse.engine.rules.node_affinity import NodeAffinity
from posse.engine.rules.node_unschedulable import NodeUnschedulable
from posse.engine.rules.resources_fit import ResourcesFit
from posse.engine.rules.taint_toleration import TaintToleration

FILTERS: tuple[FilterRule, ...] = (NodeUnschedulable(), TaintToleration(), NodeAffinity(), ResourcesFit())
SCORES: tuple[ScoreRule, ...] = (LeastAllocated(),)
