"""How full a node would be, one node and one resource at a time: the slow twins of the scores for room."""

import itertools
import math

from msgspec.structs import replace

from tests.differential import oracle

ALWAYS = ("cpu", "memory", "ephemeral-storage")
ASSUMED = {"cpu": 100, "memory": 200 * 2**20}


def container_request(pod, resource):
    """Return what the newcomer's containers and overhead come to, as if it asked for nothing as a whole."""
    alone = replace(pod, spec=replace(pod.spec, resources=None))
    return oracle.resource_request(alone, resource, default=ASSUMED.get(resource))


def used_by(pod, resource):
    """Return what a pod on a node counts for."""
    if resource in ASSUMED:
        return oracle.scoring_request(pod, resource)
    return oracle.effective_requests(pod).get(resource, 0)


def is_counted(resource, wanted):
    return resource in ALWAYS or ("/" in resource and wanted > 0)


def utilization(pod, node, neighbours, resources):
    """Yield weight, use with the pod, and capacity of every resource that counts on this node."""
    for resource, weight in resources:
        wanted = container_request(pod, resource)
        capacity = oracle.allocatable(node, resource)
        if is_counted(resource, wanted) and capacity > 0:
            yield weight, wanted + sum(used_by(one, resource) for one in neighbours), capacity


def least_allocated(pod, node, neighbours, resources):
    total = weights = 0
    for weight, used, capacity in utilization(pod, node, neighbours, resources):
        total += weight * ((capacity - used) * 100 // capacity if used <= capacity else 0)
        weights += weight
    return total // weights if weights else 0


def most_allocated(pod, node, neighbours, resources):
    total = weights = 0
    for weight, used, capacity in utilization(pod, node, neighbours, resources):
        total += weight * (min(used, capacity) * 100 // capacity)
        weights += weight
    return total // weights if weights else 0


def on_shape(shape, percent):
    """Return the score of a shape given as (utilization, score from 0 to 100)."""
    if percent <= shape[0][0]:
        return shape[0][1]
    for (low, start), (high, end) in itertools.pairwise(shape):
        if percent <= high:
            return start + math.trunc((end - start) * (percent - low) / (high - low))
    return shape[-1][1]


def requested_to_capacity_ratio(pod, node, neighbours, resources, shape):
    total = weights = 0
    for weight, used, capacity in utilization(pod, node, neighbours, resources):
        score = on_shape(shape, 100 if used > capacity else used * 100 // capacity)
        if score > 0:
            total += weight * score
            weights += weight
    return math.floor(total / weights + 0.5) if weights else 0


def balance(amounts, capacities):
    fractions = [min(a / c, 1.0) for a, c in zip(amounts, capacities, strict=True)]
    deviation = 0.0
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        mean = sum(fractions) / len(fractions)
        squares = 0.0
        for fraction in fractions:
            squares += (fraction - mean) * (fraction - mean)
        deviation = math.sqrt(squares / len(fractions))
    return int((1 - deviation) * 100)


def balanced_allocation(pod, node, neighbours, resources):
    """Return None where the pod asks for none of the resources."""
    wanted = {name: oracle.effective_requests(pod).get(name, 0) for name in resources}
    if not any(wanted.values()):
        return None
    before, after, capacities = [], [], []
    for name in resources:
        capacity = oracle.allocatable(node, name)
        if is_counted(name, wanted[name]) and capacity > 0:
            before.append(oracle.used(neighbours, name))
            after.append(before[-1] + wanted[name])
            capacities.append(capacity)
    return 50 + (50 + balance(after, capacities) - balance(before, capacities)) // 2
