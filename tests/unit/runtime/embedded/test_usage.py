from posse.engine.nodes.resources import CPU, MEMORY
from posse.runtime.embedded.usage import GPU, NodeUsage, node_usage


def node(name, **allocatable):
    return {"metadata": {"name": name}, "status": {"allocatable": allocatable}}


def pod(node_name, requests, phase="Running"):
    containers = [{"name": "a", "resources": {"requests": requests}}, {"name": "b"}]
    return {"spec": {"nodeName": node_name, "containers": containers}, "status": {"phase": phase}}


def test_requests_add_up_by_node():
    nodes = [node("a", cpu="4", memory="1Ki", **{GPU: "8"}), node("b", cpu="500m")]
    pods = [
        pod("a", {"cpu": "1", GPU: "2"}),
        pod("a", {"cpu": "250m"}, "Pending"),
        pod("a", {"cpu": "1"}, "Succeeded"),
        pod(None, {"cpu": "1"}),
        pod("elsewhere", {"cpu": "1"}),
    ]
    assert list(node_usage(nodes, pods)) == [
        NodeUsage(
            "a",
            2,
            {CPU: 1250, MEMORY: 0, GPU: 2},
            {CPU: 4000, MEMORY: 1024, GPU: 8},
        ),
        NodeUsage("b", 0, {CPU: 0, MEMORY: 0, GPU: 0}, {CPU: 500, MEMORY: 0, GPU: 0}),
    ]


def test_a_pod_counts_as_the_scheduler_counts_it():
    made = pod("a", {"cpu": "1"})
    made["spec"] |= {
        "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "3"}}}],
        "overhead": {"cpu": "250m"},
    }
    (usage,) = node_usage([node("a", cpu="4")], [made])
    assert usage.used[CPU] == 3250


def test_odd_objects_do_not_break_the_view():
    nodes = [{"metadata": {"name": "bare"}}, node("odd", cpu="lots")]
    nodes += [{"metadata": {"name": "shapeless"}, "status": {"allocatable": 7}}]
    pods = [{"spec": {"nodeName": "odd", "containers": None}}, pod("odd", {"cpu": "lots"}), pod("odd", 7)]
    seen = [(usage.pods, usage.used[CPU], usage.total[CPU]) for usage in node_usage(nodes, pods)]
    assert seen == [(0, 0, 0), (3, 0, 0), (0, 0, 0)]
