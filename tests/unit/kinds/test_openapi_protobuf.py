"""OpenAPI as protobuf, read back by the field numbers of the published messages."""

import struct

import msgspec
import pytest

from posse.kinds.openapi import openapi_v2, openapi_v3
from posse.kinds.openapi_v2_protobuf import openapi_v2_protobuf
from posse.kinds.openapi_v3_protobuf import openapi_v3_protobuf
from posse.kinds.registry import KINDS

SERVED = sorted({(kind.group, version) for kind in KINDS for version in kind.versions})


def fields_of(data):
    """Read a protobuf message: numbers of fields with their contents, as they come."""
    place = 0

    def varint():
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    found = []
    while place < len(data):
        number, wire_type = divmod(varint(), 8)
        if wire_type == 0:
            found.append((number, varint()))
            continue
        size = 8 if wire_type == 1 else varint()
        found.append((number, data[place : place + size]))
        place += size
    return found


def named(data, number):
    """The entries of a map that a field holds, by name."""
    entries = [dict(fields_of(content)) for found, content in fields_of(data) if found == number]
    return {entry[1].decode(): entry[2] for entry in entries}


def test_openapi_v2_says_the_same_in_protobuf():
    document = openapi_v2()
    message = dict(fields_of(openapi_v2_protobuf(document)))
    assert message[1] == b"2.0"
    assert named(message[8], 2).keys() == document["paths"].keys()
    definitions = named(message[9], 1)
    assert definitions.keys() == document["definitions"].keys()
    for name, schema in document["definitions"].items():
        properties = dict(fields_of(definitions[name])).get(25, b"")
        assert named(properties, 1).keys() == schema.get("properties", {}).keys()


def test_openapi_v2_in_protobuf_names_kinds_types_bounds_and_parameters():
    message = dict(fields_of(openapi_v2_protobuf(openapi_v2())))
    pod = named(message[9], 1)["io.k8s.api.core.v1.Pod"]
    [kind] = msgspec.json.decode(dict(fields_of(named(pod, 31)["x-kubernetes-group-version-kind"]))[2])
    assert kind == {"group": "", "version": "v1", "kind": "Pod"}
    gang = named(message[9], 1)["io.k8s.api.scheduling.v1beta1.GangSchedulingPolicy"]
    minimum = dict(fields_of(named(dict(fields_of(gang))[25], 1)["minCount"]))
    assert (minimum[22], minimum[9]) == (b"\x0a\x07integer", struct.pack("<d", 1.0))
    create = fields_of(dict(fields_of(named(message[8], 2)["/api/v1/namespaces"]))[4])
    assert (5, b"createCoreV1Namespace") in create
    assert any(number == 8 and b"fieldValidation" in content for number, content in create)


def text(content):
    return content.decode()


def double(content):
    return struct.unpack("<d", content)[0]


def anything(content):
    return msgspec.json.decode(dict(fields_of(content))[2])


def itself(numbers):
    """A message that is the first of a choice between it and a reference."""

    def read(content):
        [(number, inner)] = fields_of(content)
        return {"$ref": text(dict(fields_of(inner))[1])} if number == 2 else message(numbers())(inner)

    return read


def message(numbers):
    """A message whose fields have these names: a list where more than one may come, a map by names."""

    def read(content):
        found = {}
        for number, value in fields_of(content):
            name, form, reader = numbers[number]
            if form == "one":
                found[name] = reader(value)
            elif form == "many":
                found.setdefault(name, []).append(reader(value))
            else:
                entry = dict(fields_of(value))
                holder = found if form == "extension" else found.setdefault(name, {})
                holder[text(entry[1])] = reader(entry[2])
        return found

    return read


def map_of(number, reader):
    """A message that holds nothing but a map."""
    return lambda content: message({number: ("all", "map", reader)})(content).get("all", {})


def only(reader):
    return lambda content: reader(dict(fields_of(content))[1])


def schema_fields():
    schemas, one_schema = ("many", SCHEMA), ("one", only(SCHEMA))
    return {
        11: ("maximum", "one", double),
        13: ("minimum", "one", double),
        18: ("maxItems", "one", int),
        19: ("minItems", "one", int),
        21: ("maxProperties", "one", int),
        23: ("required", "many", text),
        24: ("enum", "many", anything),
        25: ("type", "one", text),
        26: ("allOf", *schemas),
        27: ("oneOf", *schemas),
        30: ("items", *one_schema),
        31: ("properties", "one", map_of(1, SCHEMA)),
        32: ("additionalProperties", *one_schema),
        34: ("description", "one", text),
        35: ("format", "one", text),
        36: ("", "extension", anything),
    }


SCHEMA = itself(schema_fields)
MEDIA = map_of(1, message({1: ("schema", "one", SCHEMA)}))
PARAMETER = itself(
    lambda: {
        1: ("name", "one", text),
        2: ("in", "one", text),
        4: ("required", "one", bool),
        10: ("schema", "one", SCHEMA),
    }
)
BODY = itself(lambda: {2: ("content", "one", MEDIA), 3: ("required", "one", bool)})
RESPONSE = itself(lambda: {1: ("description", "one", text), 3: ("content", "one", MEDIA)})
OPERATION = message(
    {
        5: ("operationId", "one", text),
        6: ("parameters", "many", PARAMETER),
        7: ("requestBody", "one", BODY),
        8: ("responses", "one", map_of(2, RESPONSE)),
        13: ("", "extension", anything),
    }
)
METHODS = {4: "get", 5: "put", 6: "post", 7: "delete", 10: "patch"}
PATH_ITEM = message(
    {number: (name, "one", OPERATION) for number, name in METHODS.items()}
    | {13: ("parameters", "many", PARAMETER)}
)
INFO = {1: ("title", "one", text), 2: ("description", "one", text), 6: ("version", "one", text)}
DOCUMENT = message(
    {
        1: ("openapi", "one", text),
        2: ("info", "one", message(INFO)),
        4: ("paths", "one", map_of(1, PATH_ITEM)),
        5: ("components", "one", message({1: ("schemas", "one", map_of(1, SCHEMA))})),
    }
)


@pytest.mark.parametrize(("group", "version"), SERVED)
def test_openapi_v3_in_protobuf_is_the_whole_document(group, version):
    document = openapi_v3(group, version)
    assert DOCUMENT(openapi_v3_protobuf(document)) == msgspec.json.decode(msgspec.json.encode(document))
