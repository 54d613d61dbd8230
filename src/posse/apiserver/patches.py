"""Which kind of patch a media type means, and applying it. How each works is for
posse.kinds.machinery.patching.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from posse.apiserver.incoming import check_values, cleaned, in_version, nested_too_deeply
from posse.apiserver.requests import WriteOptions
from posse.kinds.apply.applying import Application, Applied, applied, created_entries
from posse.kinds.apply.merging import DuplicateItemError
from posse.kinds.apply.owners import DifferencesIn
from posse.kinds.machinery.errors import ApiError, bad_request, unprocessable, unsupported_media_type
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.patching import (
    PatchError,
    PatchMismatchError,
    json_patch,
    merge_patch,
    strategic_merge_patch,
)
from posse.model.limits import MAX_OWNERS, MAX_VALUES
from posse.model.meta import Shape
from posse.transport.patches import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, Patch

CHANGES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH)
SUPPORTED = (*CHANGES, APPLY_PATCH)
MANAGER_LENGTH_MAX = 128


def check_media_type(media_type: str, supported: Sequence[str] = SUPPORTED) -> None:
    if media_type not in supported:
        raise unsupported_media_type(supported)


def check_patch_options(media_type: str, options: WriteOptions) -> None:
    """Refuse options that do not go with the kind of patch, in the words of Kubernetes."""
    if media_type == APPLY_PATCH and not options.field_manager:
        raise _unfit_options(
            "fieldManager", "FieldValueRequired", "Required value: is required for apply patch"
        )
    if media_type != APPLY_PATCH and options.force:
        text = "Forbidden: may not be specified for non-apply patch"
        raise _unfit_options("force", "FieldValueForbidden", text)
    if len(options.field_manager) > MANAGER_LENGTH_MAX:
        text = f"Too long: may not be more than {MANAGER_LENGTH_MAX} bytes"
        raise _unfit_options("fieldManager", "FieldValueTooLong", text)


def read_configuration(kind: Kind, name: str, patch: Patch, options: WriteOptions) -> Json:
    """Return the configuration that is to be applied to the named object."""
    check_patch_options(patch.media_type, options)
    if not isinstance(patch.body, dict):
        raise bad_request("an applied configuration must be an object")
    if not patch.body.get("apiVersion") or not patch.body.get("kind"):
        raise bad_request("an applied configuration must say its apiVersion and kind")
    body, values_at_most = cleaned(patch.body)
    if values_at_most > MAX_VALUES:
        check_values(body)
    config = in_version(kind, body, patch.version)
    metadata = config.setdefault("metadata", {})
    if not isinstance(metadata, dict) or metadata.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    if metadata.setdefault("name", name) != name:
        stated = metadata["name"]
        raise bad_request(f"the name of the object ({stated}) does not match the name on the URL ({name})")
    return config


def created_owners(asked: Application) -> list[Json]:
    with _said_as_refusals():
        return created_entries(asked)


def apply_configuration(
    asked: Application,
    live: Json,
    owners: Sequence[Json],
    differences_to: Callable[[Json], DifferencesIn],
) -> Applied:
    with _said_as_refusals():
        result = applied(asked, live, owners, differences_to)
    if len(result.entries) > max(MAX_OWNERS, len(owners)):
        raise unprocessable(f"the fields of the object have more than {MAX_OWNERS} owners")
    return result


@contextmanager
def _said_as_refusals() -> Iterator[None]:
    try:
        yield
    except DuplicateItemError as error:
        raise unprocessable(f"failed to create typed patch object: {error}") from error


def _unfit_options(field: str, reason: str, text: str) -> ApiError:
    cause = {"reason": reason, "message": text, "field": field}
    details = {"group": "meta.k8s.io", "kind": "PatchOptions", "causes": [cause]}
    message = f'PatchOptions.meta.k8s.io "" is invalid: {field}: {text}'
    return ApiError(422, "Invalid", message, details)


def patched(struct: type[Shape], obj: Json, patch: Patch) -> Json:
    """Return the patched object, which shares nothing with `obj`; `struct` says which of its lists are
    merged.
    """
    check_media_type(patch.media_type, CHANGES)
    try:
        result = _apply(struct, obj, patch)
    except PatchMismatchError as error:
        raise unprocessable(str(error)) from error
    except PatchError as error:
        raise bad_request(str(error)) from error
    except RecursionError as error:
        raise nested_too_deeply() from error
    if not isinstance(result, dict):
        raise unprocessable("the patch turns the object into something that is not an object")
    return result


def _apply(struct: type[Shape], obj: Json, patch: Patch) -> object:
    if patch.media_type == JSON_PATCH:
        return json_patch(obj, patch.body)
    if patch.media_type == MERGE_PATCH:
        return merge_patch(obj, patch.body)
    return strategic_merge_patch(struct, obj, patch.body)
