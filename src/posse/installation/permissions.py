"""The permissions of the scheduler, each with its reason. It has no others.

Groups of Kubernetes and of Posse are always among them: a permission for a kind that is not served allows
nothing, and after an upgrade of the cluster nothing is missing. Groups of other projects and volumes are
where
they are used.
"""

from collections.abc import Mapping
from typing import NamedTuple

from posse.engine.groups.forms import COSCHEDULING, POSSE, VOLCANO, GroupForm
from posse.installation.options import ForeignGroupApi, InstallOptions
from posse.kinds.machinery.kind import Json

LEASE = "posse"
_READ = ("list", "watch")
_PUBLISH = "note on a group which capacity is reserved for it"


class Permission(NamedTuple):
    """`names` limits it to objects of these names."""

    api_group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    reason: str
    names: tuple[str, ...] = ()

    def as_rule(self) -> Json:
        rule: Json = {
            "apiGroups": [self.api_group],
            "resources": list(self.resources),
            "verbs": list(self.verbs),
        }
        return rule | {"resourceNames": list(self.names)} if self.names else rule


def _of_custom_groups(form: GroupForm) -> tuple[Permission, ...]:
    """An API server does not merge lists in custom resources, so their status is read and replaced."""
    resources = ("podgroups", "compositepodgroups") if form.has_composites else ("podgroups",)
    statuses = tuple(f"{resource}/status" for resource in resources)
    return (
        Permission(form.name, resources, (*_READ, "get"), "know who starts together"),
        Permission(form.name, statuses, ("patch", "update"), "tell groups how they stand"),
        Permission(form.name, resources, ("patch",), _PUBLISH),
    )


TO_SERVE_PAGES = (
    Permission("authentication.k8s.io", ("tokenreviews",), ("create",), "know who asks for metrics"),
    Permission("authorization.k8s.io", ("subjectaccessreviews",), ("create",), "know who may read metrics"),
)
TO_TELL = (Permission("", ("events",), ("create",), "tell people what was done, and what could not be"),)
OF_PODS = (
    Permission("", ("pods",), _READ, "see what waits and what takes up room"),
    Permission("", ("pods",), ("get",), "see whether a binding without an answer was made"),
    Permission("", ("pods",), ("delete",), "evict pods for more important ones"),
    Permission("", ("pods/binding",), ("create",), "give a pod its node"),
    Permission("", ("pods/status",), ("patch",), "tell a pod why it waits or must go"),
    *TO_TELL,
    Permission("", ("nodes", "namespaces", "services"), _READ, "know where pods may go and how they spread"),
    Permission("policy", ("poddisruptionbudgets",), _READ, "evict first the pods that no budget protects"),
    Permission("scheduling.k8s.io", ("priorityclasses",), _READ, "know the priority of groups"),
    Permission("batch", ("jobs",), _READ, "know when pods of a Job are ended at the latest"),
    Permission("", ("resourcequotas",), ("list",), "warn where quotas on priority classes can be evaded"),
    Permission(
        "scheduling.k8s.io",
        ("workloads", "podgroups", "compositepodgroups"),
        _READ,
        "know who starts together",
    ),
    Permission(
        "scheduling.k8s.io",
        ("podgroups/status", "compositepodgroups/status"),
        ("patch",),
        "tell groups how they stand",
    ),
    Permission("scheduling.k8s.io", ("workloads", "podgroups", "compositepodgroups"), ("patch",), _PUBLISH),
)
OF_VOLUMES = (
    Permission("", ("persistentvolumes", "persistentvolumeclaims"), _READ, "know which volumes there are"),
    Permission(
        "", ("persistentvolumes", "persistentvolumeclaims"), ("patch",), "keep a volume, or have one made"
    ),
    Permission("", ("persistentvolumes",), ("get",), "see which claim a volume is reserved for"),
    Permission(
        "storage.k8s.io", ("storageclasses", "csinodes", "csidrivers"), _READ, "know where volumes can be"
    ),
)
OF_DEVICES = (
    Permission(
        "resource.k8s.io",
        ("resourceslices", "deviceclasses", "devicetaintrules", "resourceclaims"),
        _READ,
        "know which devices there are, and who uses them",
    ),
    Permission(
        "resource.k8s.io", ("resourceclaims",), ("patch", "update"), "keep a claim while it is in use"
    ),
    Permission("resource.k8s.io", ("resourceclaims",), ("get",), "see how a claim was allocated already"),
    Permission(
        "resource.k8s.io",
        ("resourceclaims/status", "resourceclaims/binding"),
        ("patch", "update"),
        "give claims their devices",
    ),
    Permission(
        "resource.k8s.io", ("resourceclaims",), ("create", "delete"), "claim devices for extended resources"
    ),
    Permission("", ("pods/finalizers",), ("update",), "have pods own such claims"),
)
OF_PROVISIONING = (
    Permission(
        "autoscaling.x-k8s.io",
        ("provisioningrequests",),
        ("list", "create", "delete"),
        "ask autoscalers for nodes that groups lack",
    ),
    Permission("", ("podtemplates",), ("create", "delete"), "say which pods such nodes are for"),
    Permission("", ("nodes",), ("get",), "say in which domain such nodes must be"),
)
OF_POSSE_GROUPS = _of_custom_groups(POSSE)
OF_FOREIGN_GROUPS: Mapping[ForeignGroupApi, tuple[Permission, ...]] = {
    ForeignGroupApi.COSCHEDULING: _of_custom_groups(COSCHEDULING),
    ForeignGroupApi.VOLCANO: _of_custom_groups(VOLCANO),
}


def permissions_to_schedule(options: InstallOptions) -> tuple[Permission, ...]:
    """In the whole cluster."""
    return (
        *TO_SERVE_PAGES,
        *OF_PODS,
        *(OF_VOLUMES if options.volumes else ()),
        *OF_DEVICES,
        *(OF_PROVISIONING if options.provisioning_requests else ()),
        *OF_POSSE_GROUPS,
        *(item for name in options.foreign_groups for item in OF_FOREIGN_GROUPS[name]),
    )


def permissions_to_lead(lease: str) -> tuple[Permission, ...]:
    """In its own namespace."""
    return (
        Permission("coordination.k8s.io", ("leases",), ("create",), "elect a leader for the first time"),
        Permission("coordination.k8s.io", ("leases",), ("get", "update"), "elect a leader", (lease,)),
    )
