"""Bodies are decoded by their content type; a fault is told with its place."""

import asyncio
import threading
from types import SimpleNamespace

import pytest

from posse.apiserver.http import bodies
from posse.apiserver.http.bodies import decode
from posse.apiserver.http.negotiation import PROTOBUF
from posse.kinds.machinery.errors import ApiError

JSON = "application/json"
YAML = "application/yaml"


def refusal(body: bytes, media_type: str) -> ApiError:
    with pytest.raises(ApiError) as caught:
        decode(body, media_type)
    return caught.value


def test_json_and_yaml_give_the_same_object():
    expected = {"metadata": {"name": "a", "creationTimestamp": "2026-01-02T03:04:05Z"}, "value": 3}
    as_json = b'{"metadata": {"name": "a", "creationTimestamp": "2026-01-02T03:04:05Z"}, "value": 3}'
    as_yaml = b"metadata:\n  name: a\n  creationTimestamp: 2026-01-02T03:04:05Z\nvalue: 3\n"
    assert decode(as_json, JSON) == expected
    assert decode(as_yaml, "application/yaml") == expected


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b'{"a": 1,}', "line 1, column 9"),
        (b'{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        (b'{"a": @}', "line 1, column 7"),
    ],
)
def test_malformed_json_is_told_by_line_and_column(body, place):
    error = refusal(body, JSON)
    assert error.code == 400
    assert f"not valid JSON: {place}: " in error.message


@pytest.mark.parametrize("body", [b'{"a": ', b'{"a": "\xff"}', b"", b'{"a": NaN}', b"\x00"])
def test_other_broken_json_is_a_bad_request_too(body):
    assert refusal(body, JSON).code == 400


def test_malformed_yaml_is_told_by_its_place():
    error = refusal(b"a: [1\nb: 2\n", "application/yaml")
    assert error.code == 400
    assert "line 2" in error.message


def test_yaml_cannot_name_python_objects():
    assert refusal(b"!!python/object/apply:os.getcwd []", "application/yaml").code == 400


def test_other_content_types_are_refused_with_the_ones_that_are_not():
    error = refusal(b"k8s\x00", "application/vnd.kubernetes.protobuf")
    assert error.code == 415
    assert "application/json" in error.message


@pytest.mark.parametrize("depth", [101, 1100, 100_000])
@pytest.mark.parametrize("around", [("[", "]"), ('{"a": ', "}")])
def test_yaml_nested_too_deeply_is_a_bad_request_and_no_crash(depth, around):
    error = refusal((around[0] * depth + "1" + around[1] * depth).encode(), YAML)
    assert error.code == 400
    assert "nested more than 100 levels deep" in error.message


@pytest.mark.parametrize("depth", [2000, 1_000_000])
def test_json_nested_too_deeply_is_a_bad_request(depth):
    error = refusal(b"[" * depth + b"]" * depth, JSON)
    assert (error.code, error.message) == (400, "what was sent is nested more than 100 levels deep")


def test_yaml_aliases_are_refused_by_their_place():
    doubling = "\n".join(f"a{number + 1}: &a{number + 1} [*a{number}, *a{number}]" for number in range(40))
    for text in (f"a0: &a0 x\n{doubling}", "a: &a0 [*a0]\n", "a: &a0 {b: 1}\nc: {<<: *a0}"):
        error = refusal(text.encode(), YAML)
        assert error.code == 400
        assert "aliases are not taken" in error.message
        assert "line" in error.message


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "1" * 5000,
        "a: !!int x",
        "a: !!bool x",
        "a: !!timestamp x",
        "a: .nan",
        "a: !!set {x}",
        "a: !!binary eA==",
        "{}\n---\n{}",
        "",
    ],
)
def test_yaml_that_is_no_json_value_is_a_bad_request(text):
    assert refusal(text.encode(), YAML).code == 400


def test_keys_of_yaml_objects_become_text():
    assert decode(b"{2: a, true: b}", YAML) == {"2": "a", "true": "b"}


def test_the_values_in_yaml_are_limited():
    error = refusal(b"[" + b"1," * 100_000 + b"]", YAML)
    assert "more than 100000 values" in error.message


@pytest.mark.parametrize("media_type", [YAML, PROTOBUF])
def test_a_large_body_that_is_slow_to_read_is_read_beside_others(media_type, monkeypatch):
    threads = []
    monkeypatch.setattr(
        bodies, "decode", lambda *_: threads.append(threading.current_thread()) or {"kind": "x"}
    )
    asyncio.run(bodies.read_object(_Request(media_type, b"x" * 40_000)))
    asyncio.run(bodies.read_configuration(_Request(media_type, b"x" * 40_000)))
    assert threading.main_thread() not in threads
    asyncio.run(bodies.read_object(_Request(media_type, b"x")))
    assert threads.pop() is threading.main_thread()


class _Request:
    def __init__(self, media_type, body):
        self.headers = {"Content-Type": media_type}
        self.content = SimpleNamespace(is_eof=lambda: True)
        self._body = body

    async def read(self):
        return self._body
