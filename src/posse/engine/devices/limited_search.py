"""Searches for devices within limits: each has steps of its own, and takes more from an allowance.

Pods with equal needs share an allowance, so that no puzzle of claims holds up the pods behind it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from posse.engine.devices.inventory import Inventory
from posse.engine.devices.needs import DeviceNeeds
from posse.engine.devices.search import MAX_STEPS, DeviceSearch
from posse.engine.devices.selecting import Allowance, Selecting, new_allowance
from posse.engine.devices.usage import DevicesInUse
from posse.engine.devices.wants import AllocationError, SearchCutShort, Solution, Want

_MAX_ALLOWANCES = 2_000
_MIN_STEPS = 300
"""What a search may take at any rate, beside what it takes to see every device a few times."""
_MAX_OWN_STEPS = 5_000
"""What a search may take beside the allowance."""
_MAX_MIXES = 500


class LimitedSearches:
    def __init__(self, inventory: Inventory, in_use: DevicesInUse) -> None:
        self.selecting = Selecting()
        self._inventory = inventory
        self._in_use = in_use
        self._cut_short_at = -1
        """Version of the devices when a search was last cut short."""
        self._allowances: dict[DeviceNeeds, Allowance] = {}
        """What is left for searches of pods with these needs."""
        self._allowed_at = -1
        """Version of the devices when these were given."""

    @property
    def is_in_doubt(self) -> bool:
        """Whether a search was cut short with the present devices, so that a refusal may be no proof."""
        return self._cut_short_at == self._inventory.version

    def allowance(self, needs: DeviceNeeds) -> Allowance:
        """The same for all questions about these needs, while devices are as they are.

        What others ask for does not count, so that an answer does not depend on them.
        """
        if self._allowed_at != self._inventory.version or len(self._allowances) > _MAX_ALLOWANCES:
            self._allowances.clear()
            self._allowed_at = self._inventory.version
        known = self._allowances.get(needs)
        if known is None:
            known = self._allowances[needs] = new_allowance()
        return known

    def found(self, wants: Sequence[Want], allowance: Allowance | None = None) -> Solution | None:
        """Devices for all of these claims; None if there are none.

        Raise AllocationError or SearchCutShort where that is not known.
        """
        with self.limited(wants, self._in_use, allowance or new_allowance()) as search:
            return search.run(wants)

    @contextmanager
    def limited(
        self, wants: Sequence[Want], in_use: DevicesInUse, allowance: Allowance
    ) -> Iterator[DeviceSearch]:
        """Give a search for these claims; what it takes beyond its own steps, it takes from the allowance."""
        own = min(_MAX_OWN_STEPS, _MIN_STEPS + sum(map(_plain_steps, wants)))
        search = DeviceSearch(self.selecting, in_use, own + min(allowance.steps, MAX_STEPS), allowance)
        allowed = search.steps_left
        try:
            yield search
        except SearchCutShort:
            self._cut_short_at = self._inventory.version
            raise
        finally:
            allowance.steps -= max(0, allowed - search.steps_left - own)


def largest_mixes(
    searches: LimitedSearches, wants: Sequence[Sequence[Want] | None], numbers: Sequence[int]
) -> tuple[tuple[int, ...], ...] | None:
    """How many pods of several kinds find devices on one node together: all largest mixes.

    `wants` are those of one pod of each kind, None for kinds that want no devices; see `Devices.mixes`.
    """
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


def _plain_steps(want: Want) -> int:
    """What a search for the claim takes that never has to go back."""
    looks = 2 * len(want.shape.requests) + len(want.shape.alternatives)
    return 4 * want.shape.depth + len(want.offer.devices) * (16 + looks) // 16
