"""What is wrong with an object, said in the words of the version that the request was written in.

Limits are checked before (`posse.kinds.machinery.limits`), so that rules meet objects of a bounded size
only. The rules of a kind judge the stored form. A version of another shape adds what only it forbids; if that
says something, it is the whole answer, because the rest would be told in terms which that version does not
know.
"""

from posse.kinds.machinery.conversion import to_version
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Dialect, Json, Kind
from posse.model.decoding import decode


def creation_errors(kind: Kind, obj: Json, version: str) -> list[FieldError]:
    dialect, new = kind.dialects.get(version), decode(kind.struct, obj)
    if dialect is None:
        return kind.rules.validate(new)
    own = dialect.refusals(decode(dialect.struct, to_version(kind, obj, version)), None)
    return own or translated(dialect, kind.rules.validate(new))


def update_errors(kind: Kind, new: Json, old: Json, version: str) -> list[FieldError]:
    dialect = kind.dialects.get(version)
    if dialect is None:
        return kind.rules.validate_update(decode(kind.struct, new), decode(kind.struct, old))
    seen = [decode(dialect.struct, to_version(kind, obj, version)) for obj in (new, old)]
    baseline = decode(kind.struct, dialect.baseline(new, old))
    errors = kind.rules.validate_update(decode(kind.struct, new), baseline)
    return dialect.refusals(*seen) or translated(dialect, errors)


def translated(dialect: Dialect, errors: list[FieldError]) -> list[FieldError]:
    return [
        FieldError(_field(dialect, error.field), error.type, error.bad_value, error.detail)
        for error in errors
    ]


def _field(dialect: Dialect, field: str) -> str:
    for stored, spoken in dialect.field_names:
        field = field.replace(stored, spoken)
    return field
