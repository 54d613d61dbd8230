"""Account and roles of each program, and roles for users where groups are custom resources.

People who may edit a namespace may have groups in it, as they may have pods. Kubernetes sees to that for its
own kinds.
"""

from collections.abc import Sequence

from posse.installation.objects import named
from posse.installation.options import NAME, InstallOptions
from posse.installation.permissions import Permission
from posse.kinds.machinery.kind import Json, Kind

RBAC_GROUP = "rbac.authorization.k8s.io"
_RBAC = f"{RBAC_GROUP}/v1"
_LOOK = ["get", "list", "watch"]
_CHANGE = ["create", "delete", "deletecollection", "patch", "update"]


def identity(
    options: InstallOptions, name: str, permissions: Sequence[Permission], own: Sequence[Permission]
) -> list[Json]:
    """A ServiceAccount with these permissions in the cluster, and `own` in its namespace."""
    place = options.namespace
    return [
        *account(options, name, [item.as_rule() for item in permissions]),
        named(_RBAC, "Role", name, place) | {"rules": [item.as_rule() for item in own]},
        named(_RBAC, "RoleBinding", name, place)
        | {"roleRef": _reference("Role", name), "subjects": _subjects(name, place)},
    ]


def account(options: InstallOptions, name: str, rules: list[Json]) -> list[Json]:
    """A ServiceAccount with these rules in the whole cluster."""
    wide = options.in_the_cluster(name)
    return [
        named("v1", "ServiceAccount", name, options.namespace),
        named(_RBAC, "ClusterRole", wide) | {"rules": rules},
        named(_RBAC, "ClusterRoleBinding", wide)
        | {"roleRef": _reference("ClusterRole", wide), "subjects": _subjects(name, options.namespace)},
    ]


def _subjects(name: str, place: str) -> list[Json]:
    return [{"kind": "ServiceAccount", "name": name, "namespace": place}]


def _reference(kind: str, name: str) -> Json:
    return {"apiGroup": RBAC_GROUP, "kind": kind, "name": name}


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
