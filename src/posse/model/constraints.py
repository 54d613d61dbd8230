"""What the value of a field must be like, stated once, with the field: `Annotated[Int32 | None, Minimum(1)]`.

Decoding ignores these marks. Validation, OpenAPI, the schemas of custom resource definitions and their CEL
rules are derived from them. A `Format` (see formats.py) is a constraint, too. An optional text
without `REQUIRED` may be empty; a text that may be None may be absent, but not empty.
"""

from dataclasses import dataclass
from enum import Enum, auto

from posse.model.formats import Format


@dataclass(frozen=True, slots=True)
class Required:
    """Absent is refused, which for a field that cannot be None means empty or 0.

    The message may have a detail. Schemas do not require what is filled in before validation.
    """

    detail: str = ""
    is_defaulted: bool = False


@dataclass(frozen=True, slots=True)
class Minimum:
    value: int
    word: str = ""
    """How messages call the value, if not by its digits."""


@dataclass(frozen=True, slots=True)
class Maximum:
    value: int


@dataclass(frozen=True, slots=True)
class OneOf:
    values: tuple[str, ...]
    unlisted: tuple[str, ...] = ()
    """Accepted as well, but messages do not offer them: the empty text, names that are deprecated."""


@dataclass(frozen=True, slots=True)
class MaxBytes:
    value: int


@dataclass(frozen=True, slots=True)
class MaxItems:
    value: int


@dataclass(frozen=True, slots=True)
class MaxDepth:
    """How many levels of a recursive list may be nested; what lies deeper is refused by rules of the kind."""

    value: int


@dataclass(frozen=True, slots=True)
class KeyedBy:
    """No two items of the list agree in this field (JSON name). `blames_key`: the error names the field."""

    key: str
    blames_key: bool = False


@dataclass(frozen=True, slots=True)
class Immutable:
    """Validated when the object is created, never changed afterwards."""

    shows_value: bool = False


class Mark(Enum):
    PRESENT = auto()
    """Required, but an empty value is judged by the other constraints."""
    UNION_MEMBER = auto()
    """Exactly one of the fields of the struct that are marked so is set."""
    FIXED_CHOICE = auto()
    """Whether the field is set never changes; its content may."""
    SET_AT_CREATION = auto()
    """Like FIXED_CHOICE, with messages that tell setting from clearing."""
    FIXED_KEYS = auto()
    """Items of the list may change, but none is added or removed."""
    OPAQUE = auto()
    """Left to rules of the kind; custom resource definitions pass it as it is written."""
    SHARE = auto()
    """A number that is not negative, or a percentage up to 100%."""
    ATOMIC = auto()
    """The list is replaced as a whole."""


REQUIRED = Required()
IMMUTABLE = Immutable()
PRESENT = Mark.PRESENT
UNION_MEMBER = Mark.UNION_MEMBER
FIXED_CHOICE = Mark.FIXED_CHOICE
SET_AT_CREATION = Mark.SET_AT_CREATION
FIXED_KEYS = Mark.FIXED_KEYS
OPAQUE = Mark.OPAQUE
SHARE = Mark.SHARE
ATOMIC = Mark.ATOMIC

Constraint = (
    Format
    | Required
    | Minimum
    | Maximum
    | OneOf
    | MaxBytes
    | MaxItems
    | MaxDepth
    | KeyedBy
    | Immutable
    | Mark
)
