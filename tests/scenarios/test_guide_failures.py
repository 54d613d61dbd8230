"""Runs docs/guides/rehearsing-failures.md, and looks at what the cluster makes of each failure."""

from tests.scenarios.test_guides import ROOT, cluster, commands_of, listed, posse, running, wait_until, words

__all__ = ["cluster", "words"]

GUIDE = ROOT / "docs" / "guides" / "rehearsing-failures.md"


def ready(kubeconfig, name):
    [node] = [each for each in listed(kubeconfig, "nodes") if each["metadata"]["name"] == name]
    [condition] = [each for each in node["status"]["conditions"] if each["type"] == "Ready"]
    taints = {taint["key"].rpartition("/")[2] for taint in node["spec"].get("taints", ())}
    return condition["status"], taints


def names(pods):
    return {pod["metadata"]["name"] for pod in pods}


def pods_on(kubeconfig, node):
    return [pod for pod in listed(kubeconfig, "pods") if pod["spec"].get("nodeName") == node]


def members_on(kubeconfig, node):
    return {name for name in names(pods_on(kubeconfig, node)) if name.startswith("training")}


def test_failures_go_as_their_guide_says(cluster):
    for line in commands_of(GUIDE):
        posse(line, cluster)
        react(line, cluster)


def react(line, cluster):
    if "failures/gang.yaml" in line:
        wait_until(lambda: running(cluster, "training") == 4, "the gang")
    elif line == "posse node fail node-0001 --notice 2":
        wait_until(lambda: ready(cluster, "node-0001") == ("Unknown", {"unreachable"}), "the taint")
        wait_until(lambda: len(healthy(cluster) - members_on(cluster, "node-0001")) == 4, "the replacement")
        assert members_on(cluster, "node-0001") == leaving(cluster) != set()
    elif line.startswith("posse node recover"):
        name = line.split()[-1]
        wait_until(lambda: ready(cluster, name) == ("True", set()), "the return")
        wait_until(lambda: not leaving(cluster), "the end of evicted pods")
    elif "not-ready" in line:
        wait_until(lambda: ready(cluster, "node-0002") == ("False", {"not-ready"}), "the report")
    elif "failures/budget.yaml" in line:
        wait_until(lambda: running(cluster, "web") == 2, "the replicas")
    elif "drain" in line:
        wait_until(lambda: not pods_on(cluster, "node-0003"), "the end of its pods")


def healthy(kubeconfig):
    pods = [pod for pod in listed(kubeconfig, "pods") if pod["status"]["phase"] == "Running"]
    return {name for name in names(pods) if name.startswith("training")} - leaving(kubeconfig)


def leaving(kubeconfig):
    return names(pod for pod in listed(kubeconfig, "pods") if "deletionTimestamp" in pod["metadata"])
