"""Rules for the selectors of classes and requests."""

from collections.abc import Sequence

from posse.cel import CelError, CostLimitError, device_selector
from posse.kinds.machinery.errors import FieldError
from posse.model.resource_claim import SELECTORS_MAX, DeviceSelector

EXPRESSION_BYTES_MAX = 10 * 1024


def selectors_errors(field: str, selectors: Sequence[DeviceSelector]) -> list[FieldError]:
    if len(selectors) > SELECTORS_MAX:
        return [FieldError.too_many(field, len(selectors), SELECTORS_MAX)]
    errors = []
    for index, selector in enumerate(selectors):
        path = f"{field}[{index}].cel"
        if selector.cel is None:
            errors.append(FieldError.required(path))
        else:
            errors += _expression_errors(f"{path}.expression", selector.cel.expression)
    return errors


def _expression_errors(field: str, expression: str) -> list[FieldError]:
    if len(expression.encode(errors="surrogatepass")) > EXPRESSION_BYTES_MAX:
        return [FieldError.too_long(field, EXPRESSION_BYTES_MAX)]
    if not expression:
        return [FieldError.required(field)]
    try:
        device_selector(expression)
    except CostLimitError as error:
        return [FieldError.forbidden(field, str(error))]
    except CelError as error:
        stage = "compilation failed: " if error.is_located else ""
        return [FieldError.invalid(field, expression, f"{stage}{error}")]
    return []
