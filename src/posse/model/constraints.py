"""What the value of a field must be like, stated once, with the field: `Annotated[Int32 | None, Minimum(1)]`.

Decoding ignores these marks. Validation, OpenAPI, the schemas of custom resource definitions and their CEL
rules are derived from them. A `Format` (see formats.py) is a constraint, too. An optional text
without `REQUIRED` may be empty; a text that may be None may be absent, but not empty. Where Kubernetes has
words of its own for a refusal, the constraint takes them as `text`.
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
    is_invalid: bool = False
    """The error calls the value invalid, with the detail, instead of required."""


@dataclass(frozen=True, slots=True)
class NotEmpty:
    """Absent is fine, but empty is refused: as missing, or as invalid with a text."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Minimum:
    value: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Maximum:
    value: int


@dataclass(frozen=True, slots=True)
class Between:
    """A range with both ends. A number that is optional and cannot be None may be 0 as well."""

    least: int
    most: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class OneOf:
    values: tuple[str, ...]
    unlisted: tuple[str, ...] = ()
    """Accepted as well, but messages do not offer them: the empty text, names that are deprecated."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Parts:
    """Each part of the text has the format; slashes separate the parts. Errors show the part."""

    form: Format


@dataclass(frozen=True, slots=True)
class QualifiedName:
    """A C identifier that may have a domain in front, as in `domain/id`. Errors show the wrong part."""

    needs_domain: bool = False


@dataclass(frozen=True, slots=True)
class Keys:
    """What the keys of the map look like; other constraints are about its values."""

    form: Format | QualifiedName
    blames_map: bool = False
    """Errors about a key name the map."""


@dataclass(frozen=True, slots=True)
class HasKey:
    """The map has an entry of this key."""

    key: str


@dataclass(frozen=True, slots=True)
class MaxBytes:
    value: int


@dataclass(frozen=True, slots=True)
class RawObject:
    """A JSON object of at most so many bytes, in the shortest notation."""

    max_bytes: int


@dataclass(frozen=True, slots=True)
class MaxItems:
    """The length of a list or map."""

    value: int


@dataclass(frozen=True, slots=True)
class MaxDepth:
    """How many levels of a recursive list may be nested; what lies deeper is refused by rules of the kind."""

    value: int


@dataclass(frozen=True, slots=True)
class KeyedBy:
    """No two items of the list agree in this field (JSON name).

    `blames_key`: the error names the field, and what has none is not compared.
    """

    key: str
    blames_key: bool = False
    text: str = ""
    shows_key: bool = False
    """The error names the item, and shows its key instead of all of it."""
    is_last: bool = False
    """Said after what is wrong with the items; always so with `blames_key`."""


@dataclass(frozen=True, slots=True)
class Immutable:
    """Validated when the object is created, never changed afterwards. With a text, a change is forbidden."""

    shows_value: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class UnionMember:
    """Exactly one of the fields of the struct that are marked so is set, or at most one if it is optional."""

    is_optional: bool = False
    none_text: str = ""
    several_text: str = ""
    shows_value: bool = False
    """Errors in words of its own show the whole struct."""
    shows_empty_text: bool = False
    """They show an empty text, instead of null."""


class Mark(Enum):
    PRESENT = auto()
    """Required, but an empty value is judged by the other constraints."""
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
    AMOUNTS = auto()
    """Quantities by resource: none is negative, and extended resources come in whole numbers."""
    QUANTITY = auto()
    """A quantity of any size."""
    ONLY_TRUE = auto()
    """False is refused; absent means the same."""
    UNIQUE = auto()
    """No plain value is twice in the list."""
    BLAMES_HOLDER = auto()
    """Errors name the struct that holds the field; of items and entries, the list or map."""
    ATOMIC = auto()
    """The list is replaced as a whole."""


REQUIRED = Required()
IMMUTABLE = Immutable()
PRESENT = Mark.PRESENT
UNION_MEMBER = UnionMember()
FIXED_CHOICE = Mark.FIXED_CHOICE
SET_AT_CREATION = Mark.SET_AT_CREATION
FIXED_KEYS = Mark.FIXED_KEYS
OPAQUE = Mark.OPAQUE
SHARE = Mark.SHARE
ATOMIC = Mark.ATOMIC
AMOUNTS = Mark.AMOUNTS
QUANTITY = Mark.QUANTITY
ONLY_TRUE = Mark.ONLY_TRUE
UNIQUE = Mark.UNIQUE
BLAMES_HOLDER = Mark.BLAMES_HOLDER

Constraint = (
    Format
    | Required
    | NotEmpty
    | Minimum
    | Maximum
    | Between
    | OneOf
    | Parts
    | QualifiedName
    | Keys
    | HasKey
    | MaxBytes
    | RawObject
    | MaxItems
    | MaxDepth
    | KeyedBy
    | Immutable
    | UnionMember
    | Mark
)
