"""Which kind of patch a media type means, and applying it. How each works is for
posse.kinds.machinery.patching.
"""

from posse.apiserver.incoming import nested_too_deeply
from posse.kinds.machinery.errors import bad_request, unprocessable, unsupported_media_type
from posse.kinds.machinery.kind import Json
from posse.kinds.machinery.patching import (
    PatchError,
    PatchMismatchError,
    json_patch,
    merge_patch,
    strategic_merge_patch,
)
from posse.model.meta import Shape
from posse.transport.patches import JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, Patch

SUPPORTED = (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH)


def check_media_type(media_type: str) -> None:
    if media_type not in SUPPORTED:
        raise unsupported_media_type(SUPPORTED)


def patched(struct: type[Shape], obj: Json, patch: Patch) -> Json:
    """Return the patched object, which shares nothing with `obj`; `struct` says which of its lists are
    merged.
    """
    check_media_type(patch.media_type)
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
