"""The formats of names around devices: drivers, attributes, versions, shares. See formats.py."""

import re

from posse.model.formats import (
    DNS_SUBDOMAIN,
    SUBDOMAIN_LENGTH_MAX,
    Format,
    dns_subdomain,
    is_extended,
    label_key,
)

DRIVER_BYTES_MAX = 63
IDENTIFIER_BYTES_MAX = 32

_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_C_IDENTIFIER_TEXT = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    f"'{_C_IDENTIFIER}')"
)
_UID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UID_TEXT = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase "
    "hexadecimal characters"
)
_NUMBER = r"(0|[1-9]\d*)"
_PRE_RELEASE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = "[0-9a-zA-Z-]+"
_SEMANTIC_VERSION = (
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE_RELEASE}(\.{_PRE_RELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?"
)
_QUOTA_PREFIX = "requests."


def _matching(pattern: str, problem: str) -> Format:
    whole = re.compile(pattern, re.ASCII)
    return Format(lambda text: [] if whole.fullmatch(text) else [problem], pattern, 0)


def _extended_resource_problems(name: str) -> list[str]:
    is_valid = is_extended(name) and not name.startswith(_QUOTA_PREFIX)
    if is_valid and not label_key(f"{_QUOTA_PREFIX}{name}"):
        return []
    return ["must be a valid extended resource name"]


# Upper case is accepted, too.
driver_name = Format(lambda text: dns_subdomain(text.lower()), DNS_SUBDOMAIN, SUBDOMAIN_LENGTH_MAX)
c_identifier = _matching(_C_IDENTIFIER, _C_IDENTIFIER_TEXT)
normalized_uid = _matching(_UID, _UID_TEXT)
semantic_version = _matching(_SEMANTIC_VERSION, "must be a string compatible with semver.org spec 2.0.0")
extended_resource = Format(_extended_resource_problems, label_key.pattern, label_key.max_length)
