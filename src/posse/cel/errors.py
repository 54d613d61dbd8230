"""The two ways in which an expression fails: when it is read, and when it is evaluated."""


class CelError(ValueError):
    """The expression is not valid: a fault of syntax or of types, found before any device is looked at."""

    def __init__(self, reason: str, source: str = "", offset: int | None = None) -> None:
        self.reason = reason
        self.is_located = offset is not None
        super().__init__(reason if offset is None else _pointing(reason, source, offset))


class EvaluationError(Exception):
    """The expression is valid, but has no value here, such as that of an attribute which is missing."""


class CostError(EvaluationError):
    """The evaluation takes more steps than one expression may."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


def _pointing(reason: str, source: str, offset: int) -> str:
    """The fault with its line below it, and a mark under the place, as command lines print it."""
    line_number = source.count("\n", 0, offset) + 1
    start = source.rfind("\n", 0, offset) + 1
    column = offset - start
    line = source[start:].split("\n", 1)[0]
    return f"ERROR: <input>:{line_number}:{column + 1}: {reason}\n | {line}\n | {'.' * column}^"
