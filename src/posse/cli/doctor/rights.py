"""Asks the API server whether an account, or this user, has all rights that the scheduler needs."""

from collections.abc import Collection, Iterator
from typing import Any

from posse.cli.client import ApiClient, Refused
from posse.cli.doctor.facts import DeniedRight
from posse.installation.options import DEFAULT_NAMESPACE, NAME, InstallOptions
from posse.installation.permissions import (
    OF_VOLUMES,
    Permission,
    permissions_to_lead,
    permissions_to_schedule,
)

Json = dict[str, Any]

_REVIEWS = "/apis/authorization.k8s.io/v1"
_ACCOUNTS = "/api/v1/namespaces/{}/serviceaccounts/{}"


def reviewed_account(client: ApiClient) -> str:
    """The account that `posse install` makes, if it exists; empty for the user who asks."""
    try:
        client.get(_ACCOUNTS.format(DEFAULT_NAMESPACE, NAME))
    except Refused:
        return ""
    return f"{DEFAULT_NAMESPACE}/{NAME}"


def denied_rights(client: ApiClient, account: str, offered: Collection[str]) -> tuple[DeniedRight, ...]:
    """Rights for API groups that are not served are not asked for."""
    namespace = account.partition("/")[0] or DEFAULT_NAMESPACE
    wanted = [(permission, "") for permission in permissions_to_schedule(InstallOptions())]
    wanted += [(permission, namespace) for permission in permissions_to_lead(NAME)]
    return tuple(
        DeniedRight(
            attributes["verb"], resource, permission.api_group, permission.reason, permission in OF_VOLUMES
        )
        for permission, place in wanted
        if not permission.api_group or permission.api_group in offered
        for resource, attributes in _attributes(permission, place)
        if not _is_allowed(client, account, attributes)
    )


def _attributes(permission: Permission, namespace: str) -> Iterator[tuple[str, Json]]:
    for resource in permission.resources:
        plain, _, subresource = resource.partition("/")
        for verb in permission.verbs:
            found = {"verb": verb, "group": permission.api_group, "resource": plain, "namespace": namespace}
            found |= {"subresource": subresource} if subresource else {}
            yield resource, found | ({"name": permission.names[0]} if permission.names else {})


def _is_allowed(client: ApiClient, account: str, attributes: Json) -> bool:
    kind = "SubjectAccessReview" if account else "SelfSubjectAccessReview"
    namespace, _, name = account.partition("/")
    user = {"user": f"system:serviceaccount:{namespace}:{name}"} if account else {}
    groups = {"groups": ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]} if account else {}
    spec = {"resourceAttributes": attributes, **user, **groups}
    review: Json = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "metadata": {}, "spec": spec}
    answer = client.create(f"{_REVIEWS}/{kind.lower()}s", review)
    return bool(answer.get("status", {}).get("allowed"))
