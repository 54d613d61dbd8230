"""Whether selectors match devices: evaluated once for each expression and kind of device."""

from dataclasses import dataclass

from posse.cel import CelError, CompiledSelector, DeviceSelectorError, device_selector
from posse.engine.devices.records import DeviceKind
from posse.engine.devices.requests import Alternative, SelectorText

_FREE_COST = 200
"""Of an evaluation, in the units of CEL; most selectors take less than a tenth of it."""
_MAX_COST = 500_000
"""Of all evaluations for one pod, as long as devices do not change; one alone may take twice as much."""
_MAX_SHARED_STEPS = 60_000
"""Of all searches for one pod, beyond what each may take at any rate: less than a second."""
_MAX_REPEATED_STEPS = 2_000
_MAX_KNOWN = 500_000
"""Answers that are remembered; claims that are gone leave theirs behind."""


class SelectorsTooCostly(Exception):  # noqa: N818 - the selectors are not at fault, there are too many
    """Nothing is left for evaluations."""


class SelectorFailed(Exception):  # noqa: N818 - an event of the search, not of this module
    """A selector failed on a device: hiding that would hide a faulty expression."""

    def __init__(self, selector: SelectorText, reason: str) -> None:
        super().__init__(reason)
        self.selector = selector
        self.reason = reason


@dataclass(slots=True)
class Allowance:
    """What searches for equal pods may take together, so that a pod that is a puzzle holds up no others."""

    steps: int
    cost: int
    """Of evaluations, beyond what is free."""


def new_allowance() -> Allowance:
    return Allowance(_MAX_SHARED_STEPS, _MAX_COST)


def small_allowance() -> Allowance:
    """For a single search of many: always the same, so that it finds again what it has found."""
    return Allowance(_MAX_REPEATED_STEPS, _MAX_COST)


class Selecting:
    def __init__(self) -> None:
        self._selectors: dict[str, CompiledSelector | str] = {}
        """By expression; the error message for invalid ones."""
        self._answers: dict[tuple[str, DeviceKind], bool | str] = {}

    def matches(self, wanted: Alternative, kind: DeviceKind, allowance: Allowance) -> bool:
        """Raise SelectorFailed if a selector cannot be evaluated for the device, or SelectorsTooCostly."""
        for selector in wanted.selectors:
            answer = self._answer(selector.expression, kind, allowance)
            if answer is False:
                return False
            if answer is not True:
                raise SelectorFailed(selector, answer)
        return True

    def projection(
        self, wanted: Alternative, kind: DeviceKind, allowance: Allowance
    ) -> tuple[bool | str, ...]:
        """All answers, in a form that makes devices comparable which selectors do not tell apart."""
        return tuple(self._answer(selector.expression, kind, allowance) for selector in wanted.selectors)

    def _answer(self, expression: str, kind: DeviceKind, allowance: Allowance) -> bool | str:
        known = self._answers.get((expression, kind))
        if known is None:
            if allowance.cost < 0:
                raise SelectorsTooCostly
            if len(self._answers) >= _MAX_KNOWN or len(self._selectors) > _MAX_KNOWN // 100:
                self._answers.clear()
                self._selectors.clear()
            known = self._answers[expression, kind] = self._evaluate(expression, kind, allowance)
        return known

    def _evaluate(self, expression: str, kind: DeviceKind, allowance: Allowance) -> bool | str:
        selector = self._selectors.get(expression)
        if selector is None:
            try:
                selector = device_selector(expression)
            except CelError as error:
                selector = str(error)
            self._selectors[expression] = selector
        if isinstance(selector, str):
            return selector
        try:
            answer, cost = selector.evaluated(kind.facts)
        except DeviceSelectorError as error:
            allowance.cost -= max(0, error.cost - _FREE_COST)
            return f"CEL runtime error: {error}"
        allowance.cost -= max(0, cost - _FREE_COST)
        return answer
