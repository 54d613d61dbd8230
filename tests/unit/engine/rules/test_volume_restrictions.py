import pytest

from posse.engine.rules.volume_limits import ClaimsExist, VolumeLimits, VolumeRestrictions
from posse.model.volume import Volume
from tests.support.builders import node, nodes, pod
from tests.support.storage_objects import (
    CLASSES,
    DRIVER,
    MADE,
    allowed,
    claim,
    csi_driver,
    csi_node,
    hopeless_nodes,
    made,
    put_on,
    said,
    scratch,
    state_with,
    using,
    volume,
)

IN_USE = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"


def exclusive(name="c"):
    return claim(name, volume=f"v-{name}", modes=("ReadWriteOncePod",))


def test_a_claim_that_does_not_exist_keeps_the_pod_from_going_anywhere():
    state = state_with(*nodes(1), claim("c"))
    assert made(ClaimsExist(), state, pod(volumes=using("c"))).objection() == ""
    assert made(ClaimsExist(), state, pod(volumes=using("c", "d"))).objection() == (
        'persistentvolumeclaim "d" not found'
    )
    assert made(ClaimsExist(), state, pod(volumes=(scratch(),))) is None


def test_a_claim_for_one_pod_is_free_again_when_its_pod_goes():
    state = state_with(*nodes(2), exclusive())
    second = pod("second", volumes=using("c"))
    assert allowed(VolumeRestrictions(), state, second) == ["n1", "n2"]
    first = put_on(state, pod("first", volumes=using("c")), "n1")
    assert said(VolumeRestrictions(), state, second) == {"n1": [IN_USE], "n2": [IN_USE]}
    assert hopeless_nodes(VolumeRestrictions(), state, second) == []
    state.release(first)
    assert allowed(VolumeRestrictions(), state, second) == ["n1", "n2"]


def test_claims_for_many_pods_are_shared():
    state = state_with(*nodes(1), claim(volume="v"))
    put_on(state, pod("first", volumes=using("c")), "n1")
    assert allowed(VolumeRestrictions(), state, pod("second", volumes=using("c"))) == ["n1"]


def disk(**source):
    return (Volume(name="disk", **source),)


GCE = {"pdName": "d1"}
RBD = {"monitors": ["a", "b"], "pool": "p", "image": "i"}


@pytest.mark.parametrize(
    ("there", "wanted", "clashes"),
    [
        ({"gce_persistent_disk": GCE}, {"gce_persistent_disk": GCE}, True),
        ({"gce_persistent_disk": GCE}, {"gce_persistent_disk": GCE | {"readOnly": True}}, True),
        (
            {"gce_persistent_disk": GCE | {"readOnly": True}},
            {"gce_persistent_disk": GCE | {"readOnly": True}},
            False,
        ),
        ({"gce_persistent_disk": GCE}, {"gce_persistent_disk": {"pdName": "d2"}}, False),
        (
            {"aws_elastic_block_store": {"volumeID": "e", "readOnly": True}},
            {"aws_elastic_block_store": {"volumeID": "e", "readOnly": True}},
            True,
        ),
        ({"iscsi": {"iqn": "q", "lun": 0}}, {"iscsi": {"iqn": "q", "lun": 1}}, True),
        ({"rbd": RBD}, {"rbd": RBD | {"monitors": ["b", "c"]}}, True),
        ({"rbd": RBD}, {"rbd": RBD | {"monitors": ["c"]}}, False),
        ({"rbd": RBD}, {"rbd": RBD | {"pool": "q"}}, False),
        ({"rbd": RBD | {"readOnly": True}}, {"rbd": RBD | {"readOnly": True}}, False),
        ({"gce_persistent_disk": {"pdName": "x"}}, {"aws_elastic_block_store": {"volumeID": "x"}}, False),
    ],
)
def test_a_disk_is_mounted_once_per_node(there, wanted, clashes):
    state = state_with(*nodes(2))
    put_on(state, pod("first", volumes=disk(**there)), "n1")
    found = said(VolumeRestrictions(), state, pod("second", volumes=disk(**wanted)))
    assert found == ({"n1": ["node(s) had no available disk"]} if clashes else {})


def test_disks_alone_are_a_matter_of_the_node_alone():
    state = state_with(*nodes(1))
    assert made(VolumeRestrictions(), state, pod(volumes=disk(gce_persistent_disk=GCE))).is_row_local
    assert made(VolumeRestrictions(), state, pod(volumes=disk(empty_dir={}))) is None


FULL = "node(s) exceed max volume count"


def attachable(*names):
    """Claims with volumes of the driver."""
    claims = [claim(name, volume=f"v-{name}") for name in names]
    return [*claims, *(volume(f"v-{name}", handle=name, kept_for=name) for name in names)]


def test_a_node_attaches_no_more_volumes_than_its_driver_says():
    state = state_with(
        *nodes(3), *attachable("a", "b", "c"), csi_node("n1", 2), csi_node("n2", 1), csi_node("n3")
    )
    asking = pod("asking", volumes=using("a", "b"))
    assert allowed(VolumeLimits(), state, asking) == ["n1", "n3"]
    put_on(state, pod("first", volumes=using("c")), "n1")
    assert said(VolumeLimits(), state, asking) == {"n1": [FULL], "n2": [FULL]}
    assert hopeless_nodes(VolumeLimits(), state, asking) == []


def test_a_volume_counts_once_on_a_node():
    state = state_with(*nodes(1), *attachable("a", "b"), csi_node("n1", 2))
    put_on(state, pod("first", volumes=using("a")), "n1")
    second = put_on(state, pod("second", volumes=using("a")), "n1")
    assert allowed(VolumeLimits(), state, pod("third", volumes=using("a", "b"))) == ["n1"]
    state.storage.book.put(csi_node("n1", 1))
    assert allowed(VolumeLimits(), state, pod("third", volumes=using("a", "b"))) == []
    assert allowed(VolumeLimits(), state, pod("fourth", volumes=using("a"))) == ["n1"]
    state.release(second)
    assert allowed(VolumeLimits(), state, pod("fourth", volumes=using("a"))) == ["n1"]


def test_a_volume_counts_once_whichever_claim_names_it():
    same = [claim("a", volume="v"), claim("b", volume="v"), volume("v", handle="h", kept_for="a")]
    state = state_with(*nodes(1), *same, csi_node("n1", 1))
    put_on(state, pod("first", volumes=using("a")), "n1")
    assert allowed(VolumeLimits(), state, pod("second", volumes=using("b"))) == ["n1"]


def test_a_claim_without_volume_counts_for_the_driver_that_will_make_it():
    state = state_with(*nodes(1), *CLASSES, claim("a", of=MADE), csi_node("n1", 0))
    assert said(VolumeLimits(), state, pod(volumes=using("a"))) == {"n1": [FULL]}


def test_what_no_driver_attaches_is_not_counted():
    state = state_with(*nodes(1), claim(volume="v"), volume(kept_for="c"), csi_node("n1", 0))
    assert allowed(VolumeLimits(), state, pod(volumes=using("c"))) == ["n1"]


def test_limits_follow_nodes_that_come_and_go():
    state = state_with(*nodes(1), *attachable("a", "b"), csi_node("n1", 1))
    put_on(state, pod("first", volumes=using("a")), "n1")
    asking = pod("asking", volumes=using("b"))
    assert allowed(VolumeLimits(), state, asking) == []
    state.drop_node("n1")
    state.put_node(node("n2"))
    assert allowed(VolumeLimits(), state, asking) == ["n2"]
    state.put_node(node("n1"))
    assert allowed(VolumeLimits(), state, asking) == ["n2"]


def test_a_driver_may_insist_on_being_there():
    state = state_with(*nodes(3), *attachable("a"), csi_driver(), csi_node("n1"), csi_node("n2", driver=""))
    asking = pod(volumes=using("a"))
    reason = f"{DRIVER} CSI driver is not installed on the node"
    assert said(VolumeLimits(), state, asking) == {"n2": [reason], "n3": [reason]}
    state.storage.book.put(csi_driver(insists=False))
    assert allowed(VolumeLimits(), state, asking) == ["n1", "n2", "n3"]
