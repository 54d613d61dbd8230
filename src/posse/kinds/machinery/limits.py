"""Objects beyond the limits of `posse.model.limits` are refused, with an error that names the field."""

from posse.kinds.machinery.errors import CauseType, FieldError
from posse.model.limits import Counted, Excess, excesses, is_within_limits
from posse.model.meta import Shape


def limit_errors(new: Shape, old: Shape | None = None) -> list[FieldError]:
    """An object that is stored already, beyond a limit, may still be changed, unless it grows there."""
    if is_within_limits(new):
        return []
    found = excesses(new)
    before = {(one.field, one.limit): one.count for one in excesses(old)} if old is not None else {}
    return [_error(one) for one in found if one.count > before.get((one.field, one.limit), 0)]


def _error(excess: Excess) -> FieldError:
    field, count, most = excess.field, excess.count, excess.limit.most
    match excess.limit.counts:
        case Counted.VALUE:
            return FieldError.invalid(field, count, f"must be less than or equal to {most}")
        case Counted.ITEMS:
            return FieldError.too_many(field, count, most)
        case counts:
            return FieldError(field, CauseType.TOO_MANY, count, f"must have at most {most} {counts.value}")
