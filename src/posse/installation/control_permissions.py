"""Additional permissions for controlling JobSets and LeaderWorkerSets; granted only on request."""

from collections.abc import Collection

from posse.installation.permissions import Permission
from posse.kinds.registry import JOB_SET, LEADER_WORKER_SET

_SEE = ("list", "watch")
_MAKE = ("create", "update", "delete")
_GROUPS = ("podgroups", "compositepodgroups")
_HOOKS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
_FOREIGN_GROUPS = ("scheduling.x-k8s.io", "scheduling.volcano.sh")

OF_BOTH = (
    Permission("admissionregistration.k8s.io", _HOOKS, ("list",), "see whether somebody else controls them"),
    Permission("apps", ("deployments",), ("list",), "see whether somebody else controls them"),
    Permission("", ("services",), ("create",), "let their pods find each other"),
    Permission("", ("pods",), ("update",), "put pods into their groups"),
    Permission("scheduling.posse.dev", ("workloads",), _SEE, "know what groups are made from"),
    *(
        permission
        for group in ("scheduling.k8s.io", "scheduling.posse.dev")
        for permission in (
            Permission(group, ("workloads",), ("create", "update"), "say what groups are made from"),
            Permission(group, _GROUPS, _MAKE, "say who starts together"),
        )
    ),
)
OF_JOB_SETS = (
    Permission(JOB_SET.group, ("jobsets",), (*_SEE, "delete"), "control JobSets, and end those that expire"),
    Permission(JOB_SET.group, ("jobsets/status",), ("update",), "tell JobSets how they stand"),
    Permission(JOB_SET.group, ("jobsets/finalizers",), ("update",), "own what is made for a JobSet"),
    Permission("batch", ("jobs",), (*_SEE, *_MAKE), "have Jobs for JobSets"),
    Permission("", ("persistentvolumeclaims",), ("create",), "have claims that Jobs share"),
)
OF_LEADER_WORKER_SETS = (
    Permission(LEADER_WORKER_SET.group, ("leaderworkersets",), _SEE, "control LeaderWorkerSets"),
    Permission(
        LEADER_WORKER_SET.group, ("leaderworkersets/status",), ("update",), "tell them how they stand"
    ),
    Permission(
        LEADER_WORKER_SET.group, ("leaderworkersets/finalizers",), ("update",), "own what is made for them"
    ),
    Permission("apps", ("statefulsets",), (*_SEE, "create", "update"), "have leaders and workers"),
    Permission("apps", ("controllerrevisions",), (*_SEE, *_MAKE), "remember what replicas are made from"),
    Permission("", ("pods/finalizers",), ("update",), "own what is made for a leader"),
    *(
        Permission(group, ("podgroups",), ("create",), "say who starts together, to another scheduler")
        for group in _FOREIGN_GROUPS
    ),
)


def permissions_to_control(controllers: Collection[str]) -> tuple[Permission, ...]:
    return (
        *(OF_BOTH if controllers else ()),
        *(OF_JOB_SETS if JOB_SET.plural in controllers else ()),
        *(OF_LEADER_WORKER_SETS if LEADER_WORKER_SET.plural in controllers else ()),
    )
