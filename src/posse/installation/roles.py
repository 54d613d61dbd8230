"""Account and roles of the scheduler, and roles for users where groups are custom resources.

People who may edit a namespace may have groups in it, as they may have pods. Kubernetes sees to that for its
own kinds.
"""

from collections.abc import Sequence

from posse.installation.control_permissions import permissions_to_control
from posse.installation.objects import named
from posse.installation.options import NAME, InstallOptions
from posse.installation.permissions import IN_ITS_NAMESPACE, IN_THE_CLUSTER
from posse.kinds.machinery.kind import Json, Kind

RBAC_GROUP = "rbac.authorization.k8s.io"
_RBAC = f"{RBAC_GROUP}/v1"
_LOOK = ["get", "list", "watch"]
_CHANGE = ["create", "delete", "deletecollection", "patch", "update"]


def identity(options: InstallOptions) -> list[Json]:
    """ServiceAccount of the scheduler, its roles and bindings."""
    place, wide = options.namespace, options.cluster_wide_name
    permissions = (*IN_THE_CLUSTER, *permissions_to_control(options.controllers))
    cluster_role = named(_RBAC, "ClusterRole", wide) | {"rules": [item.as_rule() for item in permissions]}
    role = named(_RBAC, "Role", NAME, place) | {"rules": [item.as_rule() for item in IN_ITS_NAMESPACE]}
    return [
        named("v1", "ServiceAccount", NAME, place),
        cluster_role,
        named(_RBAC, "ClusterRoleBinding", wide) | _binding("ClusterRole", wide, place),
        role,
        named(_RBAC, "RoleBinding", NAME, place) | _binding("Role", NAME, place),
    ]


def _binding(kind: str, name: str, namespace: str) -> Json:
    return {
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}],
    }


def roles_of_people(name: str, kinds: Sequence[Kind]) -> list[Json]:
    """Roles that the cluster aggregates into view, edit and admin."""
    return [
        _for_people(f"{name}-view", kinds, _LOOK, "view"),
        _for_people(f"{name}-edit", kinds, [*_LOOK, *_CHANGE], "edit", "admin"),
    ]


def _for_people(name: str, kinds: Sequence[Kind], verbs: list[str], *roles: str) -> Json:
    role = named(_RBAC, "ClusterRole", f"{NAME}-{name}")
    labels = {f"{RBAC_GROUP}/aggregate-to-{name}": "true" for name in roles}
    role["metadata"]["labels"] |= labels
    rules = [
        {
            "apiGroups": [group],
            "resources": [kind.plural for kind in kinds if kind.group == group],
            "verbs": verbs,
        }
        for group in dict.fromkeys(kind.group for kind in kinds)
    ]
    return role | {"rules": rules}
