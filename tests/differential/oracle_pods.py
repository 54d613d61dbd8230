"""What rules about other pods should answer, pod by pod in plain Python: ports, spreading, affinity between pods.

The world is a list of (node, pods on it). Written from the described behaviour of kube-scheduler, slow on purpose.
"""

import math

from tests.differential import oracle

HOSTNAME = "kubernetes.io/hostname"
NO_PORTS = "node(s) didn't have free ports for the requested pod ports"
SKEWED = "node(s) didn't match pod topology spread constraints"
NO_LABEL = f"{SKEWED} (missing required label)"
NOT_NEAR = "node(s) didn't match pod affinity rules"
TOO_NEAR = "node(s) didn't match pod anti-affinity rules"
UNWANTED = "node(s) didn't satisfy existing pods anti-affinity rules"


def selects(selector, labels):
    """Tell whether a label selector matches: an absent one nothing, an empty one everything."""
    if selector is None:
        return False
    return all(labels.get(key) == value for key, value in selector.match_labels.items()) and all(
        oracle.requirement_holds(requirement, labels) for requirement in selector.match_expressions
    )


# --- ports -----------------------------------------------------------------------------------------------------


def claimed_ports(pod):
    running = [*pod.spec.containers, *(c for c in pod.spec.init_containers if c.restart_policy == "Always")]
    return [
        (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
        for container in running
        for port in container.ports
        if port.host_port > 0
    ]


def lacks_ports(pod, neighbours):
    for address, *endpoint in claimed_ports(pod):
        for neighbour in neighbours:
            for taken_address, *taken in claimed_ports(neighbour):
                if endpoint == taken and ("0.0.0.0" in (address, taken_address) or address == taken_address):
                    return True
    return False


# --- spreading -------------------------------------------------------------------------------------------------


def constraints_of(pod, otherwise):
    return [c for c in pod.spec.topology_spread_constraints if c.when_unsatisfiable == otherwise]


def is_spread_with(pod, constraint, labels):
    """Tell whether the constraint's selector, narrowed by the pod's own labels, matches."""
    own = pod.metadata.labels
    return selects(constraint.label_selector, labels) and all(
        labels.get(key) == own[key] for key in constraint.match_label_keys if key in own
    )


def counted(pod, constraint, neighbours):
    """Return how many of the pods on a node count. A selector that says nothing at all counts nobody."""
    selector = constraint.label_selector
    narrowed = any(key in pod.metadata.labels for key in constraint.match_label_keys)
    if selector is not None and not selector.match_labels and not selector.match_expressions and not narrowed:
        return 0
    return sum(
        one.metadata.namespace == pod.metadata.namespace
        and not one.metadata.deletion_timestamp
        and is_spread_with(pod, constraint, one.metadata.labels)
        for one in neighbours
    )


def takes_part(pod, constraint, constraints, node):
    """Tell whether the node makes a domain of the constraint and its pods count."""
    if any(other.topology_key not in node.metadata.labels for other in constraints):
        return False
    if constraint.node_affinity_policy in (None, "Honor") and not oracle.is_matched(pod, node):
        return False
    return constraint.node_taints_policy != "Honor" or not oracle.is_repelled(pod, node)


def spread_refusal(pod, node, world):
    """Return the reason of the first constraint that refuses the node; an empty text if none does."""
    constraints = constraints_of(pod, "DoNotSchedule")
    for constraint in constraints:
        if constraint.topology_key not in node.metadata.labels:
            return NO_LABEL
        domains = {}
        for other, neighbours in world:
            if takes_part(pod, constraint, constraints, other):
                value = other.metadata.labels[constraint.topology_key]
                domains[value] = domains.get(value, 0) + counted(pod, constraint, neighbours)
        enough = len(domains) >= (constraint.min_domains or 1)
        emptiest = min(domains.values()) if domains and enough else 0
        itself = int(is_spread_with(pod, constraint, pod.metadata.labels))
        here = domains.get(node.metadata.labels[constraint.topology_key], 0)
        if here + itself - emptiest > constraint.max_skew:
            return SKEWED
    return ""


def spread_points(pod, world, feasible):
    """Return points by node name, for the names that are feasible; None if the pod does not care."""
    constraints = constraints_of(pod, "ScheduleAnyway")
    if not constraints:
        return None
    scored = [
        node
        for node, _ in world
        if node.metadata.name in feasible
        and all(constraint.topology_key in node.metadata.labels for constraint in constraints)
    ]
    crowds = {node.metadata.name: _crowd(pod, node, world, constraints, scored) for node in scored}
    points = dict.fromkeys(feasible, 0)
    most, least = max(crowds.values(), default=0), min(crowds.values(), default=0)
    for name, crowd in crowds.items():
        points[name] = 100 * (most + least - crowd) // most if most else 100
    return points


def _crowd(pod, node, world, constraints, scored):
    total = 0.0
    for constraint in constraints:
        key = constraint.topology_key
        value = node.metadata.labels[key]
        if key == HOSTNAME:
            domains = len(scored)
            count = sum(counted(pod, constraint, there) for other, there in world if other is node)
        else:
            domains = len({one.metadata.labels[key] for one in scored})
            count = sum(
                counted(pod, constraint, there)
                for other, there in world
                if takes_part(pod, constraint, constraints, other) and other.metadata.labels[key] == value
            )
        total += float(count) * math.log(domains + 2) + float(constraint.max_skew - 1)
    return math.floor(total + 0.5)


# --- affinity between pods -------------------------------------------------------------------------------------


def _terms(pod, kind, strictness):
    affinity = getattr(pod.spec.affinity, kind, None) if pod.spec.affinity is not None else None
    return getattr(affinity, f"{strictness}_during_scheduling_ignored_during_execution", ())


def required(pod):
    return _terms(pod, "pod_affinity", "required")


def forbidden(pod):
    return _terms(pod, "pod_anti_affinity", "required")


def preferred(pod):
    """Return (term, weight); what is rather avoided has a negative weight."""
    wishes = [(w.pod_affinity_term, w.weight) for w in _terms(pod, "pod_affinity", "preferred")]
    return wishes + [(w.pod_affinity_term, -w.weight) for w in _terms(pod, "pod_anti_affinity", "preferred")]


def term_matches(term, owner, other, namespaces):
    """Tell whether a term of the owner is about the other pod; `namespaces` holds their labels by name."""
    namespace = other.metadata.namespace
    if not term.namespaces and term.namespace_selector is None:
        right_place = namespace == owner.metadata.namespace
    else:
        right_place = namespace in term.namespaces or selects(
            term.namespace_selector, namespaces.get(namespace, {})
        )
    return right_place and selects(term.label_selector, other.metadata.labels)


def together(node, other, key):
    labels, theirs = node.metadata.labels, other.metadata.labels
    return key in labels and key in theirs and labels[key] == theirs[key]


def is_near(pod, node, world, namespaces):
    """Tell whether the node is where the pod's required terms want it to be."""
    terms = required(pod)
    companions = [
        other
        for other, neighbours in world
        for one in neighbours
        if all(term_matches(term, pod, one, namespaces) for term in terms)
    ]
    if any(term.topology_key not in node.metadata.labels for term in terms):
        return False
    if all(any(together(node, other, term.topology_key) for other in companions) for term in terms):
        return True
    nobody = not any(term.topology_key in other.metadata.labels for other in companions for term in terms)
    return nobody and all(term_matches(term, pod, pod, namespaces) for term in terms)


def affinity_refusal(pod, node, world, namespaces):
    if not is_near(pod, node, world, namespaces):
        return NOT_NEAR
    there = [(other, one) for other, neighbours in world for one in neighbours]
    for other, one in there:
        for term in forbidden(pod):
            if term_matches(term, pod, one, namespaces) and together(node, other, term.topology_key):
                return TOO_NEAR
    for other, one in there:
        for term in forbidden(one):
            if term_matches(term, one, pod, namespaces) and together(node, other, term.topology_key):
                return UNWANTED
    return ""


def pull(pod, node, world, namespaces):
    total = 0
    for other, neighbours in world:
        for one in neighbours:
            ours = [
                (term, weight) for term, weight in preferred(pod) if term_matches(term, pod, one, namespaces)
            ]
            wishes = [*preferred(one), *((term, 1) for term in required(one))]
            theirs = [(term, weight) for term, weight in wishes if term_matches(term, one, pod, namespaces)]
            total += sum(w for term, w in (*ours, *theirs) if together(node, other, term.topology_key))
    return total


def affinity_points(pod, world, feasible, namespaces):
    pulls = {
        node.metadata.name: pull(pod, node, world, namespaces)
        for node, _ in world
        if node.metadata.name in feasible
    }
    least, most = min(pulls.values()), max(pulls.values())
    return {
        name: int(100.0 * ((one - least) / (most - least))) if most > least else 0
        for name, one in pulls.items()
    }
