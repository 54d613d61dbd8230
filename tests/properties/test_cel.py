"""Our CEL against Google's implementation: equal values, or both refuse.

Devices are left out of it, since their types are of Kubernetes alone: what attributes would give are values of
type dyn here.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings
from hypothesis import given
from hypothesis import strategies as st

from posse.cel.compiler import Compiler
from posse.cel.errors import CelError, EvaluationError
from posse.cel.parser import parse
from posse.cel.types import DYN, STRING, map_of
from posse.cel.values import Duration, Optional, Timestamp, plain_key

NAMES = {
    "model": "A100",
    "rank": 2,
    "ecc": True,
    "empty": "",
    "share": 0.5,
    "tags": ["a", "b"],
    "sizes": [1, 2, 3],
}
REFERENCE = cel.NewEnv(
    variables={"a": cel.Type.Map(cel.Type.STRING, cel.Type.DYN)},
    extensions=[ext_bindings.ExtBindings(), ext_strings.ExtStrings(), ext_optional.ExtOptional()],
)

INTS = st.sampled_from(
    ["0", "1", "2", "-3", "7", "a.rank", "int(a.rank)", "size(a.tags)", "9223372036854775807"]
)
TEXTS = st.sampled_from(
    ["''", "'a'", "'A100'", "a.model", "a.empty", "a['model']", "'x-y-z'", "string(a.rank)"]
)
TRUTHS = st.sampled_from(["true", "false", "a.ecc", "has(a.rank)", "has(a.color)", "'ecc' in a", "a.color"])
LISTS = st.sampled_from(["[1, 2, 3]", "[]", "a.sizes", "a.tags", "['a', 'b', 'c']", "[1, 'a']", "a.missing"])
# Whole seconds: Go, as Kubernetes, writes fractions without trailing zeros, and the reference does not.
TIMES = st.sampled_from(
    [
        "timestamp('2026-01-02T03:04:05Z')",
        "timestamp('2024-02-29t23:59:59-03:30')",
        "timestamp(a.rank)",
        "timestamp(a.model)",
        "duration('1h30m')",
        "duration('-90s')",
        "duration(a.empty)",
        "duration('1.5m')",
    ]
)
LEAVES = INTS | TEXTS | TRUTHS | LISTS | TIMES
FIELDS = ["getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"]
FIELDS += ["getHours", "getMinutes", "getSeconds"]


def grown(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(parts, parts)
    return st.one_of(
        st.tuples(
            parts,
            st.sampled_from(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in", "&&", "||"]),
            parts,
        ).map(lambda three: f"({three[0]} {three[1]} {three[2]})"),
        parts.map(lambda part: f"!({part})"),
        parts.map(lambda part: f"-({part})"),
        st.tuples(parts, parts, parts).map(lambda three: f"({three[0]} ? {three[1]} : {three[2]})"),
        st.tuples(parts, st.sampled_from(["contains", "startsWith", "endsWith", "split"]), parts).map(
            lambda three: f"{three[0]}.{three[1]}({three[2]})"
        ),
        st.tuples(parts, st.sampled_from(["lowerAscii", "upperAscii", "size", "trim"])).map(
            lambda two: f"{two[0]}.{two[1]}()"
        ),
        st.tuples(st.sampled_from(["string", "size", "dyn"]), parts).map(lambda two: f"{two[0]}({two[1]})"),
        st.tuples(parts, st.sampled_from(["all", "exists", "exists_one", "filter", "map"]), parts).map(
            lambda three: f"{three[0]}.{three[1]}(x, {three[2]} == x)"
        ),
        st.tuples(parts, st.sampled_from(FIELDS), st.sampled_from(["", "'+02:30'", "'Europe/Berlin'"])).map(
            lambda three: f"{three[0]}.{three[1]}({three[2]})"
        ),
        pairs.map(lambda two: f"'<%s|%s>'.format([{two[0]}, {two[1]}])"),
        st.tuples(st.sampled_from("dxXob"), INTS).map(lambda two: f"'%{two[0]}%%'.format([{two[1]}])"),
        st.tuples(st.sampled_from(["%f", "%.1f", "%e", "%.3e"]), st.sampled_from(["1.5", "a.share"])).map(
            lambda two: f"'{two[0]}'.format([{two[1]}])"
        ),
        pairs.map(lambda two: f"cel.bind(y, {two[0]}, [y, {two[1]}])"),
        pairs.map(lambda two: f"a.?{'model' if len(two[0]) % 2 else 'color'}.orValue({two[1]})"),
        pairs.map(lambda two: f"{two[0]}[{two[1]}]"),
        pairs.map(lambda two: f"{{{two[0]}: {two[1]}}}"),
        pairs.map(lambda two: f"[{two[0]}, {two[1]}]"),
    )


EXPRESSIONS = st.recursive(LEAVES, grown, max_leaves=6)
REFUSED = object()


def ours(text: str) -> Any:
    compiler = Compiler(text, {"a": map_of(STRING, DYN)}, {})
    try:
        piece = compiler.compile(parse(text))
        frame: list[Any] = [10**9, NAMES, *[None] * compiler.slots]
        return plain(piece.run(frame))
    except (CelError, EvaluationError):
        return REFUSED


def plain(value: Any) -> Any:
    if isinstance(value, Timestamp):
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value.nanos // 1000)
    if isinstance(value, Duration):
        return timedelta(microseconds=value.nanos // 1000)
    if isinstance(value, Optional):
        return plain(value.value) if value.is_set else None
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {plain_key(key): plain(item) for key, item in value.items()}
    return value


def theirs(text: str) -> Any:
    try:
        value = REFERENCE.compile(text).eval(data={"a": NAMES})
    except (RuntimeError, ValueError):
        return REFUSED
    return REFUSED if value.type() == cel.Type.ERROR else value.plain_value()


def kinds(value: Any) -> Any:
    """The value with the types of all that is in it: 1, 1.0 and true are not the same."""
    if isinstance(value, list):
        return [kinds(item) for item in value]
    if isinstance(value, dict):
        return sorted((repr(kinds(key)), repr(kinds(item))) for key, item in value.items())
    return type(value).__name__, value


@given(EXPRESSIONS)
def test_values_are_those_of_the_reference(text: str) -> None:
    expected, found = theirs(text), ours(text)
    if expected is REFUSED or found is REFUSED:
        assert found is expected, f"{text}: {found!r}, the reference says {expected!r}"
    else:
        assert kinds(found) == kinds(expected), text
