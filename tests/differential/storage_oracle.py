"""What every rule about storage should answer, one pod and one node at a time, in plain Python.

Written from the described behaviour of kube-scheduler, not from the engine, and slow on purpose. What a placed pod is
promised is written into the objects of the world, as if the cluster showed it at once.
"""

import msgspec

from posse.model.meta import ObjectReference

SIZES = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
ZONES = [
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
]
SELECTED = "volume.kubernetes.io/selected-node"

IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
    "already in-use by another pod"
)
FULL = "node(s) exceed max volume count"
OUT_OF_REACH = "node(s) didn't match PersistentVolume's node affinity"
NONE_TO_BIND = "node(s) didn't find available persistent volumes to bind"
NO_SUCH_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
ELSEWHERE = "node(s) had no available volume zone"


class World:
    """All objects by name, and the pods that are on nodes, as (pod, name of the node)."""

    def __init__(self, nodes=(), claims=(), volumes=(), classes=(), csi_nodes=(), csi_drivers=()):
        self.nodes = list(nodes)
        self.claims, self.volumes, self.classes, self.csi_nodes, self.csi_drivers = (
            {obj.metadata.name: obj for obj in objects}
            for objects in (claims, volumes, classes, csi_nodes, csi_drivers)
        )
        self.there = []

    def objects(self):
        kinds = (self.classes, self.csi_nodes, self.csi_drivers, self.volumes, self.claims)
        return [*self.nodes, *(obj for objects in kinds for obj in objects.values())]

    def place(self, pod, node):
        """Put the pod on the node and give its claims what they find there."""
        for name, volume_name in bindings(pod, node, self).items():
            claim = self.claims[name]
            if volume_name is None:
                annotations = claim.metadata.annotations | {SELECTED: node.metadata.name}
                metadata = msgspec.structs.replace(claim.metadata, annotations=annotations)
                self.claims[name] = msgspec.structs.replace(claim, metadata=metadata)
            else:
                known = self.volumes[volume_name]
                reference = ObjectReference(
                    namespace=claim.metadata.namespace, name=name, uid=claim.metadata.uid
                )
                spec = msgspec.structs.replace(known.spec, claim_ref=reference)
                self.volumes[volume_name] = msgspec.structs.replace(known, spec=spec)
        self.there.append((pod, node.metadata.name))


def bytes_of(quantity):
    return int(quantity[:-2]) * SIZES[quantity[-2:]]


def size(claim):
    return bytes_of(claim.spec.resources.requests["storage"])


def capacity(volume):
    return bytes_of(volume.spec.capacity["storage"])


def claim_names(pod):
    return [v.persistent_volume_claim.claim_name for v in pod.spec.volumes if v.persistent_volume_claim]


def is_bound(claim):
    return bool(claim.spec.volume_name) and "pv.kubernetes.io/bind-completed" in claim.metadata.annotations


def is_late(claim, world):
    known = world.classes.get(claim.spec.storage_class_name)
    return (
        known is not None
        and known.volume_binding_mode == "WaitForFirstConsumer"
        and not claim.spec.volume_name
    )


def objection(pod, world):
    """What keeps the pod from going anywhere."""
    names = claim_names(pod)
    for name in names:
        if name not in world.claims:
            return f'persistentvolumeclaim "{name}" not found'
    for name in names:
        claim = world.claims[name]
        if claim.status.phase == "Lost":
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
        if claim.metadata.deletion_timestamp:
            return f'persistentvolumeclaim "{name}" is being deleted'
    for name in names:
        claim = world.claims[name]
        if not is_bound(claim) and not is_late(claim, world):
            return "pod has unbound immediate PersistentVolumeClaims"
    for name in names:
        wanted = world.claims[name].spec.volume_name
        if wanted and wanted not in world.volumes:
            return f'persistentvolume "{wanted}" not found'
    return ""


def requirement_holds(requirement, labels):
    value = labels.get(requirement.key)
    return {
        "In": value in requirement.values,
        "NotIn": value not in requirement.values,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }[requirement.operator]


def reaches(volume, node):
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return any(
        term.match_expressions
        and all(requirement_holds(r, node.metadata.labels) for r in term.match_expressions)
        for term in affinity.required.node_selector_terms
    )


def sharing(pod, node, world):
    """VolumeRestrictions, as far as claims go."""
    for name in claim_names(pod):
        claim = world.claims.get(name)
        exclusive = claim is not None and "ReadWriteOncePod" in claim.spec.access_modes
        if exclusive and any(name in claim_names(other) for other, _ in world.there):
            return [IN_USE]
    return []


def csi_volumes(pod, world):
    found = set()
    for name in claim_names(pod):
        claim = world.claims.get(name)
        if claim is None:
            continue
        behind = world.volumes.get(claim.spec.volume_name)
        known = world.classes.get(claim.spec.storage_class_name)
        if behind is not None:
            if behind.spec.csi:
                found.add((behind.spec.csi["driver"], behind.spec.csi["volumeHandle"]))
        elif known is not None:
            found.add((known.provisioner, f"{claim.metadata.namespace}/{name}"))
    return found


def limits(pod, node, world):
    """NodeVolumeLimits: the first driver that is not there, or that is full."""
    wanted = csi_volumes(pod, world)
    known = world.csi_nodes.get(node.metadata.name)
    drivers = {d.name: d for d in known.spec.drivers} if known is not None else {}
    for driver in sorted({driver for driver, _ in wanted}):
        insisting = world.csi_drivers.get(driver)
        if (
            insisting is not None
            and insisting.spec.prevent_pod_scheduling_if_missing
            and driver not in drivers
        ):
            return [f"{driver} CSI driver is not installed on the node"]
    attached = set()
    for other, name in world.there:
        if name == node.metadata.name:
            attached |= csi_volumes(other, world)
    for driver in {driver for driver, _ in wanted - attached}:
        allocatable = drivers[driver].allocatable if driver in drivers else None
        if allocatable is not None and allocatable.count is not None:
            after = [one for one in attached | wanted if one[0] == driver]
            if len(after) > allocatable.count:
                return [FULL]
    return []


def is_for(volume, claim):
    reference = volume.spec.claim_ref
    return (
        reference is not None
        and reference.name == claim.metadata.name
        and reference.namespace == claim.metadata.namespace
        and reference.uid in ("", claim.metadata.uid)
    )


def find_volume(claim, node, world, taken):
    """The volume the claim would get on the node, or None."""
    smallest = None
    for volume in sorted(world.volumes.values(), key=lambda v: (capacity(v), v.metadata.name)):
        if volume.spec.storage_class_name != claim.spec.storage_class_name or volume.metadata.name in taken:
            continue
        if volume.spec.claim_ref is not None and not is_for(volume, claim):
            continue
        if capacity(volume) < size(claim) or volume.metadata.deletion_timestamp:
            continue
        if (volume.spec.volume_mode or "Filesystem") != (claim.spec.volume_mode or "Filesystem"):
            continue
        if is_for(volume, claim):
            return volume if reaches(volume, node) else None
        if volume.status.phase != "Available" or not reaches(volume, node):
            continue
        wanted = claim.spec.selector.match_labels if claim.spec.selector is not None else {}
        if any(volume.metadata.labels.get(key) != value for key, value in wanted.items()):
            continue
        if not set(claim.spec.access_modes) <= set(volume.spec.access_modes):
            continue
        if smallest is None:
            smallest = volume
    return smallest


def can_be_made(claim, node, world):
    known = world.classes[claim.spec.storage_class_name]
    if known.provisioner == "kubernetes.io/no-provisioner":
        return False
    return not known.allowed_topologies or any(
        all(node.metadata.labels.get(e.key) in e.values for e in term.match_label_expressions)
        for term in known.allowed_topologies
        if term.match_label_expressions
    )


def bindings(pod, node, world):
    """What each unbound claim gets on the node: the name of a volume, None if one is made; no answer if neither."""
    claims = [world.claims[name] for name in dict.fromkeys(claim_names(pod))]
    late = [claim for claim in claims if not is_bound(claim)]
    selected = {c.metadata.name: c.metadata.annotations.get(SELECTED) for c in late}
    if any(chosen not in (None, node.metadata.name) for chosen in selected.values()):
        return None
    found = {}
    for claim in sorted(late, key=size):
        name = claim.metadata.name
        volume = None if selected[name] else find_volume(claim, node, world, set(found.values()))
        if volume is None and not can_be_made(claim, node, world):
            return None
        found[name] = volume.metadata.name if volume is not None else None
    return found


def binding(pod, node, world):
    """VolumeBinding, for a pod that nothing keeps from going anywhere."""
    reasons = []
    for claim in [world.claims[name] for name in claim_names(pod)]:
        if is_bound(claim):
            volume = world.volumes.get(claim.spec.volume_name)
            if volume is None:
                reasons.append(NO_SUCH_VOLUME)
                break
            if not reaches(volume, node):
                reasons.append(OUT_OF_REACH)
                break
    if bindings(pod, node, world) is None:
        reasons.append(NONE_TO_BIND)
    return reasons


def zone(pod, node, world):
    labels = node.metadata.labels
    if not any(key in labels for key in ZONES):
        return []
    for name in claim_names(pod):
        volume = world.volumes.get(world.claims[name].spec.volume_name)
        for key in ZONES if volume is not None else ():
            if key not in volume.metadata.labels:
                continue
            values = [value.strip() for value in volume.metadata.labels[key].split("__")]
            here = labels.get(key, labels.get(key.replace("failure-domain.beta", "topology")))
            if "" not in values and here not in values:
                return [ELSEWHERE]
    return []


def points(pod, node, world):
    """The score of VolumeBinding, for a node where the pod may go."""
    classes = {}
    for name, volume_name in bindings(pod, node, world).items():
        if volume_name is not None:
            amounts = classes.setdefault(world.claims[name].spec.storage_class_name, [0, 0])
            amounts[0] += size(world.claims[name])
            amounts[1] += capacity(world.volumes[volume_name])
    if not classes:
        return 0
    each = [100 - wanted * 100 // offered for wanted, offered in classes.values()]
    return int(sum(each) / len(each) + 0.5)


def feasible(pod, world):
    """Names of the nodes where every rule lets the pod go."""
    if objection(pod, world):
        return []
    rules = (sharing, limits, binding, zone)
    return [node.metadata.name for node in world.nodes if not any(rule(pod, node, world) for rule in rules)]
