"""Reads the facts that only a running cluster tells: version, gates, APIs, rights, clock, who else is there.

What may not be read, or is not served, is None, and the reason is kept.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from posse.cli.client import ApiClient, Refused
from posse.cli.doctor.facts import DeniedRight, ServedApi
from posse.cli.doctor.rights import denied_rights, reviewed_account
from posse.cli.problems import Problem
from posse.kinds.discovered import GROUPS_PATH
from posse.kinds.machinery.errors import FORBIDDEN, NOT_FOUND

Json = dict[str, Any]
T = TypeVar("T")

GROUP_APIS = ("scheduling.k8s.io", "scheduling.posse.dev", "scheduling.x-k8s.io", "scheduling.volcano.sh")
_REGISTRATION = "/apis/apiregistration.k8s.io/v1/apiservices"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
_DEPLOYMENTS = "/apis/apps/v1/deployments"
_ADMISSION = "/apis/admissionregistration.k8s.io"
_ADMISSION_KINDS = (
    ("v1", "MutatingWebhookConfiguration"),
    ("v1", "ValidatingWebhookConfiguration"),
    ("v1", "MutatingAdmissionPolicy"),
    ("v1beta1", "MutatingAdmissionPolicy"),
)
_GATE = re.compile(r'^kubernetes_feature_enabled\{name="(\w+)"[^}]*\} ([01])', re.MULTILINE)


class ApiFacts:
    """Facts by name, as ClusterFacts takes them."""

    def __init__(self, client: ApiClient, account: str) -> None:
        self._client = client
        self._chosen_account = account
        self.unread: dict[str, str] = {}

    def read(self) -> Mapping[str, Any]:
        before = time.time()
        version = self._try("version", self._version)
        offset = self._offset(before, time.time())
        account = self._chosen_account or reviewed_account(self._client)
        return {
            "version": version,
            "clock_offset": offset,
            "cluster_gates": self._try("cluster_gates", self._gates),
            "apis": self._try("apis", self._apis),
            "account": account or "this user",
            "denied": self._try("denied", lambda: self._denied(account)),
            "leases": self._try("leases", lambda: self._list(_LEASES)),
            "deployments": self._try("deployments", lambda: self._list(_DEPLOYMENTS)),
            "admission": self._try("admission", self._admission),
            "unread": self.unread,
        }

    def _try(self, name: str, ask: Callable[[], T]) -> T | None:
        try:
            return ask()
        except Refused as refusal:
            reasons = {FORBIDDEN: "this user may not read it", NOT_FOUND: "this cluster does not serve it"}
            self.unread[name] = reasons.get(refusal.code, str(refusal))
        except Problem as problem:
            self.unread[name] = str(problem)
        return None

    def _version(self) -> str:
        return str(self._client.get("/version").get("gitVersion", ""))

    def _offset(self, before: float, after: float) -> float | None:
        try:
            return parsedate_to_datetime(self._client.answered_at).timestamp() - (before + after) / 2
        except ValueError:
            self.unread["clock_offset"] = "the server does not tell its time"
            return None

    def _gates(self) -> Mapping[str, bool]:
        found = _GATE.findall(self._client.get_text("/metrics"))
        if not found:
            raise Problem("the server does not tell its feature gates")
        return {name: value == "1" for name, value in found}

    def _apis(self) -> tuple[ServedApi, ...]:
        groups = {group["name"]: group for group in self._client.get(GROUPS_PATH).get("groups", ())}
        found = (self._served(name, groups[name]) for name in GROUP_APIS if name in groups)
        return tuple(api for api in found if api is not None)

    def _served(self, name: str, group: Json) -> ServedApi | None:
        """None: it is served without PodGroups."""
        versions, service = [], self._service(group["preferredVersion"]["version"], name)
        for version in (entry["version"] for entry in group["versions"]):
            try:
                resources = self._client.get(f"/apis/{name}/{version}").get("resources", ())
            except Refused:
                return ServedApi(name, (), service or "another server", is_available=False)
            if any(resource["name"] == "podgroups" for resource in resources):
                versions.append(version)
        server = service or self._definer(name)
        return ServedApi(name, tuple(versions), server) if versions else None

    def _service(self, version: str, group: str) -> str:
        """The server behind kube-apiserver that an API is handed to; empty if there is none."""
        try:
            spec = self._client.get(f"{_REGISTRATION}/{version}.{group}").get("spec", {})
        except Refused:
            return ""
        service = spec.get("service")
        return f"Service {service.get('namespace')}/{service.get('name')}" if service else ""

    def _definer(self, group: str) -> str:
        try:
            definition = self._client.get(f"{_DEFINITIONS}/podgroups.{group}")
        except Refused:
            return "the API server itself"
        managers = [entry.get("manager", "") for entry in definition["metadata"].get("managedFields") or ()]
        installed = next((name for name in managers if name and name != "kube-apiserver"), "")
        return "a custom resource" + (f", installed by {installed}" if installed else "")

    def _denied(self, account: str) -> tuple[DeniedRight, ...]:
        offered = {group["name"] for group in self._client.get(GROUPS_PATH).get("groups", ())}
        return denied_rights(self._client, account, offered)

    def _list(self, path: str) -> tuple[Json, ...]:
        return tuple(self._client.get(path).get("items") or ())

    def _admission(self) -> tuple[Json, ...]:
        found = dict[tuple[str, str], Json]()
        for version, kind in _ADMISSION_KINDS:
            for obj in self._optional(f"{_ADMISSION}/{version}/{_plural(kind)}", kind):
                found.setdefault((kind, obj["metadata"]["name"]), obj | {"kind": kind})
        return tuple(found.values())

    def _optional(self, path: str, kind: str) -> Iterable[Json]:
        """Policies are not served by all releases."""
        try:
            return self._list(path)
        except Refused as refusal:
            if refusal.code == NOT_FOUND and "Policy" in kind:
                return ()
            raise


def _plural(kind: str) -> str:
    return f"{kind.lower().removesuffix('y')}ies" if kind.endswith("y") else f"{kind.lower()}s"
