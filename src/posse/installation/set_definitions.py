"""The definitions of JobSet and LeaderWorkerSet, for clusters where Posse controls them and their own
projects are not installed.

Their schemas follow from the structs, like those of groups. Templates of Jobs and pods pass as they are
written. Most defaults, and rules that compare fields, are left to the controller, which reports
on the object.
"""

from collections.abc import Collection

from posse.installation.crd_schemas import structural_schema
from posse.installation.crds import AGE, column, condition_path, definition
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import JOB_SET, LEADER_WORKER_SET
from posse.model.jobset import COMPLETED

SETS = (JOB_SET, LEADER_WORKER_SET)


def sets(controllers: Collection[str]) -> list[Kind]:
    return [kind for kind in SETS if kind.plural in controllers]


def set_definitions(controllers: Collection[str]) -> list[Json]:
    made = {JOB_SET: _job_set, LEADER_WORKER_SET: _leader_worker_set}
    return [made[kind]() for kind in sets(controllers)]


def _job_set() -> Json:
    columns = [
        column("TerminalState", "string", ".status.terminalState", "How it ended."),
        column("Restarts", "string", ".status.restarts", "How often it was started again."),
        column("Completed", "string", condition_path(COMPLETED, "status"), "Whether it has completed."),
        column("Suspended", "string", ".spec.suspend", "Whether it is suspended."),
        AGE,
    ]
    return definition(JOB_SET, columns, structural_schema(JOB_SET, JOB_SET.storage_version))


def _leader_worker_set() -> Json:
    columns = [
        column("Ready", "integer", ".status.readyReplicas", "Replicas of which all pods are ready."),
        column("Desired", "integer", ".spec.replicas", "Replicas that are asked for."),
        column("Up-to-date", "integer", ".status.updatedReplicas", "Replicas made from what it says now."),
        AGE,
    ]
    schema = structural_schema(LEADER_WORKER_SET, LEADER_WORKER_SET.storage_version)
    made = definition(LEADER_WORKER_SET, columns, schema)
    [version] = made["spec"]["versions"]
    version["subresources"]["scale"] = {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.hpaPodSelector",
    }
    return made
