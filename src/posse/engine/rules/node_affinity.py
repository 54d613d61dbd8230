"""The pod's nodeSelector and required node affinity."""

from posse.engine.node_selection import required_affinity_test
from posse.engine.rules.static_filter import StaticFilter
from posse.engine.scene import Scene, Subject


class NodeAffinity:
    name = "NodeAffinity"

    def compile(self, subject: Subject, scene: Scene) -> StaticFilter | None:
        test = required_affinity_test(scene.nodes, subject.pod_class.spec)
        if test is None:
            return None
        return StaticFilter("node(s) didn't match Pod's node affinity/selector", test)
