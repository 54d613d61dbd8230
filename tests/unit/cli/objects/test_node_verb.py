import json
import time

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, labels: {app: web}}
spec: {nodeName: node-0002, containers: [{name: main, image: pause}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""
STRANGER = "{apiVersion: v1, kind: Node, metadata: {name: stranger}}"


def node(posse, kubeconfig, name):
    return json.loads(posse("get", "--kubeconfig", kubeconfig, "node", name, "-o", "json").out)


def test_a_node_is_told_to_fail_and_to_recover(posse, kubeconfig):
    where = ("--kubeconfig", kubeconfig)
    said = posse("node", "fail", "node-0001", "--how", "network", "--notice", "7", *where)
    assert said.out == 'node "node-0001" fails (network)\n'
    annotations = node(posse, kubeconfig, "node-0001")["metadata"]["annotations"]
    assert annotations == {"posse.dev/failure": "network", "posse.dev/notice-seconds": "7"}
    assert posse("node", "recover", "node-0001", *where).out == 'node "node-0001" recovers\n'
    assert not node(posse, kubeconfig, "node-0001")["metadata"].get("annotations")


def test_only_simulated_nodes_can_be_told_to_fail(posse, kubeconfig):
    where = ("--kubeconfig", kubeconfig)
    posse("apply", *where, "-f", "-", stdin=STRANGER)
    said = posse("node", "fail", "stranger", *where)
    assert said.code == 1
    assert 'node "stranger" is not simulated' in said.err


def test_draining_cordons_the_node_and_waits_for_budgets(posse, kubeconfig):
    where = ("--kubeconfig", kubeconfig)
    posse("apply", *where, "-f", "-", stdin=POD % "web")
    deadline = time.monotonic() + 20
    while "Running" not in posse("get", *where, "pods").out:
        assert time.monotonic() < deadline
    said = posse("node", "drain", "node-0002", "--timeout", "0", *where)
    assert node(posse, kubeconfig, "node-0002")["spec"]["unschedulable"] is True
    assert "1 pods stay on node-0002, such as default/web" in said.err
    assert "Cannot evict pod as it would violate the pod's disruption budget" in said.err
    posse("delete", *where, "pdb", "web")
    assert 'node "node-0002" is drained' in posse("node", "drain", "node-0002", *where).out
    posse("node", "recover", "node-0002", *where)
    assert "unschedulable" not in node(posse, kubeconfig, "node-0002")["spec"]
