"""What a rule from outside may use: the extension points, what they read, and the array types they speak.

Everything here keeps its name and meaning from one release to the next; the modules of `posse.engine` do not.
"""

from posse.engine.nodes.arrays import BoolArray, IntArray, Rows
from posse.engine.pods.domain_counts import domain_sums
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.contract import (
    ClusterScore,
    ClusterScoreRule,
    Filter,
    FilterRule,
    GroupPlacement,
    GroupRule,
    Precondition,
    PreconditionRule,
    RelativeScore,
    RelativeScoreRule,
    RowScore,
    RowScoreRule,
)

__all__ = [
    "BoolArray",
    "ClusterScore",
    "ClusterScoreRule",
    "Filter",
    "FilterRule",
    "GroupPlacement",
    "GroupRule",
    "IntArray",
    "Precondition",
    "PreconditionRule",
    "RelativeScore",
    "RelativeScoreRule",
    "RowScore",
    "RowScoreRule",
    "Rows",
    "RuleContext",
    "SchedulingClass",
    "domain_sums",
]
