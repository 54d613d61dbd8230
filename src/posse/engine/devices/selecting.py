"""Whether selectors match devices: evaluated once for each expression and kind of device."""

from posse.cel import CelError, CompiledSelector, DeviceSelectorError, device_selector
from posse.engine.devices.records import DeviceKind
from posse.engine.devices.requests import Alternative, SelectorText

_FREE_COST = 200
"""Of an evaluation, in the units of CEL; most selectors take less than a tenth of it."""
_MAX_COST = 500_000
"""Of all evaluations of one cycle; one alone may take twice as much."""
_MAX_KNOWN = 500_000
"""Answers that are remembered; claims that are gone leave theirs behind."""


class SelectorsTooCostly(Exception):  # noqa: N818 - the selectors are not at fault, there are too many
    """There is nothing left for evaluations in this cycle. Those made so far are known in the next one."""


class SelectorFailed(Exception):  # noqa: N818 - an event of the search, not of this module
    """A selector failed on a device: hiding that would hide a faulty expression."""

    def __init__(self, selector: SelectorText, reason: str) -> None:
        super().__init__(reason)
        self.selector = selector
        self.reason = reason


class Selecting:
    def __init__(self) -> None:
        self._cost = 0
        """What evaluations have cost in this cycle, beyond what is free."""
        self._selectors: dict[str, CompiledSelector | str] = {}
        """By expression; the error message for invalid ones."""
        self._answers: dict[tuple[str, DeviceKind], bool | str] = {}

    def begin_cycle(self) -> None:
        self._cost = 0

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left for evaluations in this cycle."""
        return self._cost > _MAX_COST

    def matches(self, wanted: Alternative, kind: DeviceKind) -> bool:
        """Raise SelectorFailed if a selector cannot be evaluated for the device, or SelectorsTooCostly."""
        for selector in wanted.selectors:
            answer = self._answer(selector.expression, kind)
            if answer is False:
                return False
            if answer is not True:
                raise SelectorFailed(selector, answer)
        return True

    def projection(self, wanted: Alternative, kind: DeviceKind) -> tuple[bool | str, ...]:
        """All answers, in a form that makes devices comparable which selectors do not tell apart."""
        return tuple(self._answer(selector.expression, kind) for selector in wanted.selectors)

    def _answer(self, expression: str, kind: DeviceKind) -> bool | str:
        known = self._answers.get((expression, kind))
        if known is None:
            if self.is_spent:
                raise SelectorsTooCostly
            if len(self._answers) >= _MAX_KNOWN or len(self._selectors) > _MAX_KNOWN // 100:
                self._answers.clear()
                self._selectors.clear()
            known = self._answers[expression, kind] = self._evaluate(expression, kind)
        return known

    def _evaluate(self, expression: str, kind: DeviceKind) -> bool | str:
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
            self._cost += max(0, error.cost - _FREE_COST)
            return f"CEL runtime error: {error}"
        self._cost += max(0, cost - _FREE_COST)
        return answer
