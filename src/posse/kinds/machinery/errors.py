"""How the API says no: errors on fields, and the Status objects that carry them to a client.

Texts and codes are those of the Kubernetes API server, because clients and people match on them. This module
knows nothing about particular kinds; a kind is whatever can name itself (`Nameable`).
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import msgspec

# The codes by which callers tell refusals apart.
UNAUTHORIZED = 401
FORBIDDEN = 403
NOT_FOUND = 404
CONFLICT = 409
EXPIRED = 410
INVALID = 422
TRANSIENT = frozenset({429, 500, 502, 503, 504})
"""The API server may accept the same request a little later."""
MAX_CAUSES = 100
"""That one refusal names; of more, only the number is told."""
ALREADY_EXISTS = "AlreadyExists"
"""The reason of a conflict over a name."""


class CauseType(StrEnum):
    REQUIRED = "FieldValueRequired"
    INVALID = "FieldValueInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    DUPLICATE = "FieldValueDuplicate"
    TOO_MANY = "FieldValueTooMany"
    TOO_LONG = "FieldValueTooLong"
    NOT_FOUND = "FieldValueNotFound"
    TYPE_INVALID = "FieldValueTypeInvalid"


TYPE_TEXT = {
    CauseType.REQUIRED: "Required value",
    CauseType.INVALID: "Invalid value",
    CauseType.NOT_SUPPORTED: "Unsupported value",
    CauseType.FORBIDDEN: "Forbidden",
    CauseType.DUPLICATE: "Duplicate value",
    CauseType.TOO_MANY: "Too many",
    CauseType.TOO_LONG: "Too long",
    CauseType.NOT_FOUND: "Not found",
    CauseType.TYPE_INVALID: "Invalid value",
}
WITHOUT_VALUE = frozenset({CauseType.REQUIRED, CauseType.FORBIDDEN, CauseType.TOO_LONG})


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with one field. The class methods are the usual way to make one."""

    field: str
    type: CauseType
    bad_value: Any = None
    detail: str = ""

    @classmethod
    def required(cls, field: str, detail: str = "") -> "FieldError":
        return cls(field, CauseType.REQUIRED, None, detail)

    @classmethod
    def invalid(cls, field: str, bad_value: Any, detail: str) -> "FieldError":
        return cls(field, CauseType.INVALID, bad_value, detail)

    @classmethod
    def not_supported(cls, field: str, bad_value: Any, supported: Iterable[str]) -> "FieldError":
        values = ", ".join(json.dumps(value) for value in sorted(supported))
        return cls(field, CauseType.NOT_SUPPORTED, bad_value, f"supported values: {values}")

    @classmethod
    def forbidden(cls, field: str, detail: str) -> "FieldError":
        return cls(field, CauseType.FORBIDDEN, None, detail)

    @classmethod
    def duplicate(cls, field: str, bad_value: Any) -> "FieldError":
        return cls(field, CauseType.DUPLICATE, bad_value)

    @classmethod
    def too_many(cls, field: str, count: int, at_most: int) -> "FieldError":
        items = "item" if at_most == 1 else "items"
        return cls(field, CauseType.TOO_MANY, count, f"must have at most {at_most} {items}")

    @classmethod
    def too_long(cls, field: str, at_most: int) -> "FieldError":
        return cls(field, CauseType.TOO_LONG, None, f"may not be more than {at_most} bytes")

    @classmethod
    def not_found(cls, field: str, bad_value: Any) -> "FieldError":
        return cls(field, CauseType.NOT_FOUND, bad_value)

    def body(self) -> str:
        parts = [TYPE_TEXT[self.type]]
        if self.type not in WITHOUT_VALUE:
            parts.append(printed_value(self.bad_value))
        if self.detail:
            parts.append(self.detail)
        return ": ".join(parts)

    def __str__(self) -> str:
        return f"{self.field}: {self.body()}"


def printed_value(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value), separators=(",", ":"), ensure_ascii=False)


class Nameable(Protocol):
    """The part of a Kind that error texts need."""

    @property
    def name(self) -> str: ...
    @property
    def plural(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def group_kind(self) -> str: ...
    @property
    def group_resource(self) -> str: ...


class ApiError(Exception):
    """A refused request; `status` is the Status object to send, JSON-ready."""

    def __init__(self, code: int, reason: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.metadata: dict[str, Any] = {}

    @property
    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
        }
        if self.details is not None:
            status["details"] = self.details
        return status | {"code": self.code}


def invalid(kind: Nameable, name: str, errors: Sequence[FieldError]) -> ApiError:
    # A rule may be reached on two ways; saying the same thing twice does not help.
    causes = {(error.field, error.body()): error for error in errors[:MAX_CAUSES]}
    texts = list(dict.fromkeys(str(error) for error in causes.values()))
    if len(errors) > MAX_CAUSES:
        texts.append(f"and {len(errors) - MAX_CAUSES} more")
    problem = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    details = _details(kind, name, kind.name) | {
        "causes": [
            {"reason": str(error.type), "message": body, "field": field}
            for (field, body), error in causes.items()
        ]
    }
    return ApiError(422, "Invalid", f'{kind.group_kind} "{name}" is invalid: {problem}', details)


def forbidden(kind: Nameable, name: str, text: str) -> ApiError:
    return _about(kind, name, 403, "Forbidden", f'{kind.group_resource} "{name}" is forbidden: {text}')


def namespace_terminating(kind: Nameable, name: str, namespace: str) -> ApiError:
    text = f"unable to create new content in namespace {namespace} because it is being terminated"
    error = forbidden(kind, name, text)
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    return ApiError(error.code, error.reason, error.message, (error.details or {}) | {"causes": [cause]})


def not_found(kind: Nameable, name: str) -> ApiError:
    return _about(kind, name, NOT_FOUND, "NotFound", f'{kind.group_resource} "{name}" not found')


def already_exists(kind: Nameable, name: str) -> ApiError:
    return _about(kind, name, CONFLICT, ALREADY_EXISTS, f'{kind.group_resource} "{name}" already exists')


OBJECT_MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def conflict(kind: Nameable, name: str, text: str = OBJECT_MODIFIED) -> ApiError:
    message = f'Operation cannot be fulfilled on {kind.group_resource} "{name}": {text}'
    return _about(kind, name, CONFLICT, "Conflict", message)


def method_not_allowed(kind: Nameable, action: str) -> ApiError:
    message = f'{action} is not supported on resources of kind "{kind.group_resource}"'
    return ApiError(405, "MethodNotAllowed", message, _details(kind, "", kind.plural))


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(UNAUTHORIZED, "Unauthorized", "Unauthorized")


def no_such_resource() -> ApiError:
    """The path itself names nothing that is served."""
    return ApiError(NOT_FOUND, "NotFound", "the server could not find the requested resource", {})


def not_acceptable(accepted: Iterable[str]) -> ApiError:
    offers = ", ".join(accepted)
    return ApiError(406, "NotAcceptable", f"only the following media types are accepted: {offers}")


def expired(message: str, continue_token: str = "") -> ApiError:
    """The asked-for resourceVersion or continue token is too old: the client must list again.

    `continue_token` lets it go on where it was, without the promise of one version.
    """
    error = ApiError(EXPIRED, "Expired", message)
    if continue_token:
        error.metadata = {"continue": continue_token}
    return error


def request_too_large(limit_bytes: int) -> ApiError:
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit_bytes}")


def insufficient_storage(text: str) -> ApiError:
    return ApiError(507, "InsufficientStorage", text)


def unsupported_media_type(accepted: Iterable[str]) -> ApiError:
    offers = ", ".join(accepted)
    text = "the body of the request was in an unknown format - accepted media types include: "
    return ApiError(415, "UnsupportedMediaType", text + offers)


def unprocessable(message: str) -> ApiError:
    """The request is well formed but cannot be carried out, such as a patch whose path does not exist."""
    return ApiError(422, "Invalid", message, {})


def internal(message: str) -> ApiError:
    details = {"causes": [{"message": message}]}
    return ApiError(500, "InternalError", f"Internal error occurred: {message}", details)


def _about(kind: Nameable, name: str, code: int, reason: str, message: str) -> ApiError:
    return ApiError(code, reason, message, _details(kind, name, kind.plural))


def _details(kind: Nameable, name: str, kind_text: str) -> dict[str, Any]:
    named = {"name": name, "group": kind.group, "kind": kind_text}
    return {key: value for key, value in named.items() if value}
