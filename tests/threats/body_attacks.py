"""Bodies and sequences of requests that cost much to read: protobuf, server-side apply, patches, YAML."""

import json

from posse.kinds.wire.values import bytes_field, write_varint
from posse.kinds.wire.writing import enveloped, write_object
from tests.threats.attacks import (
    APPLY,
    JSON,
    JSON_PATCH,
    MAPS,
    MB,
    MERGE,
    PODS,
    PROTOBUF,
    STRATEGIC,
    YAML,
    apply,
    config_map,
    container,
    create,
    labels,
    numbered,
    pod,
)

POISON = f"{MAPS}/poison"


def protobuf_pod(content):
    return enveloped("v1", "Pod", content)


def field(number, content=b""):
    return bytes_field(number, content)


def protobuf(content):
    return [("POST", PODS, PROTOBUF, content)]


def nested(levels, number=2):
    content = b""
    for _ in range(levels):
        content = field(number, content)
    return content


def env_pod(names, **more):
    return pod(containers=container(env=[{"name": name, "value": "v"} for name in names], **more))


def halves(count):
    """An order in which one half follows behind the last of the other."""
    middle = count // 2
    return [middle, *range(middle), *range(middle + 1, count)]


def env_names(order):
    return [f"E{i:06}" for i in order]


def applied_twice(first, second, path=f"{PODS}/poison"):
    return [apply(path, first), apply(path, second)]


def managers(count, size):
    data = {f"k{i}": "v" for i in range(size)}
    return [apply(POISON, config_map(data), f"m{number}") for number in range(count)]


def many_entries(count, keys):
    entries = [
        {
            "manager": f"m{i}",
            "operation": "Update",
            "apiVersion": "v1",
            "fieldsV1": {"f:data": {f"f:k{i}": {}}},
        }
        for i in range(count)
    ]
    body = config_map(labels(keys), managedFields=entries)
    return [
        *create(MAPS, config_map({"a": "b"})),
        apply(POISON, config_map({"a": "c"})),
        ("PUT", f"{POISON}?fieldManager=x", JSON, json.dumps(body).encode()),
        ("PUT", f"{POISON}?fieldManager=x", JSON, json.dumps(config_map(labels(keys, "j{}"))).encode()),
    ]


def copies(count):
    """Each doubles what is there."""
    operations = [{"op": "add", "path": "/data", "value": {"a": "x" * 1000}}]
    operations += [{"op": "copy", "from": "/data", "path": f"/data/b{i}"} for i in range(count)]
    return json.dumps(operations).encode()


BODY_ATTACKS = {
    "protobuf: unknown fields": lambda: protobuf(protobuf_pod(b"\xf8\x07\x01" * 900_000)),
    "protobuf: empty containers": lambda: protobuf(protobuf_pod(field(2, field(2) * 1_400_000))),
    "protobuf: arguments": lambda: protobuf(
        protobuf_pod(field(1, field(1, b"p")) + field(2, field(2, field(1, b"c") + field(4) * 1_400_000)))
    ),
    "protobuf: labels": lambda: protobuf(
        protobuf_pod(
            field(
                1,
                field(1, b"p") + b"".join(field(11, field(1, b"%d" % i) + field(2)) for i in range(200_000)),
            )
        )
    ),
    "protobuf: a field again and again": lambda: protobuf(protobuf_pod(field(1, field(1, b"p")) * 400_000)),
    "protobuf: nested": lambda: protobuf(protobuf_pod(nested(1_000_000 // 40))),
    "protobuf: huge length": lambda: protobuf(protobuf_pod(b"\x12" + write_varint(2**62))),
    "protobuf: long numbers": lambda: protobuf(protobuf_pod((b"\x08" + b"\xff" * 9 + b"\x01") * 250_000)),
    "protobuf: times": lambda: protobuf(
        protobuf_pod(field(1, field(1, b"p") + field(8, b"\x08" + write_varint(2**62))))
    ),
    "protobuf: negative times": lambda: protobuf(
        protobuf_pod(field(1, field(1, b"p") + field(8, b"\x08" + write_varint(-(2**62)))))
    ),
    "protobuf: early times": lambda: protobuf(
        protobuf_pod(field(1, field(1, b"p") + field(8, b"\x08" + write_varint(-62_200_000_000))))
    ),
    "protobuf: a whole pod": lambda: protobuf(write_object(pod(containers=container(args=["a"] * 300_000)))),
    "protobuf: envelope within": lambda: protobuf(enveloped("v1", "Pod", protobuf_pod(b""))),
    "protobuf: only the prefix": lambda: protobuf(b"k8s\x00"),
    "protobuf: many types": lambda: protobuf(
        b"k8s\x00" + field(1, field(1, b"v1") + field(2, b"Pod")) * 150_000
    ),
    "protobuf: deep JSON": lambda: [
        (
            "POST",
            "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
            PROTOBUF,
            enveloped(
                "resource.k8s.io/v1",
                "ResourceClaim",
                field(1, field(1, b"p"))
                + field(
                    2,
                    field(
                        1,
                        field(
                            3,
                            field(2, field(1, field(1, b"d") + field(2, field(1, b"[" * 800 + b"]" * 800)))),
                        ),
                    ),
                ),
            ),
        )
    ],
    "apply: lists in another order": lambda: applied_twice(
        env_pod(env_names(range(40_000))), env_pod(env_names(halves(40_000)))
    ),
    "apply: lists reversed": lambda: applied_twice(
        env_pod(env_names(range(40_000))), env_pod(env_names(reversed(range(40_000))))
    ),
    "apply: ports in another order": lambda: applied_twice(
        _service(range(1, 20_000)), _service(halves(20_000)), "/api/v1/namespaces/default/services/poison"
    ),
    "apply: finalizers": lambda: applied_twice(
        config_map(finalizers=numbered(900, "a.b/{}".format)),
        config_map(finalizers=[f"a.b/{i}" for i in halves(900)]),
        POISON,
    ),
    "apply: many managers": lambda: managers(150, 8_000),
    "apply: many small managers": lambda: managers(1500, 3),
    "apply: a large configuration": lambda: [apply(POISON, config_map(labels(150_000)))],
    "apply: all conflicts": lambda: [
        apply(POISON, config_map(labels(60_000)), "a"),
        apply(POISON, config_map({f"k{i}": "w" for i in range(60_000)}), "b", "false"),
    ],
    "apply: deep": lambda: [apply(POISON, {**config_map(), "x": _deep(900)})],
    "apply: deep annotation of kubectl": lambda: [
        apply(
            POISON,
            config_map(
                annotations={"kubectl.kubernetes.io/last-applied-configuration": "[" * 3000 + "]" * 3000}
            ),
            "kubectl",
        ),
        ("PATCH", POISON + "?fieldManager=other", MERGE, b'{"data":{"a":"1"}}'),
        apply(POISON, config_map({"a": "2"}), "kubectl", "false"),
    ],
    "apply: YAML": lambda: [("PATCH", f"{POISON}?fieldManager=a", APPLY, _yaml(250_000))],
    "apply: YAML in braces": lambda: [("PATCH", f"{POISON}?fieldManager=a", APPLY, _yaml_in_braces(250_000))],
    "apply: managed fields sent": lambda: many_entries(12_000, 30_000),
    "apply: managed fields of one object": lambda: many_entries(900, 60_000),
    "update: deep managed fields": lambda: [
        *create(MAPS, config_map({"a": "b"})),
        apply(POISON, config_map({"a": "c"})),
        (
            "PUT",
            f"{POISON}?fieldManager=x",
            JSON,
            json.dumps(
                config_map(
                    managedFields=[{"manager": "m", "operation": "Update", "fieldsV1": _deep(90, "f:a")}]
                )
            ).encode(),
        ),
        ("PATCH", f"{POISON}?fieldManager=y", MERGE, b'{"data":{"a":"1"}}'),
    ],
    "patch: copies that double": lambda: [
        *create(MAPS, config_map({"a": "b"})),
        ("PATCH", POISON, JSON_PATCH, copies(25)),
    ],
    "patch: many operations": lambda: [
        *create(MAPS, config_map({"a": "b"})),
        (
            "PATCH",
            POISON,
            JSON_PATCH,
            json.dumps([{"op": "test", "path": "/data/a", "value": "b"}] * 60_000).encode(),
        ),
    ],
    "patch: insertions at the front": lambda: [
        *create(PODS, pod()),
        (
            "PATCH",
            f"{PODS}/poison",
            JSON_PATCH,
            json.dumps(
                [{"op": "add", "path": "/metadata/finalizers", "value": []}]
                + [{"op": "add", "path": "/metadata/finalizers/0", "value": "a"}] * 40_000
            ).encode(),
        ),
    ],
    "patch: strategic list": lambda: [
        *create(PODS, pod()),
        (
            "PATCH",
            f"{PODS}/poison",
            STRATEGIC,
            json.dumps(
                {"spec": {"containers": container(env=numbered(60_000, lambda i: {"name": f"E{i}"}))}}
            ).encode(),
        ),
    ],
    "patch: order of elements": lambda: [
        *create(PODS, pod()),
        (
            "PATCH",
            f"{PODS}/poison",
            STRATEGIC,
            json.dumps(
                {
                    "spec": {
                        "$setElementOrder/tolerations": numbered(60_000, lambda i: {"key": f"k{i}"}),
                        "tolerations": numbered(20_000, lambda i: {"key": f"k{i}", "operator": "Exists"}),
                    }
                }
            ).encode(),
        ),
    ],
    "patch: deletions from a list": lambda: [
        *create(MAPS, config_map(finalizers=numbered(900, "a.b/{}".format))),
        (
            "PATCH",
            POISON,
            STRATEGIC,
            json.dumps(
                {"metadata": {"$deleteFromPrimitiveList/finalizers": numbered(100_000, "a.b/x{}".format)}}
            ).encode(),
        ),
    ],
    "strict: duplicate fields": lambda: [
        (
            "POST",
            f"{MAPS}?fieldValidation=Strict",
            JSON,
            b'{"data":{' + b",".join(b'"a":"b"' for _ in range(300_000)) + b"}}",
        )
    ],
    "strict: a long number": lambda: [
        ("POST", f"{MAPS}?fieldValidation=Strict", JSON, b'{"x":' + b"1" * 5000 + b"}")
    ],
    "strict: an exponent": lambda: [
        ("POST", f"{MAPS}?fieldValidation=Strict", JSON, b'{"x":1e400,"y":-0,"z":1E-999}')
    ],
    "strict: deep": lambda: [
        ("POST", f"{MAPS}?fieldValidation=Strict", JSON, b'{"x":' + b"[" * 990 + b"]" * 990 + b"}")
    ],
    "strict: large": lambda: [
        ("POST", f"{MAPS}?fieldValidation=Strict", JSON, json.dumps(config_map(labels(200_000))).encode())
    ],
    "JSON: large map": lambda: create(MAPS, config_map(labels(200_000))),
    "JSON: large list": lambda: create(MAPS, {**config_map(), "x": [0] * 1_400_000}),
    "JSON: unknown members": lambda: create(MAPS, {**config_map(), "x": [{"a": 1}] * 300_000}),
    "JSON: a long text": lambda: create(MAPS, config_map({"a": "x" * (3 * MB - 200)})),
    "YAML: large": lambda: create(MAPS, _yaml(200_000), YAML),
    "YAML: anchors": lambda: create(MAPS, b"a: &a [1]\nb: " + b"*a\n" * 1, YAML),
    "YAML: merge keys": lambda: create(MAPS, b"a: {<<: {b: 1}}\n<<: [" + b"{a: 1}," * 60_000 + b"]", YAML),
    "selectors: long": lambda: [
        ("GET", f"{PODS}?labelSelector=" + ",".join(numbered(800, "k{}=v".format)), JSON, None)
    ],
    "selectors: values": lambda: [
        ("GET", f"{PODS}?labelSelector=k+in+(" + ",".join(numbered(1200, "v{}".format)) + ")", JSON, None)
    ],
    "eviction: nothing": lambda: [
        *create(PODS, pod()),
        ("POST", f"{PODS}/poison/eviction", JSON, b'{"deleteOptions":[]}'),
        ("POST", f"{PODS}/poison/eviction", JSON, b'{"deleteOptions":{"preconditions":7}}'),
        ("POST", f"{PODS}/poison/eviction", PROTOBUF, b"k8s\x00"),
    ],
}


def _service(order):
    ports = [{"name": f"p{i}", "port": i % 65535 + 1, "protocol": "TCP"} for i in order]
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "poison"}, "spec": {"ports": ports}}


def _deep(levels, name="a"):
    obj = {}
    for _ in range(levels):
        obj = {name: obj}
    return obj


def _yaml(lines):
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: poison}\ndata:\n"
    return (text + "".join(f" k{i}: v\n" for i in range(lines))).encode()[: 3 * MB - 10] + b"\n"


def _yaml_in_braces(count):
    head = "{apiVersion: v1, kind: ConfigMap, metadata: {name: poison}, data: {"
    return (head + ",".join(f"k{i}: v" for i in range(count)) + "}}").encode()
