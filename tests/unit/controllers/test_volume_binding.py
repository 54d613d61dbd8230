import msgspec
import pytest

from posse.controllers.volume_binding import ALL_VOLUMES, STRUCTS, VolumeBinder
from posse.kinds.machinery.patching import merge_patch
from posse.kinds.registry import PERSISTENT_VOLUME
from posse.model.decoding import decode
from posse.model.volume import PersistentVolume, PersistentVolumeClaim
from tests.support.plans import steps_of
from tests.support.storage_objects import CLASSES, claim, storage_class, volume

KINDS = {struct: kind for kind, struct in STRUCTS.items()}
NOW = storage_class("now", late=False)


class Cluster:
    """Objects by name, and a controller whose writes come true."""

    def __init__(self, *objects):
        self.binder = VolumeBinder()
        self.objects = {}
        for obj in objects:
            self.see(obj)

    def see(self, obj):
        self.objects[obj.metadata.name] = obj
        self.binder.see(KINDS[type(obj)], msgspec.to_builtins(obj))

    def lose(self, name):
        obj = self.objects.pop(name)
        self.binder.lose(KINDS[type(obj)], msgspec.to_builtins(obj))

    def writes(self):
        return steps_of(self.binder.plan(ALL_VOLUMES, 0.0))

    def settle(self):
        """Write what the controller wants until it wants nothing more."""
        for _ in range(9):
            writes = self.writes()
            if not writes:
                return self
            for write in writes[:1]:
                struct = PersistentVolume if write.kind is PERSISTENT_VOLUME else PersistentVolumeClaim
                before = msgspec.to_builtins(self.objects[write.obj["metadata"]["name"]])
                assert write.patch["metadata"]["uid"] == before["metadata"]["uid"]
                self.see(decode(struct, merge_patch(before, write.patch)))
        raise AssertionError("the controller never rests")

    def phases(self):
        return {name: obj.status.phase for name, obj in self.objects.items() if hasattr(obj, "status")}


def test_a_new_volume_becomes_available():
    cluster = Cluster(volume(phase="Pending")).settle()
    assert cluster.phases() == {"v": "Available"}


def test_a_claim_that_waits_for_a_pod_is_left_alone():
    cluster = Cluster(*CLASSES, claim(), volume()).settle()
    assert cluster.phases() == {"c": "Pending", "v": "Available"}


def test_a_volume_that_the_scheduler_keeps_for_a_claim_is_bound_to_it():
    cluster = Cluster(*CLASSES, claim(), volume(kept_for="c", phase="Available", size="3Gi")).settle()
    assert cluster.phases() == {"c": "Bound", "v": "Bound"}
    bound = cluster.objects["c"]
    assert bound.spec.volume_name == "v"
    assert bound.metadata.annotations["pv.kubernetes.io/bind-completed"] == "yes"
    assert bound.status.capacity == {"storage": "3Gi"}
    assert bound.status.access_modes == ("ReadWriteOnce",)


def test_a_claim_that_does_not_wait_gets_the_smallest_volume_that_fits():
    volumes = [
        volume("big", "9Gi", of="now"),
        volume("fit", "2Gi", of="now"),
        volume("small", "1Mi", of="now"),
    ]
    cluster = Cluster(NOW, claim(of="now"), *volumes).settle()
    assert cluster.objects["c"].spec.volume_name == "fit"
    reference = cluster.objects["fit"].spec.claim_ref
    assert (reference.name, reference.uid) == ("c", "claim-c")
    assert cluster.phases() == {"c": "Bound", "big": "Available", "fit": "Bound", "small": "Available"}


def test_two_claims_do_not_take_one_volume():
    cluster = Cluster(NOW, claim("a", of="now"), claim("b", of="now"), volume("v", of="now"))
    wanted = [write.obj["metadata"]["name"] for write in cluster.writes()]
    assert wanted == ["v"]
    assert cluster.settle().phases() == {"a": "Bound", "b": "Pending", "v": "Bound"}


def test_a_claim_that_names_its_volume_gets_that_one():
    asking = claim(volume="v", annotations={}, phase="Pending")
    cluster = Cluster(asking, volume("v"), volume("w", "1Mi")).settle()
    assert cluster.phases() == {"c": "Bound", "v": "Bound", "w": "Available"}


@pytest.mark.parametrize(
    "taken", [volume(kept_for="other"), volume(kept_for="c", kept_uid="of an earlier claim")]
)
def test_a_claim_that_names_a_volume_of_somebody_else_waits(taken):
    cluster = Cluster(claim(volume="v", annotations={}, phase="Pending"), taken).settle()
    assert cluster.phases()["c"] == "Pending"


def test_a_volume_reserved_by_name_waits_for_its_claim():
    cluster = Cluster(*CLASSES, volume(kept_for="c", kept_uid="", phase="Pending")).settle()
    assert cluster.phases() == {"v": "Available"}
    cluster.see(claim())
    assert cluster.settle().phases() == {"c": "Bound", "v": "Bound"}
    assert "pv.kubernetes.io/bound-by-controller" not in cluster.objects["v"].metadata.annotations


def test_a_volume_outlives_its_claim():
    cluster = Cluster(claim(volume="v"), volume(kept_for="c")).settle()
    cluster.lose("c")
    assert cluster.settle().phases() == {"v": "Released"}
    cluster.see(claim(uid="another"))
    assert cluster.settle().phases()["v"] == "Released"


def test_what_is_on_its_way_out_is_left_alone():
    leaving = claim(of="now", deleted="2026-01-01T00:00:00Z")
    cluster = Cluster(NOW, leaving, volume(of="now")).settle()
    assert cluster.phases() == {"c": "Pending", "v": "Available"}
    assert Cluster(volume(phase="Pending", deleted="2026-01-01T00:00:00Z")).writes() == []
