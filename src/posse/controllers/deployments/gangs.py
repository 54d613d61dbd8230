"""The PodGroup of a ReplicaSet whose pod template asks for a gang.

Each revision of a Deployment has a ReplicaSet, so each has a group of its own, with the name of the set. The
minimum never exceeds the size of the set: a rolling update would wait for pods that it does not make yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from posse.controllers.steps import Create, Delete, Step, Write, is_deleting, owner_reference
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import POD_GROUP, REPLICA_SET
from posse.model.deployment import GANG, GANG_OF_ALL


@dataclass(slots=True)
class GangSteps:
    # Taken before pods are made.
    steps: list[Step] = field(default_factory=list)
    # The group that new pods join; empty for none.
    group: str = ""


def gang_steps(replica_set: Json, groups: Sequence[Json], *, has_pods: bool) -> GangSteps:
    """`groups` are those that the set owns."""
    minimum = _minimum(replica_set)
    if not minimum:
        # A group is deleted only after its last pod, because it stays until then anyway.
        idle = [each for each in groups if not has_pods and not is_deleting(each)]
        return GangSteps([Delete(POD_GROUP, each) for each in idle])
    if not groups:
        made = _new_group(replica_set, minimum)
        create = Create(POD_GROUP, made, failure="FailedPodGroupCreate", success="PodGroupCreated")
        return GangSteps([create], made["metadata"]["name"])
    result = GangSteps(group=groups[0]["metadata"]["name"])
    policy = {"gang": {"minCount": minimum}}
    if groups[0]["spec"]["schedulingPolicy"] != policy:
        changed = groups[0] | {"spec": groups[0]["spec"] | {"schedulingPolicy": policy}}
        result.steps.append(Write(POD_GROUP, changed))
    return result


def _minimum(replica_set: Json) -> int:
    """Return how many pods must start together; 0 if there is no gang, or the set is to have no pods."""
    spec = replica_set["spec"]
    asked = ((spec["template"].get("metadata") or {}).get("annotations") or {}).get(GANG)
    size = spec.get("replicas") or 0
    if asked is None:
        return 0
    return size if asked == GANG_OF_ALL else min(int(asked), size)


def _new_group(replica_set: Json, minimum: int) -> Json:
    metadata, spec = replica_set["metadata"], {"schedulingPolicy": {"gang": {"minCount": minimum}}}
    priority = replica_set["spec"]["template"]["spec"].get("priorityClassName")
    return {
        "apiVersion": POD_GROUP.api_version,
        "kind": POD_GROUP.name,
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "ownerReferences": [owner_reference(REPLICA_SET, replica_set)],
        },
        "spec": spec | ({"priorityClassName": priority} if priority else {}),
    }
