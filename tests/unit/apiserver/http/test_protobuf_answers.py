"""Clients that take nothing but protobuf get it: objects, lists, watch frames, Status, and metadata alone."""

from posse.kinds.wire.messages import find_message, meta_message
from posse.kinds.wire.reading import read_message, read_object
from posse.kinds.wire.values import wire_fields
from posse.kinds.wire.writing import write_object

PROTOBUF = "application/vnd.kubernetes.protobuf"
METADATA = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
MAPS = "/api/v1/namespaces/default/configmaps"
JOB_SETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}}


def sent(http, method, path, obj):
    return http(method, path, write_object(obj), Content_Type=PROTOBUF, Accept=PROTOBUF)


def test_an_object_goes_in_and_comes_out(http):
    created = sent(http, "POST", MAPS, config_map("one"))
    assert (created.status_code, created.headers["Content-Type"]) == (201, PROTOBUF)
    obj = read_object(created.content)
    assert (obj["kind"], obj["data"]) == ("ConfigMap", {"a": "b"})
    changed = sent(http, "PUT", f"{MAPS}/one", obj | {"data": {"a": "c"}})
    assert read_object(changed.content)["data"] == {"a": "c"}
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    gone = read_object(sent(http, "DELETE", f"{MAPS}/one", options).content)
    assert (gone["kind"], gone["status"], gone["details"]["name"]) == ("Status", "Success", "one")


def test_a_list_and_its_metadata(http):
    for name in ("one", "two"):
        sent(http, "POST", MAPS, config_map(name))
    listing = read_object(http("GET", MAPS, Accept=PROTOBUF).content)
    assert listing["kind"] == "ConfigMapList"
    assert [item["metadata"]["name"] for item in listing["items"]][-2:] == ["one", "two"]
    assert listing["metadata"]["resourceVersion"]
    body = http("GET", MAPS, Accept=METADATA_LIST).content
    partial = read_message(meta_message("PartialObjectMetadataList"), body, *content_of(body))
    assert [item["metadata"]["name"] for item in partial["items"]][-2:] == ["one", "two"]
    one = http("GET", f"{MAPS}/one", Accept=METADATA).content
    metadata = read_message(meta_message("PartialObjectMetadata"), one, *content_of(one))
    assert metadata["metadata"]["name"] == "one"


def content_of(body):
    return dict(wire_fields(body, 4, len(body)))[2]


def test_a_watch_is_made_of_frames(http):
    sent(http, "POST", MAPS, config_map("one"))
    query = "watch=true&fieldSelector=metadata.name=one&timeoutSeconds=1"
    answer = http("GET", f"{MAPS}?{query}", Accept=PROTOBUF)
    assert answer.headers["Content-Type"] == f"{PROTOBUF};stream=watch"
    assert first_event(answer.content) == ("ADDED", "one")


def first_event(stream):
    length = int.from_bytes(stream[:4], "big")
    frame = stream[4 : 4 + length]
    fields = dict(wire_fields(frame, 0, length))
    obj = read_object(frame[slice(*dict(wire_fields(frame, *fields[2]))[1])])
    return frame[slice(*fields[1])].decode(), obj["metadata"].get("name") or obj["reason"]


def test_an_expired_watch_says_so_in_a_frame(http):
    answer = http("GET", f"{MAPS}?watch=true&resourceVersion=99999999", Accept=PROTOBUF)
    assert first_event(answer.content) == ("ERROR", "Expired")


def test_kinds_without_a_message_and_tables_are_json_only(http):
    assert http("GET", JOB_SETS, Accept=PROTOBUF).status_code == 406
    table = f"{PROTOBUF};as=Table;g=meta.k8s.io;v=v1"
    assert http("GET", MAPS, Accept=table).status_code == 406
    assert find_message("jobset.x-k8s.io/v1alpha2", "JobSet") is None
