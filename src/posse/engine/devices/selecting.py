"""Whether selectors match devices: evaluated once for each expression and kind of device."""

from posse.cel import CelError, CompiledSelector, DeviceSelectorError, device_selector
from posse.engine.devices.records import DeviceKind
from posse.engine.devices.requests import Alternative, SelectorText


class SelectorFailed(Exception):  # noqa: N818 - an event of the search, not of this module
    """A selector failed on a device: hiding that would hide a faulty expression."""

    def __init__(self, selector: SelectorText, reason: str) -> None:
        super().__init__(reason)
        self.selector = selector
        self.reason = reason


class Selecting:
    def __init__(self) -> None:
        self._selectors: dict[str, CompiledSelector | str] = {}
        """By expression; the error message for invalid ones."""
        self._answers: dict[tuple[str, DeviceKind], bool | str] = {}

    def matches(self, wanted: Alternative, kind: DeviceKind) -> bool:
        """Raise SelectorFailed if a selector cannot be evaluated for the device."""
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
            return selector.matches(kind.facts)
        except DeviceSelectorError as error:
            return f"CEL runtime error: {error}"
