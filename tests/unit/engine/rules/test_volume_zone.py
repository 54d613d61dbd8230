"""Zones of volumes, and which of several places for volumes is the better one."""

import numpy as np
import pytest

from posse.engine.rules.volume_binding import BoundVolumesExist, VolumePreference, VolumeZone
from tests.support.builders import node, pod
from tests.support.storage_objects import (
    CLASSES,
    MADE,
    allowed,
    claim,
    made,
    said,
    scratch,
    state_with,
    using,
    volume,
)

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"


def test_a_bound_volume_must_exist():
    state = state_with(claim(volume="v"), claim("late"))
    assert made(BoundVolumesExist(), state, pod(volumes=using("late", "c"))).objection() == (
        'persistentvolume "v" not found'
    )
    state.storage.book.put(volume())
    assert made(BoundVolumesExist(), state, pod(volumes=using("late", "c"))).objection() == ""
    assert made(BoundVolumesExist(), state, pod(volumes=(scratch(),))) is None


@pytest.mark.parametrize(
    ("of_volume", "of_node", "fits"),
    [
        ({ZONE: "a"}, {ZONE: "a"}, True),
        ({ZONE: "a"}, {ZONE: "b"}, False),
        ({ZONE: "a"}, {}, True),
        ({ZONE: "a"}, {REGION: "r"}, False),
        ({ZONE: "a__b"}, {ZONE: "b"}, True),
        ({ZONE: "a__ b"}, {ZONE: "b"}, True),
        ({ZONE: "a__"}, {ZONE: "b"}, True),
        ({OLD_ZONE: "a"}, {ZONE: "a"}, True),
        ({OLD_ZONE: "a"}, {OLD_ZONE: "b", ZONE: "a"}, False),
        ({ZONE: "a"}, {OLD_ZONE: "a"}, False),
        ({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, False),
        ({}, {ZONE: "b"}, True),
    ],
)
def test_a_node_with_zone_labels_must_be_where_the_volume_is(of_volume, of_node, fits):
    state = state_with(node("n1", labels=of_node), claim(volume="v"), volume(labels=of_volume))
    found = said(VolumeZone(), state, pod(volumes=using("c")))
    assert found == ({} if fits else {"n1": ["node(s) had no available volume zone"]})


def test_claims_without_volume_are_nowhere_yet():
    state = state_with(node("n1", labels={ZONE: "a"}), *CLASSES, claim())
    assert allowed(VolumeZone(), state, pod(volumes=using("c"))) == ["n1"]


def points(state, asking):
    score = made(VolumePreference(), state, asking)
    return score.points(np.ones(state.nodes.alive.size, dtype=np.bool_))[: len(state.nodes)].tolist()


def test_more_room_to_spare_is_better():
    hosts = [node(name, labels={"kubernetes.io/hostname": name}) for name in ("n1", "n2", "n3")]
    volumes = [volume("v1", "4Gi", on=["n1"]), volume("v2", "3Gi", on=["n2"]), volume("v3", "1Gi", on=["n3"])]
    state = state_with(*hosts, *CLASSES, claim(), *volumes)
    assert points(state, pod(volumes=using("c"))) == [75, 67, 0]


def test_storage_classes_count_alike_however_many_claims_they_have():
    hosts = [node("n1")]
    claims = [claim("a"), claim("b"), claim("c", of=MADE)]
    volumes = [volume("v1", "1Gi"), volume("v2", "3Gi"), volume("v3", "4Gi", of=MADE)]
    state = state_with(*hosts, *CLASSES, *claims, *volumes)
    assert points(state, pod(volumes=using("a", "b", "c"))) == [(50 + 75 + 1) // 2]


def test_volumes_that_exist_already_or_are_yet_to_be_made_say_nothing():
    state = state_with(node("n1"), *CLASSES, claim("a", volume="v"), volume(), claim("b", of=MADE))
    assert points(state, pod(volumes=using("a", "b"))) == [0]
    assert made(VolumePreference(), state, pod()) is None
