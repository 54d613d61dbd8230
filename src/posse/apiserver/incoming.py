"""What clients send, checked for being what the request says it is, and brought into storage form.

Only the shape and the limits are judged here; whether the values are allowed is for the rules of the kind.
"""

import msgspec

from posse.apiserver.json_outline import depth_of, outline_of, values_in
from posse.apiserver.requests import WriteOptions
from posse.kinds.machinery.conversion import to_storage, to_version, version_of
from posse.kinds.machinery.errors import ApiError, bad_request, invalid
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.limits import limit_errors
from posse.kinds.machinery.scaling import SCALE_VERSION
from posse.kinds.machinery.validation import translated
from posse.model.decoding import ShapeError, decode, drop_nulls, unknown_fields
from posse.model.limits import MAX_VALUES
from posse.model.meta import Shape
from posse.model.scale import Scale

# Deeper than any object that is meant, far from where walking through one would overflow the stack.
NESTING_MAX = 100

_encode = msgspec.json.Encoder().encode


def accept(kind: Kind, body: Json, options: WriteOptions, old: Json | None = None) -> Json:
    """Return the object that `body` describes, in storage form; `old` is the stored object that it is to
    replace.

    Fields unknown but already in `old` are no news.
    """
    _check_type(kind, body)
    version = version_of(body)
    struct = kind.struct_of(version)
    body, values_at_most = cleaned(body)
    sent = _decoded(kind, version, body)
    obj = _type_first(to_storage(kind, body, old))
    obj.setdefault("metadata", {})
    _check_limits(kind, version, obj, sent, old)
    if values_at_most > MAX_VALUES:
        check_values(body, old)
    if options.field_validation != "Ignore":
        unknown = _unknown(struct, body, old and to_version(kind, old, version))
        unknown += [f'duplicate field "{path}"' for path in options.repeated]
        if unknown and options.field_validation == "Strict":
            raise _unfit(kind, version, f"strict decoding error: {', '.join(unknown)}")
        options.warnings.extend(unknown)
    return obj


def converted(kind: Kind, body: Json, old: Json) -> Json:
    """Return a body in storage form that nothing has judged yet; only what has its shape can be converted."""
    version = version_of(body)
    if version in kind.dialects:
        _decoded(kind, version, cleaned(body)[0])
    return to_storage(kind, body, old)


def _decoded(kind: Kind, version: str, body: Json) -> Shape:
    try:
        return decode(kind.struct_of(version), body)
    except ShapeError as error:
        raise _unfit(kind, version, str(error)) from error


def _check_limits(kind: Kind, version: str, obj: Json, sent: Shape, old: Json | None) -> None:
    """Before anything else reads the object. One that is stored beyond a limit may still be changed."""
    dialect, struct = kind.dialects.get(version), kind.stored.struct
    shape = sent if isinstance(sent, struct) else decode(struct, obj)
    errors = limit_errors(shape)
    if errors and old is not None:
        errors = limit_errors(shape, decode(struct, old))
    if errors:
        name = obj["metadata"].get("name", "")
        raise invalid(kind, name, translated(dialect, errors) if dialect else errors)


def in_version(kind: Kind, body: Json, version: str) -> Json:
    """Check that a body is in the version the request is about; one that does not say takes it from there."""
    expected = kind.api_version_of(version)
    stated = body.get("apiVersion") or expected
    if stated != expected:
        raise bad_request(
            f"the API version in the data ({stated}) does not match the expected API version ({expected})"
        )
    return body | {"apiVersion": expected, "kind": body.get("kind") or kind.name}


def check_place(kind: Kind, obj: Json, namespace: str, name: str | None = None) -> None:
    """Check that the object says it is where the request puts it; what it leaves out is filled in."""
    metadata = obj["metadata"]
    if metadata.get("namespace", namespace) not in {namespace, ""}:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if kind.namespaced:
        metadata["namespace"] = namespace
    if name is not None and metadata.get("name", "") != name:
        stated = metadata.get("name", "")
        raise bad_request(f"the name of the object ({stated}) does not match the name on the URL ({name})")


def check_scale(scale: Json, namespace: str, name: str) -> None:
    """Check that what was sent is a Scale, and that of the object on the path."""
    try:
        sent = decode(Scale, scale)
    except ShapeError as error:
        raise bad_request(f'Scale in version "v1" cannot be handled as a Scale: {error}') from error
    if sent.kind not in {"", "Scale"} or sent.api_version not in {"", SCALE_VERSION}:
        raise bad_request(f"expected a Scale of {SCALE_VERSION}, got {sent.kind} of {sent.api_version}")
    if sent.metadata.name not in {"", name} or sent.metadata.namespace not in {"", namespace}:
        raise bad_request("the name in the Scale does not match the name on the URL")


def _check_type(kind: Kind, body: Json) -> None:
    # Kubernetes takes what is not said from the path of the request.
    api_version = body.setdefault("apiVersion", kind.api_version)
    name = body.setdefault("kind", kind.name)
    served = [kind.api_version_of(version) for version in kind.versions]
    if api_version not in served:
        expected = " or ".join(served)
        raise bad_request(
            f"the API version in the data ({api_version}) does not match the expected API version "
            f"({expected})"
        )
    if name != kind.name:
        raise _unfit(kind, api_version.rpartition("/")[2], f"its kind is {name}", str(name))


def _type_first(obj: Json) -> Json:
    """Lists leave out the type of their items, and cut it off where it stands first in the text."""
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], **obj}


def nested_too_deeply() -> ApiError:
    return bad_request(f"what was sent is nested more than {NESTING_MAX} levels deep")


def cleaned(body: Json) -> tuple[Json, int]:
    """To Kubernetes null means absent. Encoding, which is fast, tells whether there is any, whether it can
    be, and how many values there are at most.
    """
    try:
        text = _encode(body)
    except UnicodeEncodeError as error:
        raise bad_request(f"the object contains text that is not Unicode: {error.reason}") from error
    except RecursionError as error:
        raise nested_too_deeply() from error
    # Every level opens a bracket; only in an object that has so many of them need levels be counted.
    brackets = text.count(b"{") + text.count(b"[")
    if brackets > NESTING_MAX and depth_of(outline_of(text)) > NESTING_MAX:
        raise nested_too_deeply()
    # Every value follows a bracket or a comma.
    values_at_most = brackets + text.count(b",")
    return body if b":null" not in text else drop_nulls(body), values_at_most


def check_values(body: Json, old: Json | None = None) -> None:
    """Refuse an object of too many values, unless it replaces one that has more."""
    count = _values(body)
    if count > MAX_VALUES and (old is None or count > _values(old)):
        text = f"the object holds {count} values; Posse takes at most {MAX_VALUES}"
        raise ApiError(413, "RequestEntityTooLarge", text)


def _values(body: Json) -> int:
    """Without managedFields, which say once more what the object has."""
    metadata = body.get("metadata")
    if isinstance(metadata, dict):
        body = body | {"metadata": {name: item for name, item in metadata.items() if name != "managedFields"}}
    return values_in(outline_of(_encode(body)))


def _unknown(struct: type[Shape], body: Json, old: Json | None) -> list[str]:
    unknown = unknown_fields(struct, body)
    if unknown and old is not None:
        known = set(unknown_fields(struct, old))
        unknown = [path for path in unknown if path not in known]
    return [f'unknown field "{path}"' for path in unknown]


def _unfit(kind: Kind, version: str, reason: str, given: str = "") -> ApiError:
    given = given or kind.name
    return bad_request(f'{given} in version "{version}" cannot be handled as a {kind.name}: {reason}')
