"""What every rule of the engine should answer, one node and one pod at a time, in plain Python.

Written from the described behaviour of kube-scheduler, not from the engine, and slow on purpose: no columns, no
classes, no caches. A node's neighbours are the pods that are on it already.
"""

import math
import re
from fractions import Fraction

SUFFIXES = {"": 1, "m": Fraction(1, 1000), "k": 10**3, "M": 10**6, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}

UNSCHEDULABLE = "node(s) were unschedulable"
TAINTED = "node(s) had untolerated taint(s)"
NOT_NAMED = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
CONFLICT = "pod affinity terms conflict"
NO_MATCH = "node(s) didn't match Pod's node affinity/selector"


def units(resource, quantity):
    """Return CPU in thousandths and everything else in whole units, rounded up."""
    number, suffix = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(quantity)).groups()
    exact = Fraction(number) * SUFFIXES[suffix]
    return math.ceil(exact * 1000 if resource == "cpu" else exact)


def requests_of(containers, resource, default=None):
    """Return the sum over containers; those that do not name the resource count with the default."""
    total = 0
    for one in containers:
        if resource in one.resources.requests:
            total += units(resource, one.resources.requests[resource])
        elif default is not None:
            total += default
    return total


def resource_request(pod, resource, default=None):
    """Return what the pod needs of one resource: pod level first, else the larger of running and starting."""
    spec = pod.spec
    overhead = units(resource, spec.overhead[resource]) if resource in spec.overhead else 0
    if spec.resources is not None and resource in spec.resources.requests:
        return units(resource, spec.resources.requests[resource]) + overhead
    sidecars = [one for one in spec.init_containers if one.restart_policy == "Always"]
    needed = requests_of([*spec.containers, *sidecars], resource, default)
    for index, one in enumerate(spec.init_containers):
        earlier = [other for other in spec.init_containers[:index] if other.restart_policy == "Always"]
        needed = max(needed, requests_of([*earlier, one], resource, default))
    return needed + overhead


def named_resources(pod):
    spec = pod.spec
    pod_level = spec.resources.requests if spec.resources is not None else {}
    named = {*spec.overhead, *pod_level}
    for one in (*spec.containers, *spec.init_containers):
        named |= set(one.resources.requests)
    return sorted(named)


def effective_requests(pod):
    needed = {resource: resource_request(pod, resource) for resource in named_resources(pod)}
    return {resource: amount for resource, amount in {**needed, "pods": 1}.items() if amount > 0}


def scoring_request(pod, resource):
    """Return CPU or memory as scores see it: what a container does not ask for is assumed.

    Once the pod asks as a whole for anything, only what no container asks for is assumed.
    """
    pod_level = pod.spec.resources is not None and bool(pod.spec.resources.requests)
    if pod_level and resource in named_resources(pod):
        return resource_request(pod, resource)
    return resource_request(pod, resource, default={"cpu": 100, "memory": 200 * 2**20}[resource])


def allocatable(node, resource):
    offered = node.status.allocatable
    return units(resource, offered[resource]) if resource in offered else 0


def tolerates(pod, taint):
    for toleration in pod.spec.tolerations:
        right_effect = toleration.effect in ("", taint.effect)
        right_key = toleration.key in ("", taint.key)
        right_value = toleration.operator == "Exists" or (
            toleration.operator in ("", "Equal") and toleration.value == taint.value
        )
        if right_effect and right_key and right_value:
            return True
    return False


def is_cordoned_for(pod, node):
    cordon_tolerated = any(
        t.operator == "Exists"
        and t.key in ("", "node.kubernetes.io/unschedulable")
        and t.effect in ("", "NoSchedule")
        for t in pod.spec.tolerations
    )
    return node.spec.unschedulable and not cordon_tolerated


def is_repelled(pod, node):
    return any(
        taint.effect in ("NoSchedule", "NoExecute") and not tolerates(pod, taint)
        for taint in node.spec.taints
    )


def integer(text):
    """Return the number that Kubernetes reads in the text, None if it reads none."""
    if not re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII) or not -(2**63) <= int(text) < 2**63:
        return None
    return int(text)


def requirement_holds(requirement, labels):
    present = requirement.key in labels
    label = labels.get(requirement.key)
    if requirement.operator in ("Gt", "Lt"):
        have = integer(label) if present else None
        bound = integer(requirement.values[0])
        if have is None or bound is None:
            return False
        return have > bound if requirement.operator == "Gt" else have < bound
    return {
        "In": present and label in requirement.values,
        "NotIn": not present or label not in requirement.values,
        "Exists": present,
        "DoesNotExist": not present,
    }[requirement.operator]


def term_holds(term, node):
    if not term.match_expressions and not term.match_fields:
        return False
    name = {"metadata.name": node.metadata.name}
    return all(requirement_holds(r, node.metadata.labels) for r in term.match_expressions) and all(
        requirement_holds(r, name) for r in term.match_fields
    )


def required_affinity(pod):
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    return affinity.required_during_scheduling_ignored_during_execution if affinity else None


def names_allowed(term, universe):
    """Return which names of the universe the term's lists allow, None if it has no list."""
    lists = [r.values for r in term.match_fields if r.key == "metadata.name" and r.operator == "In"]
    return {name for name in universe if all(name in names for names in lists)} if lists else None


def pinned_names(pod):
    """Return the names that all terms together allow, None if one of them allows any."""
    required = required_affinity(pod)
    terms = required.node_selector_terms if required else ()
    universe = {name for term in terms for field in term.match_fields for name in field.values}
    allowed = [names_allowed(term, universe) for term in terms]
    return None if not allowed or None in allowed else set().union(*allowed)


def is_unnamed(pod, node):
    names = pinned_names(pod)
    return names is not None and node.metadata.name not in names


def is_matched(pod, node):
    if any(node.metadata.labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    required = required_affinity(pod)
    return required is None or any(term_holds(term, node) for term in required.node_selector_terms)


def lacking_resources(pod, node, neighbours):
    return [
        "Too many pods" if resource == "pods" else f"Insufficient {resource}"
        for resource, wanted in effective_requests(pod).items()
        if wanted > allocatable(node, resource) - used(neighbours, resource)
    ]


def used(neighbours, resource):
    return sum(effective_requests(pod).get(resource, 0) for pod in neighbours)


def refusals_by_description(pod, node):
    """Return the reason of the first rule that refuses the node for what it is, whatever pods are there."""
    if is_unnamed(pod, node):
        return [NOT_NAMED]
    if is_cordoned_for(pod, node):
        return [UNSCHEDULABLE]
    if is_repelled(pod, node):
        return [TAINTED]
    return [] if is_matched(pod, node) else [NO_MATCH]


def refusals(pod, node, neighbours):
    """Return the reasons of the first rule that refuses the node; none if the pod may go there.

    Of rules that look at the node and its resources alone, which is all that matters to pods without wishes
    about other pods.
    """
    return refusals_by_description(pod, node) or lacking_resources(pod, node, neighbours)


def is_hopeless(pod, node):
    """Tell whether the pod could not be on the node even if it were empty."""
    return bool(refusals(pod, node, []))


def verdict_message(pod, world):
    """Return what is said of a pod that fits nowhere; the world is a list of (node, pods on it)."""
    if not world:
        return "no nodes available to schedule pods"
    if pinned_names(pod) == set():
        return f"0/{len(world)} nodes are available: {CONFLICT}."
    counts = {}
    for node, neighbours in world:
        for reason in refusals(pod, node, neighbours):
            counts[reason] = counts.get(reason, 0) + 1
    reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    return f"0/{len(world)} nodes are available: {reasons}."
