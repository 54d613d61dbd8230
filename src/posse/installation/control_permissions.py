"""The permissions of the controllers of JobSets and LeaderWorkerSets.

They have an account of their own, so that the scheduler need not be allowed to create anything.
"""

from collections.abc import Mapping

from posse.installation.options import ForeignGroupApi, InstallOptions
from posse.installation.permissions import TO_SERVE_PAGES, TO_TELL, Permission
from posse.kinds.registry import JOB_SET, LEADER_WORKER_SET

CONTROL_LEASE = "posse-controllers"
_SEE = ("list", "watch")
_MAKE = ("create", "update", "delete")
_GROUPS = ("podgroups", "compositepodgroups")
_HOOKS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
_API_GROUPS: Mapping[ForeignGroupApi, str] = {
    ForeignGroupApi.COSCHEDULING: "scheduling.x-k8s.io",
    ForeignGroupApi.VOLCANO: "scheduling.volcano.sh",
}

OF_BOTH = (
    Permission(
        "admissionregistration.k8s.io", _HOOKS, ("list",), "see whether another controller manages them"
    ),
    Permission("apps", ("deployments",), ("list",), "see whether another controller manages them"),
    Permission("", ("services",), (*_SEE, "create", "update"), "let their pods find each other"),
    Permission("", ("pods",), (*_SEE, "update"), "put pods into their groups"),
    *(
        permission
        for group in ("scheduling.k8s.io", "scheduling.posse.dev")
        for permission in (
            Permission(group, ("workloads",), (*_SEE, "create", "update"), "say what groups are made from"),
            Permission(group, _GROUPS, (*_SEE, *_MAKE), "say who starts together"),
        )
    ),
)
OF_JOB_SETS = (
    Permission(JOB_SET.group, ("jobsets",), (*_SEE, "delete"), "control JobSets, and end those that expire"),
    Permission(JOB_SET.group, ("jobsets/status",), ("update",), "tell JobSets how they stand"),
    Permission(JOB_SET.group, ("jobsets/finalizers",), ("update",), "own what is made for a JobSet"),
    Permission("batch", ("jobs",), (*_SEE, *_MAKE), "have Jobs for JobSets"),
    Permission("", ("persistentvolumeclaims",), (*_SEE, "create"), "have claims that Jobs share"),
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
    Permission("", ("nodes",), _SEE, "keep workers in the domain of their leader"),
    Permission("", ("pods",), ("delete",), "start a replica over as a whole"),
    Permission("", ("pods/finalizers",), ("update",), "own what is made for a leader"),
)


def permissions_to_control(options: InstallOptions) -> tuple[Permission, ...]:
    """In the whole cluster."""
    controls_sets = LEADER_WORKER_SET.plural in options.controllers
    return (
        *TO_SERVE_PAGES,
        *TO_TELL,
        *OF_BOTH,
        *(OF_JOB_SETS if JOB_SET.plural in options.controllers else ()),
        *(OF_LEADER_WORKER_SETS if controls_sets else ()),
        *(_of_foreign(name) for name in options.foreign_groups if controls_sets),
    )


def _of_foreign(name: ForeignGroupApi) -> Permission:
    reason = "say who starts together, to another scheduler"
    return Permission(_API_GROUPS[name], ("podgroups",), (*_SEE, "create"), reason)
