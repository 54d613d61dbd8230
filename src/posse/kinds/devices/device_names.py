"""The names around devices: drivers, pools, devices, qualified names of attributes and capacities."""

import re
from collections.abc import Sequence

from posse.kinds.machinery.checks import duplicates, formatted, required
from posse.kinds.machinery.errors import FieldError
from posse.model.formats import dns_label, dns_subdomain, label_key

DRIVER_BYTES_MAX = 63
POOL_BYTES_MAX = 253
IDENTIFIER_BYTES_MAX = 32
CONDITION_NAMES_MAX = 4

_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_C_IDENTIFIER_TEXT = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    f"'{_C_IDENTIFIER}')"
)
_UID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UID_TEXT = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase "
    "hexadecimal characters"
)


def driver_errors(field: str, name: str) -> list[FieldError]:
    if not name:
        return [FieldError.required(field)]
    errors = _length_errors(field, name, DRIVER_BYTES_MAX)
    return errors + [FieldError.invalid(field, name, problem) for problem in dns_subdomain(name.lower())]


def pool_errors(field: str, name: str) -> list[FieldError]:
    """Subdomains, separated by slashes."""
    if not name:
        return [FieldError.required(field)]
    errors = _length_errors(field, name, POOL_BYTES_MAX)
    for part in name.split("/"):
        errors += formatted(field, part, dns_subdomain)
    return errors


def device_errors(field: str, name: str) -> list[FieldError]:
    return formatted(field, name, dns_label)


def share_errors(field: str, share: str | None) -> list[FieldError]:
    if share is None or _UID.fullmatch(share):
        return []
    return [FieldError.invalid(field, share, _UID_TEXT)]


def class_name_errors(field: str, name: str) -> list[FieldError]:
    return required(field, name, dns_subdomain)


def qualified_name_errors(field: str, name: str) -> list[FieldError]:
    """An identifier of C, with a domain before it or without."""
    domain, slash, identifier = name.partition("/")
    if not slash:
        return _identifier_errors(field, name)
    errors = driver_errors(field, domain) if domain else [_empty(field, "domain")]
    return errors + (_identifier_errors(field, identifier) if identifier else [_empty(field, "name")])


def fully_qualified_name_errors(field: str, name: str) -> list[FieldError]:
    errors = qualified_name_errors(field, name)
    if "/" not in name:
        text = "a fully qualified name must be a domain and a name separated by a slash"
        errors.append(FieldError.invalid(field, name, text))
    return errors


def binding_condition_errors(path: str, wanted: Sequence[str], failing: Sequence[str]) -> list[FieldError]:
    """Both lists are set or none is, and no condition is in both."""
    errors = [
        *_condition_errors(f"{path}.bindingConditions", wanted),
        *_condition_errors(f"{path}.bindingFailureConditions", failing),
    ]
    overlap = "bindingFailureConditions must not overlap with bindingConditions"
    errors += [
        FieldError.invalid(f"{path}.bindingFailureConditions[{index}]", name, overlap)
        for index, name in enumerate(failing)
        if name in wanted
    ]
    if failing and not wanted:
        text = "bindingConditions are required to use bindingFailureConditions"
        errors.append(FieldError.invalid(f"{path}.bindingConditions", wanted, text))
    if wanted and not failing:
        text = "bindingFailureConditions are required to use bindingConditions"
        errors.append(FieldError.invalid(f"{path}.bindingFailureConditions", failing, text))
    return errors


def _condition_errors(field: str, names: Sequence[str]) -> list[FieldError]:
    if len(names) > CONDITION_NAMES_MAX:
        return [FieldError.too_many(field, len(names), CONDITION_NAMES_MAX)]
    errors = duplicates(field, names, names)
    for index, name in enumerate(names):
        errors += formatted(f"{field}[{index}]", name, label_key)
    return errors


def _identifier_errors(field: str, identifier: str) -> list[FieldError]:
    errors = _length_errors(field, identifier, IDENTIFIER_BYTES_MAX)
    if not re.fullmatch(_C_IDENTIFIER, identifier):
        errors.append(FieldError.invalid(field, identifier, _C_IDENTIFIER_TEXT))
    return errors


def _length_errors(field: str, text: str, at_most: int) -> list[FieldError]:
    if len(text.encode(errors="surrogatepass")) <= at_most:
        return []
    return [FieldError.too_long(field, at_most)]


def _empty(field: str, part: str) -> FieldError:
    return FieldError.invalid(field, "", f"the {part} must not be empty")
