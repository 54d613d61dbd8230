"""Services get addresses; Leases and Services can be created by an update."""

import pytest

from posse.kinds.registry import LEASE, SERVICE


def service_body(name="web", **spec):
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


def address(obj):
    return obj["spec"].get("clusterIP")


def test_services_get_addresses_of_their_own(service):
    made = [service.create(SERVICE, "default", service_body(name)) for name in ("a", "b")]
    assert len({address(obj) for obj in made}) == 2
    assert made[0]["spec"]["clusterIPs"] == [address(made[0])]
    assert (
        address(service.create(SERVICE, "default", service_body("c", clusterIP="10.96.0.9"))) == "10.96.0.9"
    )
    assert address(service.create(SERVICE, "default", service_body("d", clusterIP="None"))) == "None"
    external = service_body("e", type="ExternalName", externalName="example.com")
    assert address(service.create(SERVICE, "default", external)) is None


@pytest.mark.parametrize(
    ("asked", "text"),
    [("10.96.0.9", "provided IP is already allocated"), ("1.2.3.4", "not in the valid range")],
)
def test_addresses_that_cannot_be_had(service, refused, asked, text):
    service.create(SERVICE, "default", service_body("a", clusterIP="10.96.0.9"))
    assert text in str(refused(service.create, SERVICE, "default", service_body("b", clusterIP=asked)))


def test_a_name_that_is_taken_is_said_before_its_address(service, refused):
    service.create(SERVICE, "default", service_body("a", clusterIP="10.96.0.9"))
    error = refused(service.create, SERVICE, "default", service_body("a", clusterIP="10.96.0.9"))
    assert error.reason == "AlreadyExists"


def test_an_update_keeps_the_address(service):
    before = service.create(SERVICE, "default", service_body())
    after = service.update(SERVICE, "default", "web", service_body(selector={"a": "b"}))
    assert address(after) == address(before)


def test_an_update_creates_a_lease(service, refused):
    lease = {"metadata": {"name": "leader"}, "spec": {"holderIdentity": "me"}}
    assert service.would_create(LEASE, "default", "leader")
    made = service.update(LEASE, "default", "leader", lease)
    assert made["metadata"]["uid"]
    assert not service.would_create(LEASE, "default", "leader")
    other = {"metadata": {"name": "other"}, "spec": {}}
    assert "does not match the name on the URL" in str(
        refused(service.update, LEASE, "default", "more", other)
    )
