"""Who the scheduler is in the cluster and what it may do; and, where groups are custom resources, what people may do.

People who may edit a namespace may have groups in it, as they may have pods. Kubernetes sees to that for its own kinds.
"""

from posse.installation.crds import POSSE_KINDS
from posse.installation.objects import named
from posse.installation.options import NAME, InstallOptions
from posse.installation.permissions import IN_ITS_NAMESPACE, IN_THE_CLUSTER
from posse.kinds.kind import Json

RBAC_GROUP = "rbac.authorization.k8s.io"
_RBAC = f"{RBAC_GROUP}/v1"
_LOOK = ["get", "list", "watch"]
_CHANGE = ["create", "delete", "deletecollection", "patch", "update"]


def identity(options: InstallOptions) -> list[Json]:
    """The account of the scheduler with the roles it has."""
    place = options.namespace
    cluster_role = named(_RBAC, "ClusterRole", NAME) | {"rules": [item.as_rule() for item in IN_THE_CLUSTER]}
    role = named(_RBAC, "Role", NAME, place) | {"rules": [item.as_rule() for item in IN_ITS_NAMESPACE]}
    return [
        named("v1", "ServiceAccount", NAME, place),
        cluster_role,
        named(_RBAC, "ClusterRoleBinding", NAME) | _binding("ClusterRole", place),
        role,
        named(_RBAC, "RoleBinding", NAME, place) | _binding("Role", place),
    ]


def _binding(role: str, namespace: str) -> Json:
    return {
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": role, "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}],
    }


def roles_of_people() -> list[Json]:
    """Added by the cluster to its roles view, edit and admin."""
    return [_for_people("view", _LOOK, "view"), _for_people("edit", [*_LOOK, *_CHANGE], "edit", "admin")]


def _for_people(what: str, verbs: list[str], *roles: str) -> Json:
    role = named(_RBAC, "ClusterRole", f"{NAME}-groups-{what}")
    labels = {f"{RBAC_GROUP}/aggregate-to-{name}": "true" for name in roles}
    role["metadata"]["labels"] |= labels
    resources = [kind.plural for kind in POSSE_KINDS]
    return role | {"rules": [{"apiGroups": [POSSE_KINDS[0].group], "resources": resources, "verbs": verbs}]}
