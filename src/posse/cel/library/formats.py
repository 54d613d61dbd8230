"""Named formats of Kubernetes, such as `format.dns1123Label()`, against which texts are validated."""

import base64
import binascii
import re
from collections.abc import Callable
from datetime import date

from posse.cel.errors import EvaluationError
from posse.cel.functions import function, method
from posse.cel.library.times import TIMES
from posse.cel.library.urls import is_url
from posse.cel.types import FORMAT, STRING, list_of, optional_of
from posse.cel.values import NOTHING, NamedFormat, Optional

_LABEL_1123 = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_LABEL_1035 = r"[a-z](?:[-a-z0-9]*[a-z0-9])?"
_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_UUID = r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
_MAX_LABEL, _MAX_SUBDOMAIN = 63, 253


def _pattern(pattern: str, most: int) -> Callable[[str], list[str]]:
    compiled = re.compile(pattern)

    def problems(text: str) -> list[str]:
        found = [f"must be no more than {most} characters"] if len(text) > most else []
        return found if compiled.fullmatch(text) else [*found, f"must match {pattern}"]

    return problems


def _prefix(of: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """A prefix to which something is added may end with a dash."""
    return lambda text: of(f"{text[:-1]}a" if len(text) > 1 and text.endswith("-") else text)


def _qualified_name(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    found = _pattern(_NAME, _MAX_LABEL)(name)
    return [*found, *_SUBDOMAIN(prefix)] if slash else found


def _holds(check: Callable[[str], object], reason: str) -> Callable[[str], list[str]]:
    def problems(text: str) -> list[str]:
        try:
            return [] if check(text) is not False else [reason]
        except (ValueError, EvaluationError, binascii.Error):
            return [reason]

    return problems


_LABEL, _OLD_LABEL = _pattern(_LABEL_1123, _MAX_LABEL), _pattern(_LABEL_1035, _MAX_LABEL)
_SUBDOMAIN = _pattern(rf"{_LABEL_1123}(?:\.{_LABEL_1123})*", _MAX_SUBDOMAIN)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FORMATS: dict[str, Callable[[str], list[str]]] = {
    "dns1123Label": _LABEL,
    "dns1123Subdomain": _SUBDOMAIN,
    "dns1035Label": _OLD_LABEL,
    "qualifiedName": _qualified_name,
    "dns1123LabelPrefix": _prefix(_LABEL),
    "dns1123SubdomainPrefix": _prefix(_SUBDOMAIN),
    "dns1035LabelPrefix": _prefix(_OLD_LABEL),
    "labelValue": _pattern(f"(?:{_NAME})?", _MAX_LABEL),
    "uri": _holds(is_url, "invalid URI"),
    "uuid": _holds(lambda text: bool(re.fullmatch(_UUID, text)), "does not match the UUID format"),
    "byte": _holds(lambda text: base64.b64decode(text, validate=True), "invalid base64"),
    "date": _holds(lambda text: bool(_DAY.fullmatch(text)) and date.fromisoformat(text), "invalid date"),
    "datetime": _holds(TIMES["timestamp"][0].run, "invalid datetime"),
}


def _named(name: str) -> Optional:
    return Optional(True, NamedFormat(name)) if name in _FORMATS else NOTHING


def _validate(form: NamedFormat, text: str) -> Optional:
    problems = _FORMATS[form.name](text)
    return Optional(True, problems) if problems else NOTHING


def _maker(name: str) -> Callable[[], NamedFormat]:
    return lambda: NamedFormat(name)


FORMATS = {
    "format.named": [function(STRING, to=optional_of(FORMAT), run=_named)],
    "validate": [method(FORMAT, STRING, to=optional_of(list_of(STRING)), run=_validate)],
    **{f"format.{name}": [function(to=FORMAT, run=_maker(name))] for name in _FORMATS},
}
