"""Who may read the metrics and settings of a scheduler: the cluster decides, as with kube-scheduler.

The API server is asked whose token a request carries (TokenReview) and whether that user may read the page
(SubjectAccessReview). Its answers are kept for a moment, so that guessing tokens or scraping often does not
become load for the API server. Probes are open to all, as kubelets carry no token.
"""

import hashlib
import time
from collections.abc import Callable
from enum import Enum
from typing import Any

import msgspec

from posse.client.connection import Call, Connection
from posse.client.reading import read, read_object
from posse.kinds.machinery.errors import ApiError

Json = dict[str, Any]

KEPT_SECONDS = 10.0
KEPT_ANSWERS = 1000
_TOKEN_BYTES_MAX = 16 * 1024
_AUTHENTICATION, _AUTHORIZATION = "authentication.k8s.io/v1", "authorization.k8s.io/v1"


class Admission(Enum):
    """Values are the status codes of HTTP."""

    ALLOWED = 200
    UNKNOWN_USER = 401
    FORBIDDEN = 403
    UNDECIDED = 503


class PageAccess:
    def __init__(self, connection: Connection, clock: Callable[[], float] = time.monotonic) -> None:
        self._connection = connection
        self._clock = clock
        self._kept: dict[tuple[bytes, str], tuple[float, Admission]] = {}

    async def admit(self, authorization: str, path: str) -> Admission:
        scheme, _, token = authorization.partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token or len(token) > _TOKEN_BYTES_MAX:
            return Admission.UNKNOWN_USER
        key = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest(), path
        until, kept = self._kept.get(key, (0.0, Admission.UNDECIDED))
        if self._clock() < until:
            return kept
        try:
            found = await self._review(token, path)
        except (ApiError, UnicodeEncodeError):
            return Admission.UNDECIDED
        self._keep(key, found)
        return found

    def _keep(self, key: tuple[bytes, str], found: Admission) -> None:
        if len(self._kept) >= KEPT_ANSWERS:
            self._kept.clear()
        self._kept[key] = self._clock() + KEPT_SECONDS, found

    async def _review(self, token: str, path: str) -> Admission:
        seen = await self._ask(_AUTHENTICATION, "TokenReview", {"token": token})
        if not seen.get("authenticated"):
            return Admission.UNKNOWN_USER
        user = seen.get("user") or {}
        spec = {
            "user": user.get("username", ""),
            "uid": user.get("uid", ""),
            "groups": user.get("groups") or [],
            "extra": user.get("extra") or {},
            "nonResourceAttributes": {"path": path, "verb": "get"},
        }
        decided = await self._ask(_AUTHORIZATION, "SubjectAccessReview", spec)
        return Admission.ALLOWED if decided.get("allowed") else Admission.FORBIDDEN

    async def _ask(self, api_version: str, kind: str, spec: Json) -> Json:
        body = msgspec.json.encode({"apiVersion": api_version, "kind": kind, "spec": spec})
        call = Call("POST", f"/apis/{api_version}/{kind.lower()}s", None, body)
        status = read(await self._connection.ask(call), read_object).get("status")
        return status if isinstance(status, dict) else {}
