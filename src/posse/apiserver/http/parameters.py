"""Query parameters (and DeleteOptions bodies) read into the values the API service takes.

A value that cannot be read is refused by name: a misspelt number must not silently mean the default.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from posse.apiserver.requests import DeleteOptions, FieldValidation, Selection, WriteOptions
from posse.kinds.machinery.errors import bad_request
from posse.model.durations import parse_duration

Query = Mapping[str, str]
T = TypeVar("T")
FIELD_VALIDATIONS = ("Ignore", "Warn", "Strict")
PROPAGATIONS = ("Orphan", "Background", "Foreground")
# So many digits always fit into 64 bits.
COUNT_DIGITS_MAX = 18
COUNT_TEXT = f"a whole number of at least 0 and at most {COUNT_DIGITS_MAX} digits"
SHOWN_CHARACTERS = 64
PROGRAM_CHARACTERS = 128
UNKNOWN_PROGRAM = "unknown"
VERSION_MATCHES = ("Exact", "NotOlderThan")


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """How a watch is to be streamed; what it shows is in the Selection beside it."""

    bookmarks: bool
    initial_events: bool | None
    timeout_seconds: float | None


def selection(query: Query) -> Selection:
    if not query:
        return Selection()
    version_match = _one_of(query, "resourceVersionMatch", VERSION_MATCHES)
    version = query.get("resourceVersion", "")
    if version and not _is_count(version):
        raise bad_request(f'invalid resourceVersion: "{version[:SHOWN_CHARACTERS]}" is not {COUNT_TEXT}')
    return Selection(
        labels=query.get("labelSelector", ""),
        fields=query.get("fieldSelector", ""),
        limit=_count(query, "limit") or 0,
        continue_token=query.get("continue", ""),
        resource_version=version,
        resource_version_match=version_match,
    )


def wants_watch(query: Query) -> bool:
    return bool(query) and _flag(query, "watch") is True


def watch_request(query: Query) -> WatchRequest:
    seconds = _count(query, "timeoutSeconds")
    initial = _flag(query, "sendInitialEvents")
    if initial is not None and query.get("resourceVersionMatch") != "NotOlderThan":
        raise bad_request("sendInitialEvents needs resourceVersionMatch=NotOlderThan")
    return WatchRequest(
        bookmarks=_flag(query, "allowWatchBookmarks") is True,
        initial_events=initial,
        timeout_seconds=float(seconds) if seconds else None,
    )


def write_options(query: Query, user_agent: str = "") -> WriteOptions:
    """Read how to write; a client that names no manager of fields is known by its program."""
    program = user_agent.partition("/")[0].strip()[:PROGRAM_CHARACTERS] or UNKNOWN_PROGRAM
    if not query:
        return WriteOptions(field_manager=program)
    validation = _one_of(query, "fieldValidation", FIELD_VALIDATIONS) or "Warn"
    return WriteOptions(
        dry_run=_dry_run([query["dryRun"]] if "dryRun" in query else []),
        field_validation=cast("FieldValidation", validation),
        field_manager=query.get("fieldManager", "") or program,
        force=_flag(query, "force") is True,
    )


def delete_options(query: Query, body: Mapping[str, Any]) -> DeleteOptions:
    """Read the options from both places they may stand in; the body has the last word."""
    preconditions = _member(body, "preconditions", dict) or {}
    grace_seconds = _member(body, "gracePeriodSeconds", int)
    if grace_seconds is None:
        grace_seconds = _count(query, "gracePeriodSeconds")
    propagation = _member(body, "propagationPolicy", str) or query.get("propagationPolicy", "")
    if propagation and propagation not in PROPAGATIONS:
        raise _not_one_of("propagationPolicy", propagation, PROPAGATIONS)
    dry_run = _member(body, "dryRun", list) or ([query["dryRun"]] if "dryRun" in query else [])
    return DeleteOptions(
        grace_seconds=grace_seconds,
        uid=_member(preconditions, "uid", str) or "",
        resource_version=_member(preconditions, "resourceVersion", str) or "",
        propagation=propagation,
        dry_run=_dry_run(dry_run),
    )


def check_timeout(query: Query) -> None:
    """Requests are answered long before any timeout; one that is no duration is refused all the same."""
    text = query.get("timeout", "") if query else ""
    if text and not wants_watch(query) and parse_duration(text) is None:
        shown = text[:SHOWN_CHARACTERS]
        raise bad_request(f'invalid timeout specified in the request URL - "{shown}" is no duration')


def wants_pretty(query: Query) -> bool:
    return bool(query) and _flag(query, "pretty") is True


def _dry_run(values: list[Any]) -> bool:
    for value in values:
        if value != "All":
            raise _not_one_of("dryRun", str(value), ("All",))
    return bool(values)


def _flag(query: Query, name: str) -> bool | None:
    text = query.get(name)
    if text is None:
        return None
    if text.lower() in {"true", "1", ""}:
        return True
    if text.lower() in {"false", "0"}:
        return False
    raise bad_request(f'{name} must be true or false, not "{text}"')


def _count(query: Query, name: str) -> int | None:
    text = query.get(name)
    if not text:
        return None
    if not _is_count(text):
        raise bad_request(f'{name} must be {COUNT_TEXT}, not "{text[:SHOWN_CHARACTERS]}"')
    return int(text)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= COUNT_DIGITS_MAX


def _one_of(query: Query, name: str, allowed: tuple[str, ...]) -> str:
    value = query.get(name, "")
    if value and value not in allowed:
        raise _not_one_of(name, value, allowed)
    return value


def _not_one_of(name: str, value: str, allowed: tuple[str, ...]) -> Exception:
    return bad_request(f'{name} "{value}" is not known; use {" or ".join(allowed)}')


def _member(body: Mapping[str, Any], name: str, wanted: type[T]) -> T | None:
    """Return a member of a JSON body, refusing one of another type."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise bad_request(f"DeleteOptions: {name} has the wrong type; {wanted.__name__} expected")
    return value
