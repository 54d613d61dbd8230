"""Tokens of ServiceAccounts: JSON web tokens, signed with a key that follows from the owner's token.

Nothing is stored: a token names its account and its end. It may do all that the owner may, since the embedded
server has no roles, and ends early when its account is deleted.
"""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256

from posse.apiserver.service import ApiService
from posse.kinds.machinery.errors import ApiError, FieldError, bad_request, invalid
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import SERVICE_ACCOUNT
from posse.model.account_token import AccountToken
from posse.model.decoding import ShapeError, decode
from posse.model.timestamps import format_timestamp

DEFAULT_SECONDS = 3600
LEAST_SECONDS = 600
MOST_SECONDS = 2**32
ISSUER = "https://kubernetes.default.svc.cluster.local"
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
        who = {"name": name, "uid": account["metadata"]["uid"]}
        claims = {
            "aud": audiences,
            "exp": now + seconds,
            "iat": now,
            "iss": ISSUER,
            "kubernetes.io": {"namespace": namespace, "serviceaccount": who},
            "nbf": now,
            "sub": f"system:serviceaccount:{namespace}:{name}",
        }
        status = {"token": self._signed(claims), "expirationTimestamp": format_timestamp(now + seconds)}
        return {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {"name": name, "namespace": namespace, "creationTimestamp": format_timestamp(now)},
            "spec": {"audiences": audiences, "expirationSeconds": seconds},
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
        namespace, account = claims["kubernetes.io"]["namespace"], claims["kubernetes.io"]["serviceaccount"]
        try:
            found = self._service.get(SERVICE_ACCOUNT, namespace, account["name"])
        except ApiError:
            return None
        if found["metadata"]["uid"] != account["uid"]:
            return None
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
        return {"username": claims["sub"], "uid": account["uid"], "groups": groups}

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
