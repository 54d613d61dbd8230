"""The formats of names, labels and the like. A format called with a text returns what is wrong with it.

The messages are those of the Kubernetes API server. Fields name their format as a constraint (see
constraints.py).
"""

import re
from collections.abc import Callable
from functools import lru_cache

MAX_REMEMBERED = 4096

LABEL_LENGTH_MAX = 63
SUBDOMAIN_LENGTH_MAX = 253

DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DNS_SUBDOMAIN = rf"{DNS_LABEL}(\.{DNS_LABEL})*"
WORD = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
# A first and a last character, and at most so many between them.
_SHORT_WORD = WORD.replace("*", f"{{0,{LABEL_LENGTH_MAX - 2}}}")
_LABEL_KEY = f"({DNS_SUBDOMAIN}/)?{_SHORT_WORD}"
# Neither "." nor "..".
_PATH_SEGMENT = r"([^/%.][^/%]*|\.[^/%.][^/%]*|\.\.[^/%]+)"
_LABEL_VALUE = rf"({WORD})?"
CONDITION_REASON = r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_DNS_1035_LABEL = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
_PERCENT = r"[0-9]+%"
_PORT_NAME = r"(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*"
_TRIMMED = r"\S(.*\S)?"
CONTAINER_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
HUGE_PAGES_PREFIX = "hugepages-"
_NATIVE_DOMAIN = "kubernetes.io/"

_DNS_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_DNS_1035_LABEL_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, "
    "and end with an alphanumeric character"
)
_DNS_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_WORD_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL_VALUE_TEXT = "a valid label must be an empty string or consist of" + _WORD_TEXT.removeprefix(
    "must consist of"
)
_CONDITION_REASON_TEXT = (
    "a condition reason must start with alphabetic character, optionally followed by a string "
    "of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'"
)
_CONFIG_KEY_TEXT = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
_PORT_NAME_TEXT = (
    "must be at most 15 lower case alphanumeric characters or '-', contain a letter, "
    "and neither begin nor end with '-' nor contain '--'"
)
_PERCENT_TEXT = "a valid percent string must be a numeric string followed by an ending '%'"


class Format:
    """`pattern` and `max_length` describe the format in a schema; a length of 0 means that it sets none."""

    def __init__(self, check: Callable[[str], list[str]], pattern: str, max_length: int) -> None:
        self.pattern = pattern
        self.max_length = max_length
        # The same names of resources, labels and namespaces are checked again and again.
        self.problems: Callable[[str], tuple[str, ...]] = lru_cache(MAX_REMEMBERED)(
            lambda text: tuple(check(text))
        )

    def __call__(self, text: str) -> list[str]:
        return list(self.problems(text))


def _format(pattern: str, max_length: int = 0) -> Callable[[Callable[[str], list[str]]], Format]:
    return lambda check: Format(check, pattern, max_length)


@_format(DNS_LABEL, LABEL_LENGTH_MAX)
def dns_label(text: str) -> list[str]:
    """Kubernetes calls it a short name."""
    problems = _too_long(text, LABEL_LENGTH_MAX)
    if re.fullmatch(DNS_LABEL, text):
        return problems
    if re.fullmatch(DNS_SUBDOMAIN, text):
        return [*problems, "must not contain dots"]
    return [*problems, _mismatch(_DNS_LABEL_TEXT, DNS_LABEL, "my-name", "123-abc")]


@_format(_DNS_1035_LABEL, LABEL_LENGTH_MAX)
def dns_1035_label(text: str) -> list[str]:
    """Like a short name, but it begins with a letter."""
    problems = _too_long(text, LABEL_LENGTH_MAX)
    if not re.fullmatch(_DNS_1035_LABEL, text):
        problems.append(_mismatch(_DNS_1035_LABEL_TEXT, _DNS_1035_LABEL, "my-name", "abc-123"))
    return problems


@_format(DNS_SUBDOMAIN, SUBDOMAIN_LENGTH_MAX)
def dns_subdomain(text: str) -> list[str]:
    """Kubernetes calls it a long name."""
    problems = _too_long(text, SUBDOMAIN_LENGTH_MAX)
    if not re.fullmatch(DNS_SUBDOMAIN, text):
        problems.append(_mismatch(_DNS_SUBDOMAIN_TEXT, DNS_SUBDOMAIN, "example.com"))
    return problems


@_format(_LABEL_KEY, SUBDOMAIN_LENGTH_MAX + 1 + LABEL_LENGTH_MAX)
def label_key(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    word = _mismatch(_WORD_TEXT, WORD, "MyName", "my.name", "123-abc")
    if "/" in prefix:
        hint = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {word} {hint}"]
    problems = [f"prefix part {problem}" for problem in _prefix_problems(prefix)] if slash else []
    if not name:
        problems.append("name part must be non-empty")
    problems += [f"name part {problem}" for problem in _too_long(name, LABEL_LENGTH_MAX)]
    if not re.fullmatch(WORD, name):
        problems.append(f"name part {word}")
    return problems


@_format(_LABEL_VALUE, LABEL_LENGTH_MAX)
def label_value(text: str) -> list[str]:
    problems = _too_long(text, LABEL_LENGTH_MAX)
    if not re.fullmatch(_LABEL_VALUE, text):
        problems.append(_mismatch(_LABEL_VALUE_TEXT, _LABEL_VALUE, "MyValue", "my_value", "12345"))
    return problems


@_format(_PATH_SEGMENT, SUBDOMAIN_LENGTH_MAX)
def path_segment(text: str) -> list[str]:
    if text in {".", ".."}:
        return [f"may not be '{text}'"]
    return [f"may not contain '{part}'" for part in ("/", "%") if part in text]


@_format(CONDITION_REASON)
def condition_reason(text: str) -> list[str]:
    if re.fullmatch(CONDITION_REASON, text):
        return []
    examples = ("my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")
    return [_mismatch(_CONDITION_REASON_TEXT, CONDITION_REASON, *examples)]


@_format(_CONFIG_KEY, SUBDOMAIN_LENGTH_MAX)
def config_key(text: str) -> list[str]:
    problems = _too_long(text, SUBDOMAIN_LENGTH_MAX)
    if not re.fullmatch(_CONFIG_KEY, text):
        problems.append(_mismatch(_CONFIG_KEY_TEXT, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    return problems


@_format(_PERCENT)
def percent(text: str) -> list[str]:
    if re.fullmatch(_PERCENT, text):
        return []
    return [_mismatch(_PERCENT_TEXT, _PERCENT, "1%", "93%")]


@_format(_PORT_NAME)
def port_name(text: str) -> list[str]:
    return [] if re.fullmatch(_PORT_NAME, text) else [_PORT_NAME_TEXT]


@_format(_TRIMMED)
def trimmed(text: str) -> list[str]:
    return [] if text == text.strip() else ["must not have leading or trailing whitespace"]


@_format(_LABEL_KEY, SUBDOMAIN_LENGTH_MAX + 1 + LABEL_LENGTH_MAX)
def container_resource(text: str) -> list[str]:
    is_known = "/" in text or text in CONTAINER_RESOURCES or text.startswith(HUGE_PAGES_PREFIX)
    return label_key(text) + ([] if is_known else ["must be a standard resource for containers"])


def is_extended(resource: str) -> bool:
    """A resource that Kubernetes does not know, named by a domain."""
    return "/" in resource and _NATIVE_DOMAIN not in resource


def _prefix_problems(prefix: str) -> list[str]:
    return dns_subdomain(prefix) if prefix else ["must be non-empty"]


def _too_long(text: str, length_max: int) -> list[str]:
    if len(text.encode(errors="surrogatepass")) <= length_max:
        return []
    return [f"must be no more than {length_max} bytes"]


def _mismatch(text: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {shown}regex used for validation is '{pattern}')"
