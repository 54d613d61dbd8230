"""Names, labels and the like."""

import pytest

from posse.model import formats

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
WORD = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


@pytest.mark.parametrize(
    ("form", "text", "problems"),
    [
        (formats.dns_label, "my-name", []),
        (formats.dns_label, "0" * 63, []),
        (formats.dns_label, "0" * 64, ["must be no more than 63 bytes"]),
        (formats.dns_label, "A_b", [LABEL]),
        (formats.dns_label, "a\n", [LABEL]),
        (formats.dns_label, "a.b", ["must not contain dots"]),
        (formats.dns_subdomain, "a.b-c.d", []),
        (formats.dns_subdomain, "", [SUBDOMAIN]),
        (formats.dns_subdomain, "a..b", [SUBDOMAIN]),
        (formats.dns_subdomain, "a" * 254, ["must be no more than 253 bytes"]),
        (formats.label_key, "example.com/My_name.1", []),
        (formats.label_key, "name", []),
        (formats.label_key, "", ["name part must be non-empty", f"name part {WORD}"]),
        (formats.label_key, "/x", ["prefix part must be non-empty"]),
        (formats.label_key, "A_/x", [f"prefix part {SUBDOMAIN}"]),
        (formats.label_key, "x" * 64, ["name part must be no more than 63 bytes"]),
        (
            formats.label_key,
            "a/b/c",
            [
                (
                    f"a valid label key {WORD} with an optional DNS subdomain prefix and '/' "
                    "(e.g. 'example.com/MyName')"
                )
            ],
        ),
        (formats.label_value, "", []),
        (formats.label_value, "a.B_1", []),
        (formats.label_value, "-a", [VALUE]),
        (formats.label_value, "ü" * 32, ["must be no more than 63 bytes", VALUE]),
        (formats.path_segment, "Job", []),
        (formats.path_segment, "..", ["may not be '..'"]),
        (formats.path_segment, "a/%", ["may not contain '/'", "may not contain '%'"]),
        (formats.condition_reason, "Unschedulable", []),
        (formats.config_key, "tls.crt", []),
        (formats.percent, "50%", []),
    ],
)
def test_format(form: formats.Format, text: str, problems: list[str]) -> None:
    assert form(text) == problems


@pytest.mark.parametrize(
    ("form", "text", "start"),
    [
        (formats.condition_reason, "1st", "a condition reason must start with alphabetic character"),
        (formats.config_key, "a b", "a valid config key must consist of"),
        (formats.percent, "half", "a valid percent string must be a numeric string"),
    ],
)
def test_format_refused(form: formats.Format, text: str, start: str) -> None:
    assert [problem.startswith(start) for problem in form(text)] == [True]
