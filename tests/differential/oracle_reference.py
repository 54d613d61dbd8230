"""A slow reference scheduler: every filter, every score, weights and normalisation, for one pod and the whole world.

The world is a list of (node, pods on it). A node's total is None where the pod may not go.
"""

from tests.differential import oracle, oracle_pods, resource_scores

CPU_AND_MEMORY = (("cpu", 1), ("memory", 1))
MEBIBYTE = 2**20


def refusals(pod, node, world, namespaces):
    """Return the reasons of the first rule that refuses the node; none if the pod may go there."""
    neighbours = next(there for other, there in world if other is node)
    if reasons := oracle.refusals_by_description(pod, node):
        return reasons
    if oracle_pods.lacks_ports(pod, neighbours):
        return [oracle_pods.NO_PORTS]
    if reasons := oracle.lacking_resources(pod, node, neighbours):
        return reasons
    reason = oracle_pods.spread_refusal(pod, node, world) or oracle_pods.affinity_refusal(
        pod, node, world, namespaces
    )
    return [reason] if reason else []


def feasible_names(pod, world, namespaces):
    return [node.metadata.name for node, _ in world if not refusals(pod, node, world, namespaces)]


def row_points(pod, node, neighbours, node_count=1, holders=None):
    """Return what the node's own resources, pods and images are worth."""
    return (
        resource_scores.least_allocated(pod, node, neighbours, CPU_AND_MEMORY)
        + (resource_scores.balanced_allocation(pod, node, neighbours, ("cpu", "memory")) or 0)
        + image_points(pod, node, node_count, holders or {})
    )


def image_name(name):
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def images_on(node):
    return {name: image.size_bytes for image in node.status.images for name in image.names}


def image_points(pod, node, node_count, holders):
    used = [image_name(one.image) for one in (*pod.spec.init_containers, *pod.spec.containers)]
    held = images_on(node)
    total = sum(int(held[name] * (holders[name] / node_count)) for name in used if name in held)
    least, most = 23 * MEBIBYTE, 1000 * MEBIBYTE * len(used)
    return 100 * (min(max(total, least), most) - least) // (most - least)


def untolerated(pod, node):
    return sum(
        taint.effect == "PreferNoSchedule" and not oracle.tolerates(pod, taint) for taint in node.spec.taints
    )


def taint_points(pod, nodes):
    counts = [untolerated(pod, node) for node in nodes]
    most = max(counts)
    return [100 - count * 100 // most if most else 100 for count in counts]


def wished(pod, node):
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    preferred = affinity.preferred_during_scheduling_ignored_during_execution if affinity else ()
    return sum(one.weight for one in preferred if oracle.term_holds(one.preference, node))


def preference_points(pod, nodes):
    weights = [wished(pod, node) for node in nodes]
    most = max(weights)
    return [weight * 100 // most if most else 0 for weight in weights]


def totals(pod, world, namespaces=None):
    """Return the total of every node that may take the pod, by name."""
    namespaces = namespaces or {}
    names = feasible_names(pod, world, namespaces)
    if not names:
        return {}
    places = [(node, there) for node, there in world if node.metadata.name in names]
    nodes = [node for node, _ in places]
    holders = {}
    for node, _ in world:
        for image in images_on(node):
            holders[image] = holders.get(image, 0) + 1
    spread = oracle_pods.spread_points(pod, world, names) or dict.fromkeys(names, 0)
    near = oracle_pods.affinity_points(pod, world, names, namespaces)
    taints, wishes = taint_points(pod, nodes), preference_points(pod, nodes)
    return {
        node.metadata.name: row_points(pod, node, there, len(world), holders)
        + 3 * taints[index]
        + 2 * wishes[index]
        + 2 * spread[node.metadata.name]
        + 2 * near[node.metadata.name]
        for index, (node, there) in enumerate(places)
    }
