"""The definitions of JobSet and LeaderWorkerSet, for clusters where Posse controls them and their own
projects are not installed.

They say as much of the shape as an API server needs to serve the kinds. Templates of Jobs and pods pass as
they are written; what is filled in, and most of what cannot be, is left to the controller, which tells it on
the object.
"""

from collections.abc import Collection

from posse.installation.crds import AGE, column, condition_path, definition
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import JOB_SET, LEADER_WORKER_SET
from posse.model.jobset import COMPLETED, GANG, GANG_OFF, REPLICATED_GANG
from posse.model.leader_worker_set import LEADER_CREATED, LEADER_READY

SETS = (JOB_SET, LEADER_WORKER_SET)
_JOBS_MAX = 1000
_KEY_LENGTH_MAX = 317
_TEXT: Json = {"type": "string"}
_COUNT: Json = {"type": "integer", "format": "int32", "minimum": 0}
_ANYTHING: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_FIXED_GANGS: Json = {
    "rule": "has(self.gangConfig) == has(oldSelf.gangConfig) && "
    "(!has(self.gangConfig) || self.gangConfig == oldSelf.gangConfig)",
    "message": "gangConfig is fixed at creation",
}


def sets(controllers: Collection[str]) -> list[Kind]:
    return [kind for kind in SETS if kind.plural in controllers]


def set_definitions(controllers: Collection[str]) -> list[Json]:
    made = {JOB_SET: _job_set, LEADER_WORKER_SET: _leader_worker_set}
    return [made[kind]() for kind in sets(controllers)]


def _object(properties: Json, **keywords: object) -> Json:
    return {"type": "object", "properties": properties, **keywords}


def _schema(kind: Kind, spec: Json) -> Json:
    return _object(
        {
            "apiVersion": _TEXT,
            "kind": _TEXT,
            "metadata": {"type": "object"},
            "spec": spec,
            "status": _ANYTHING,
        },
        description=(kind.struct.__doc__ or "").strip(),
        required=["spec"],
    )


def _gang_config(*modes: str) -> Json:
    topology = {
        "type": "array",
        "maxItems": 1,
        "items": _object({"key": _TEXT | {"maxLength": _KEY_LENGTH_MAX}}, required=["key"]),
    }
    return _object(
        {
            "gangMode": _TEXT | {"enum": list(modes)},
            "schedulingConstraints": _object({"topology": topology}),
            "disruptionMode": _object({"single": {"type": "object"}, "all": {"type": "object"}}),
        }
    )


def _job_set() -> Json:
    replicated_job = _object(
        {
            "name": _TEXT | {"maxLength": 63},
            "groupName": _TEXT,
            "replicas": _COUNT,
            "template": _ANYTHING,
            "dependsOn": {"type": "array", "items": _ANYTHING},
            "gangConfig": _gang_config(GANG_OFF, GANG, REPLICATED_GANG),
        },
        required=["name", "template"],
        **{"x-kubernetes-validations": [_FIXED_GANGS]},
    )
    policies = ("network", "successPolicy", "failurePolicy", "startupPolicy", "coordinator")
    spec = _object(
        {
            "replicatedJobs": {
                "type": "array",
                "maxItems": _JOBS_MAX,
                "items": replicated_job,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            },
            **dict.fromkeys(policies, _ANYTHING),
            "suspend": {"type": "boolean"},
            "managedBy": _TEXT,
            "ttlSecondsAfterFinished": _COUNT,
            "volumeClaimPolicies": {"type": "array", "items": _ANYTHING},
            "gangConfig": _gang_config(GANG_OFF, GANG),
        },
        **{"x-kubernetes-validations": [_FIXED_GANGS]},
    )
    columns = [
        column("TerminalState", "string", ".status.terminalState", "How it ended."),
        column("Restarts", "string", ".status.restarts", "How often it was started again."),
        column("Completed", "string", condition_path(COMPLETED, "status"), "Whether it has completed."),
        column("Suspended", "string", ".spec.suspend", "Whether it is suspended."),
        AGE,
    ]
    return definition(JOB_SET, columns, _schema(JOB_SET, spec))


def _leader_worker_set() -> Json:
    template = _object(
        {
            "leaderTemplate": _ANYTHING,
            "workerTemplate": _ANYTHING,
            "size": _COUNT | {"minimum": 1, "default": 1},
        },
        required=["workerTemplate"],
        **{"x-kubernetes-preserve-unknown-fields": True},
    )
    spec = _object(
        {
            # Without a number there is nothing that the subresource scale could change.
            "replicas": _COUNT | {"default": 1},
            "leaderWorkerTemplate": template,
            "rolloutStrategy": _ANYTHING,
            "startupPolicy": _TEXT | {"enum": [LEADER_CREATED, LEADER_READY]},
            "networkConfig": _ANYTHING,
        },
        required=["leaderWorkerTemplate"],
    )
    columns = [
        column("Ready", "integer", ".status.readyReplicas", "Replicas of which all pods are ready."),
        column("Desired", "integer", ".spec.replicas", "Replicas that are asked for."),
        column("Up-to-date", "integer", ".status.updatedReplicas", "Replicas made from what it says now."),
        AGE,
    ]
    made = definition(LEADER_WORKER_SET, columns, _schema(LEADER_WORKER_SET, spec))
    [version] = made["spec"]["versions"]
    version["subresources"]["scale"] = {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.hpaPodSelector",
    }
    return made
