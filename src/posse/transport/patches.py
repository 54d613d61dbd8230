"""A change to an object, and the media types that say how it is meant."""

from dataclasses import dataclass
from typing import Any

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch body with the media type that says how it is meant; `body` is a list for JSON patches.

    It is written for the object as it looks in `version`, the one that is stored when none is given.
    """

    media_type: str
    body: Any
    version: str = ""
