"""The first accepted representation that the server knows wins."""

import pytest

from posse.apiserver.http.negotiation import DISCOVERY, METADATA, PLAIN, TABLE, negotiate

OFFERED = (TABLE, METADATA)
KUBECTL_GET = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,"
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", PLAIN),
        ("*/*", PLAIN),
        ("application/json", PLAIN),
        ("Application/JSON, */*", PLAIN),
        ("application/json;q=0.9", PLAIN),
        (KUBECTL_GET, TABLE),
        ("application/json; as=Table ; v=v1 ; g=meta.k8s.io", TABLE),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", PLAIN),
        ("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json", METADATA),
        ("application/vnd.kubernetes.protobuf,application/json", PLAIN),
        ("application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json", PLAIN),
        ("application/vnd.kubernetes.protobuf", None),
        ("application/json;as=Table;v=v9;g=meta.k8s.io", None),
        ("text/html", None),
    ],
)
def test_negotiation(accept, expected):
    assert negotiate(accept, OFFERED) == expected


def test_aggregated_discovery_answers_with_its_own_content_type():
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    chosen = negotiate(accept, (DISCOVERY,))
    assert chosen == DISCOVERY
    assert chosen.content_type == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    assert TABLE.content_type == "application/json"
