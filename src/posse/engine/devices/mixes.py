"""How many pods of several kinds find devices on one node together: all largest mixes."""

from collections.abc import Sequence

from posse.engine.devices.limited_search import LimitedSearches
from posse.engine.devices.selecting import Allowance, new_allowance
from posse.engine.devices.wants import AllocationError, SearchCutShort, Want

_MAX_MIXES = 500


def largest_mixes(
    searches: LimitedSearches, wants: Sequence[Sequence[Want] | None], numbers: Sequence[int]
) -> tuple[tuple[int, ...], ...] | None:
    """`wants` are those of one pod of each kind, None for kinds that want no devices; see `Devices.mixes`."""
    limited = {number: one for number, one in enumerate(wants) if one is not None}
    fits: dict[tuple[int, ...], None] = {(0,) * len(limited): None}
    frontier, tries, allowance = list(fits), 0, new_allowance()
    while frontier:
        mix = frontier.pop()
        for position, number in enumerate(limited):
            more = (*mix[:position], mix[position] + 1, *mix[position + 1 :])
            if more in fits or more[position] > numbers[number]:
                continue
            tries += 1
            counted = zip(limited.values(), more, strict=True)
            wanted = [want for one, count in counted for want in [*one] * count]
            found = _finds(searches, wanted, allowance)
            if found is None or tries > _MAX_MIXES:
                return None
            if found:
                fits[more] = None
                frontier.append(more)
    largest = [mix for mix in fits if not any(_contains(other, mix) for other in fits)]
    return tuple(_spread_out(mix, list(limited), len(wants)) for mix in sorted(largest))


def _finds(searches: LimitedSearches, wanted: Sequence[Want], allowance: Allowance) -> bool | None:
    """Whether these claims find devices together; None if the search was cut short."""
    try:
        return searches.found(wanted, allowance) is not None
    except SearchCutShort:
        return None
    except AllocationError:
        return False


def _contains(mix: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return mix != other and all(one >= two for one, two in zip(mix, other, strict=True))


def _spread_out(mix: tuple[int, ...], limited: Sequence[int], size: int) -> tuple[int, ...]:
    numbers = dict(zip(limited, mix, strict=True))
    return tuple(numbers.get(number, -1) for number in range(size))
