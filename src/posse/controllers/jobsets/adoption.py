"""What an earlier JobSet of the same name has left behind, because it was deleted without what it owned: it is taken over.

Only what was made for a JobSet of this name, as its label says, and is claimed by nobody. What people have made has no such
label. Jobs are not taken over: they and their pods say by their labels whose they are, and that they are in the way is told.
"""

from collections.abc import Iterator

from posse.controllers.jobsets.gang_standing import GangSurroundings
from posse.controllers.jobsets.names import JOBSET_NAME
from posse.controllers.steps import Write, adopted, controller_of, is_deleting
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import JOB_SET, SERVICE, WORKLOAD


def adoptions(obj: Json, around: GangSurroundings) -> Iterator[Write]:
    name = obj["metadata"]["name"]
    for workload in around.workloads:
        if _is_orphan(workload, name):
            yield Write(WORKLOAD, adopted(workload, JOB_SET, obj))
    if around.service is not None and _is_orphan(around.service, name):
        yield Write(SERVICE, adopted(around.service, JOB_SET, obj))
    for (kind, _), group in around.groups.items():
        if _is_orphan(group, name):
            yield Write(kind, adopted(group, JOB_SET, obj))


def _is_orphan(obj: Json, jobset: str) -> bool:
    labels = obj["metadata"].get("labels") or {}
    return labels.get(JOBSET_NAME) == jobset and not controller_of(obj) and not is_deleting(obj)
