"""Tokens of ServiceAccounts: JSON web tokens, signed with a key that follows from the owner's token.

Nothing is stored: a token names its account and its end. It may do all that the owner may, since the embedded
server has no roles, and ends early when its account, or the object that it is bound to, is deleted.
"""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256

from posse.apiserver.service import ApiService
from posse.kinds.machinery.errors import ApiError, FieldError, bad_request, conflict, invalid
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import NODE, POD, SECRET, SERVICE_ACCOUNT
from posse.model.account_token import AccountToken
from posse.model.decoding import ShapeError, decode
from posse.model.meta import ObjectReference
from posse.model.timestamps import format_timestamp

DEFAULT_SECONDS = 3600
LEAST_SECONDS = 600
MOST_SECONDS = 2**32
ISSUER = "https://kubernetes.default.svc.cluster.local"
BINDABLE = {kind.name: kind for kind in (POD, SECRET, NODE)}
DEFAULT_ACCOUNT = "default"
_HEADER = {"alg": "HS256", "typ": "JWT"}
_PURPOSE = b"tokens of service accounts"


class AccountTokens:
    def __init__(self, owner_token: str, service: ApiService, clock: Callable[[], float]) -> None:
        self._key = hmac.digest(owner_token.encode(), _PURPOSE, "sha256")
        self._service = service
        self._clock = clock

    def issue(self, namespace: str, name: str, request: Json) -> Json:
        """Return the request with a token in its status. ApiError: there is no such account."""
        account = self._service.get(SERVICE_ACCOUNT, namespace, name)
        try:
            spec = decode(AccountToken, request).spec
        except ShapeError as error:
            raise bad_request(f'TokenRequest in version "v1" cannot be handled: {error}') from error
        seconds = DEFAULT_SECONDS if spec.expiration_seconds is None else spec.expiration_seconds
        _check(name, seconds)
        now, audiences = int(self._clock()), list(spec.audiences) or [ISSUER]
        private: Json = {"namespace": namespace, "serviceaccount": _identity(account)}
        asked: Json = {"audiences": audiences, "expirationSeconds": seconds}
        if bound := spec.bound_object_ref:
            private[bound.kind.lower()] = self._bound_object(namespace, name, bound)
            asked["boundObjectRef"] = request["spec"]["boundObjectRef"]
        claims = {
            "aud": audiences,
            "exp": now + seconds,
            "iat": now,
            "iss": ISSUER,
            "kubernetes.io": private,
            "nbf": now,
            "sub": f"system:serviceaccount:{namespace}:{name}",
        }
        status = {"token": self._signed(claims), "expirationTimestamp": format_timestamp(now + seconds)}
        return {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {"name": name, "namespace": namespace, "creationTimestamp": format_timestamp(now)},
            "spec": asked,
            "status": status,
        }

    def user(self, authorization: str) -> Json | None:
        """Return the user that a header stands for; None if it holds no valid token of an account.

        A token for other audiences is not meant for this server.
        """
        scheme, _, token = authorization.partition(" ")
        claims = self._claims(token.strip()) if scheme.lower() == "bearer" else None
        if claims is None or claims["exp"] <= self._clock() or ISSUER not in claims["aud"]:
            return None
        private = claims["kubernetes.io"]
        namespace, account = private["namespace"], private["serviceaccount"]
        kept = [
            (kind, private[kind.singular])
            for kind in (SERVICE_ACCOUNT, POD, SECRET, NODE)
            if kind.singular in private
        ]
        if not all(self._is_there(kind, namespace, one) for kind, one in kept):
            return None
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
        return {"username": claims["sub"], "uid": account["uid"], "groups": groups}

    def _bound_object(self, namespace: str, account: str, reference: ObjectReference) -> Json:
        """Return what the token will say of the object. ApiError: there is none, or it is another one."""
        # All versions of a group show the same objects, so only the group counts.
        kind = None if "/" in reference.api_version else BINDABLE.get(reference.kind)
        if kind is None:
            raise bad_request(f"cannot bind token for serviceaccount to object of type {reference.kind!r}")
        obj = self._service.get(kind, namespace if kind.namespaced else "", reference.name)
        if kind is POD and _account_of(obj) != account:
            raise bad_request(
                f'cannot bind token for serviceaccount "{account}" to pod running with different '
                "serviceaccount name."
            )
        found = _identity(obj)
        if reference.uid not in ("", found["uid"]):
            said = f"the UID in the bound object reference ({reference.uid})"
            text = f"{said} does not match the UID in record ({found['uid']})"
            raise conflict(kind, reference.name, text)
        return found

    def _is_there(self, kind: Kind, namespace: str, one: Json) -> bool:
        try:
            found = self._service.get(kind, namespace if kind.namespaced else "", one["name"])
        except ApiError:
            return False
        return bool(found["metadata"]["uid"] == one["uid"])

    def _signed(self, claims: Json) -> str:
        text = f"{_encoded(_HEADER)}.{_encoded(claims)}"
        return f"{text}.{self._signature(text)}"

    def _signature(self, text: str) -> str:
        return _base64(hmac.new(self._key, text.encode("utf-8", "surrogateescape"), sha256).digest())

    def _claims(self, token: str) -> Json | None:
        text, _, signature = token.rpartition(".")
        given = signature.encode("utf-8", "surrogateescape")
        if not text or not hmac.compare_digest(given, self._signature(text).encode()):
            return None
        # The signature is ours, so the text is what was issued.
        payload = text.partition(".")[2]
        claims: Json = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return claims


def _identity(obj: Json) -> Json:
    return {"name": obj["metadata"]["name"], "uid": obj["metadata"]["uid"]}


def _account_of(pod: Json) -> str:
    """Pods keep the account that they name; the embedded server does not fill in the default one."""
    spec = pod["spec"]
    return str(spec.get("serviceAccountName") or spec.get("serviceAccount") or DEFAULT_ACCOUNT)


def _check(name: str, seconds: int) -> None:
    field = "spec.expirationSeconds"
    if seconds < LEAST_SECONDS:
        text = "may not specify a duration less than 10 minutes"
    elif seconds > MOST_SECONDS:
        text = "may not specify a duration larger than 2^32 seconds"
    else:
        return
    raise invalid(SERVICE_ACCOUNT, name, [FieldError.invalid(field, seconds, text)])


def _encoded(value: Json) -> str:
    return _base64(json.dumps(value, separators=(",", ":")).encode())


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
