"""Odd JSON, YAML, protobuf, patches and queries."""

import json

from tests.threats.attacks import (
    JSON,
    JSON_PATCH,
    MAPS,
    MB,
    PODS,
    PROTOBUF,
    STRATEGIC,
    YAML,
    config_map,
    create,
    labels,
    numbered,
    pod,
)
from tests.threats.body_attacks import field, protobuf, protobuf_pod


def odd(body, path=MAPS, media_type=JSON):
    return [("POST", path, media_type, body)]


def operations(count, make):
    return [
        *create(MAPS, config_map(labels(2000))),
        ("PATCH", f"{MAPS}/poison", JSON_PATCH, json.dumps(numbered(count, make)).encode()),
    ]


def listed(query, path=PODS):
    return [("GET", f"{path}?{query}", JSON, None)]


TEXT_ATTACKS = {
    "JSON: surrogates": lambda: odd(b'{"metadata":{"name":"poison"},"data":{"a":"\\ud800","\\udfff":"b"}}'),
    "JSON: NUL": lambda: odd(b'{"metadata":{"name":"poison"},"data":{"a\\u0000":"\\u0000"}}'),
    "JSON: no UTF-8": lambda: odd(b'{"metadata":{"name":"poison"},"data":{"a":"\xff\xfe\xc0\x80"}}'),
    "JSON: a number of many digits": lambda: odd(
        b'{"metadata":{"name":"poison","generation":' + b"9" * MB + b"}}"
    ),
    "JSON: an exponent of many digits": lambda: odd(
        b'{"metadata":{"name":"poison","generation":1e' + b"9" * 1000 + b"}}"
    ),
    "JSON: NaN": lambda: odd(b'{"metadata":{"name":"poison"},"data":{"a":NaN,"b":-Infinity}}'),
    "JSON: a byte order mark": lambda: odd(b'\xef\xbb\xbf{"metadata":{"name":"poison"}}'),
    "JSON: names twice": lambda: odd(
        b'{"metadata":{"name":"poison"},' + b'"metadata":{"name":"poison"},' * 90_000 + b'"a":1}'
    ),
    "JSON: broad and deep": lambda: odd(
        b'{"x":'
        + (b"[" * 90 + b"]" * 90 + b",").join([b""] * 1)
        + b"["
        + b",".join([b"[" * 90 + b"]" * 90] * 10_000)
        + b"]}"
    ),
    "YAML: surrogates": lambda: odd(
        b'metadata: {name: poison}\ndata: {"a": "\\ud800\\udc00"}', media_type=YAML
    ),
    "YAML: tags": lambda: odd(b"a: !!python/object/apply:os.system [x]\n" * 1000, media_type=YAML),
    "YAML: sexagesimal numbers": lambda: odd(
        b"data: {a: " + b":".join([b"59"] * 50_000) + b"}", media_type=YAML
    ),
    "YAML: long integers": lambda: odd(
        b"data: {a: " + b"9" * 500_000 + b", b: 0x" + b"f" * 500_000 + b"}", media_type=YAML
    ),
    "YAML: times": lambda: odd(
        b"data: [" + b"2001-12-14t21:59:43.10-05:00," * 30_000 + b"]", media_type=YAML
    ),
    "YAML: documents": lambda: odd(b"---\na: 1\n" * 100_000, media_type=YAML),
    "YAML: many anchors": lambda: odd(
        b"".join(
            b"a%d: &a%d [%s]\n" % (i, i, b",".join([b"*a%d" % (i - 1)] * 9) if i else b"1") for i in range(12)
        ),
        media_type=YAML,
    ),
    "YAML: deep": lambda: odd(b"[" * 5000, media_type=YAML),
    "YAML: indented": lambda: odd(b"".join(b" " * i + b"a:\n" for i in range(900)), media_type=YAML),
    "YAML: a long key": lambda: odd(b"? " + b"a" * MB + b"\n: b", media_type=YAML),
    "protobuf: cut off": lambda: protobuf(protobuf_pod(field(1, field(1, b"poison")))[:-3]),
    "protobuf: groups": lambda: protobuf(protobuf_pod(b"\x0b" * 100_000)),
    "protobuf: ended groups": lambda: protobuf(protobuf_pod(b"\x0b\x0c" * 100_000)),
    "protobuf: unknown wire types": lambda: protobuf(protobuf_pod(b"\x0e\x0f" * 1000)),
    "protobuf: long keys": lambda: protobuf(protobuf_pod(b"\xff" * 100_000)),
    "protobuf: no UTF-8": lambda: protobuf(protobuf_pod(field(1, field(1, b"\xff\xfe")))),
    "protobuf: packed": lambda: protobuf(
        protobuf_pod(field(1, field(1, b"poison")) + field(2, field(14, field(4, b"\x01" * MB))))
    ),
    "protobuf: of a list": lambda: [
        ("PUT", f"{PODS}/poison", PROTOBUF, protobuf_pod(field(1, field(1, b"poison")))),
        ("PATCH", f"{PODS}/poison", PROTOBUF, protobuf_pod(b"")),
    ],
    "patch: tests of the whole": lambda: operations(
        5000, lambda i: {"op": "test", "path": "", "value": {"metadata": {}}}
    ),
    "patch: moves": lambda: operations(
        9000,
        lambda i: {
            "op": "move",
            "from": f"/data/{'k0' if i % 2 == 0 else 'z'}",
            "path": f"/data/{'z' if i % 2 == 0 else 'k0'}",
        },
    ),
    "patch: copies of the whole": lambda: operations(
        9000, lambda i: {"op": "copy", "from": "/data", "path": "/metadata/annotations"}
    ),
    "patch: deep pointers": lambda: operations(
        3000, lambda i: {"op": "add", "path": "/data" + "/a" * 900, "value": 1}
    ),
    "patch: tests of copies": lambda: operations(
        9000,
        lambda i: {"op": "copy" if i % 2 else "test", "from": "/data", "path": "/data", "value": labels(1)},
    ),
    "patch: removals from the front": lambda: [
        *create(MAPS, config_map(finalizers=numbered(900, "a.b/{}".format))),
        (
            "PATCH",
            f"{MAPS}/poison",
            JSON_PATCH,
            json.dumps([{"op": "remove", "path": "/metadata/finalizers/0"}] * 9000).encode(),
        ),
    ],
    "patch: directives": lambda: [
        *create(PODS, pod()),
        *[
            ("PATCH", f"{PODS}/poison", STRATEGIC, json.dumps(one).encode())
            for one in (
                {"$patch": "delete"},
                {"spec": {"$patch": "replace"}},
                {"spec": {"$retainKeys": ["a"] * 50_000}},
                {"spec": {"containers": [{"$patch": "replace"}] * 5000}},
                {"spec": {"containers": [{"$patch": "delete", "name": f"c{i}"} for i in range(20_000)]}},
                {"spec": {"$setElementOrder/containers": [{"name": "c"}] * 20_000}},
                {"spec": {"$deleteFromPrimitiveList/x": 7}},
                {"metadata": {"$setElementOrder/finalizers": numbered(50_000, str)}},
            )
        ],
    ],
    "list: a selector of many values": lambda: listed(
        "labelSelector=" + ",".join(["a+notin+(" + ",".join(["v"] * 50) + ")"] * 35)
    ),
    "list: fields": lambda: listed("fieldSelector=" + ",".join(["status.phase!=x"] * 300)),
    "list: brackets": lambda: listed("labelSelector=" + "(" * 7000),
    "list: a long selector": lambda: listed("labelSelector=" + "a" * 7000),
    "watch: odd times": lambda: [
        *listed("watch=true&timeoutSeconds=-1&allowWatchBookmarks=maybe"),
        *listed("watch=true&timeoutSeconds=1&resourceVersion=-5"),
        *listed("watch=1&sendInitialEvents=true&resourceVersionMatch=x&timeoutSeconds=1"),
        *listed("resourceVersionMatch=Exact&resourceVersion=0&limit=-1"),
    ],
}
