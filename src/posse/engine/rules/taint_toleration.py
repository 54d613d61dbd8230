"""Taints with effect NoSchedule or NoExecute keep away pods that do not tolerate them."""

from posse.engine.rules.static_filter import StaticFilter
from posse.engine.scene import Scene, Subject
from posse.engine.tolerations import accepted_taints_test


class TaintToleration:
    name = "TaintToleration"

    def compile(self, subject: Subject, scene: Scene) -> StaticFilter:
        test = accepted_taints_test(scene.nodes, subject.pod_class.spec.tolerations)
        return StaticFilter("node(s) had untolerated taint(s)", test)
