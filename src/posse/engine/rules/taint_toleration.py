"""Taints with effect NoSchedule or NoExecute keep away pods that do not tolerate them."""

from posse.engine.nodes.tolerations import accepted_taints_test
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.static_filter import StaticFilter


class TaintToleration:
    name = "TaintToleration"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> StaticFilter:
        test = accepted_taints_test(context.nodes, scheduling_class.pod_class.spec.tolerations)
        return StaticFilter("node(s) had untolerated taint(s)", test)
