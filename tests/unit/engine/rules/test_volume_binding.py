import pytest

from posse.engine.decisions import KeepVolume, ProvisionVolume
from posse.engine.keys import ClaimKey
from posse.engine.rules.volume_binding import ClaimsUsable, VolumeBinding
from tests.support.builders import NAMESPACE, node, pod, requirement
from tests.support.storage_objects import (
    CLASSES,
    DRIVER,
    LATE,
    MADE,
    allowed,
    claim,
    hopeless_nodes,
    made,
    record_in,
    said,
    scratch,
    state_with,
    storage_class,
    using,
    volume,
)

NODES = [
    node(name, labels={"zone": zone, "kubernetes.io/hostname": name})
    for name, zone in (("n1", "east"), ("n2", "west"), ("n3", "west"))
]
WEST = [requirement("zone", "In", "west")]
OUT_OF_REACH = "node(s) didn't match PersistentVolume's node affinity"
NONE_TO_BIND = "node(s) didn't find available persistent volumes to bind"


def objection(pod, *objects):
    return made(ClaimsUsable(), state_with(*objects), pod).objection()


def steps_of(state, pod, node):
    """What has to be done for the claims of the pod on the node, as (claim, volume or node to make one for)."""
    needs = record_in(state, pod).pod_class.volumes
    return [
        (step.claim.name, step.volume if isinstance(step, KeepVolume) else step.node)
        for step in state.storage.steps(needs, state.nodes.row_of[node])
    ]


def test_pods_without_claims_are_no_business_of_the_rule():
    state = state_with(*NODES)
    assert made(VolumeBinding(), state, pod()) is None
    assert made(ClaimsUsable(), state, pod()) is None


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ([], 'persistentvolumeclaim "c" not found'),
        ([claim(of="", volume="")], "pod has unbound immediate PersistentVolumeClaims"),
        ([claim(of="absent")], "pod has unbound immediate PersistentVolumeClaims"),
        ([claim(volume="v", annotations={}), *CLASSES], "pod has unbound immediate PersistentVolumeClaims"),
        (
            [claim(volume="v", phase="Lost")],
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
        ),
        ([claim(deleted="2026-01-01T00:00:00Z")], 'persistentvolumeclaim "c" is being deleted'),
        ([claim(size="much")], None),
        ([claim(volume="v")], ""),
        ([claim(), *CLASSES], ""),
        (
            [claim(of="now"), storage_class("now", late=False)],
            "pod has unbound immediate PersistentVolumeClaims",
        ),
    ],
)
def test_claims_must_be_usable(objects, said):
    found = objection(pod(volumes=using("c")), *objects)
    assert found == said if said is not None else "much" in found


def test_a_claim_of_the_pods_own_must_exist_and_belong_to_it():
    mine = pod("p", volumes=(scratch("data"),))
    assert objection(mine) == (
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-data"'
    )
    foreign = claim("p-data", volume="v", owner="uid-other")
    assert objection(mine, foreign) == (
        f"PVC {NAMESPACE}/p-data was not created for pod {NAMESPACE}/p (pod is not owner)"
    )
    assert objection(mine, claim("p-data", volume="v", owner="uid-p")) == ""


def test_the_volume_of_a_bound_claim_says_where_the_pod_may_go():
    state = state_with(*NODES, claim(volume="v"), volume(on=WEST, kept_for="c"))
    assert allowed(VolumeBinding(), state, pod(volumes=using("c"))) == ["n2", "n3"]
    assert said(VolumeBinding(), state, pod(volumes=using("c"))) == {"n1": [OUT_OF_REACH]}
    assert hopeless_nodes(VolumeBinding(), state, pod(volumes=using("c")))[0] == "n1"


def test_a_volume_without_node_affinity_is_reached_from_everywhere():
    state = state_with(*NODES, claim(volume="v"), volume(kept_for="c"))
    assert allowed(VolumeBinding(), state, pod(volumes=using("c"))) == ["n1", "n2", "n3"]


def test_a_bound_claim_whose_volume_is_gone_can_be_used_nowhere():
    state = state_with(*NODES, claim(volume="v"))
    reason = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    assert said(VolumeBinding(), state, pod(volumes=using("c"))) == {n: [reason] for n in ("n1", "n2", "n3")}


def test_the_answer_follows_the_volume():
    state = state_with(*NODES, claim(volume="v"), volume(on=WEST, kept_for="c"))
    row_filter = made(VolumeBinding(), state, pod(volumes=using("c")))
    state.storage.book.put(volume(on=["n1"], kept_for="c"))
    assert row_filter.passes(slice(0, 3)).tolist() == [True, False, False]
    state.put_node(node("n3", labels={"kubernetes.io/hostname": "n1"}))
    assert row_filter.passes(slice(0, 3)).tolist() == [True, False, True]


def test_a_waiting_claim_takes_the_smallest_volume_that_fits():
    volumes = [
        volume("tiny", "1Mi"),
        volume("big", "9Gi", on=WEST),
        volume("fit", "2Gi", on=["n3"]),
        volume("same", "2Gi", on=["n3"]),
    ]
    state = state_with(*NODES, *CLASSES, claim(), *volumes)
    asking = pod(volumes=using("c"))
    assert said(VolumeBinding(), state, asking) == {"n1": [NONE_TO_BIND]}
    assert steps_of(state, asking, "n2") == [("c", "big")]
    assert steps_of(state, asking, "n3") == [("c", "fit")]


@pytest.mark.parametrize(
    "unsuitable",
    [
        volume(size="1023Mi"),
        volume(of=MADE),
        volume(modes=("ReadOnlyMany",)),
        volume(mode="Block"),
        volume(labels={"tier": "slow"}),
        volume(phase="Released"),
        volume(phase="Pending"),
        volume(deleted="2026-01-01T00:00:00Z"),
        volume(kept_for="other"),
        volume(kept_for="c", kept_uid="of an earlier claim"),
        volume(volume_attributes_class_name="gold"),
        volume(size="unreadable"),
    ],
)
def test_volumes_that_do_not_suit_a_waiting_claim(unsuitable):
    state = state_with(*NODES, *CLASSES, claim(match_labels={"tier": "fast"}), unsuitable)
    assert allowed(VolumeBinding(), state, pod(volumes=using("c"))) == []
    state.storage.book.put(volume("good", labels={"tier": "fast"}))
    assert allowed(VolumeBinding(), state, pod(volumes=using("c"))) == ["n1", "n2", "n3"]


def test_a_volume_that_is_kept_for_the_claim_is_the_only_one_for_it():
    kept = volume("kept", "5Gi", on=["n2"], kept_for="c", kept_uid="", phase="Available")
    state = state_with(*NODES, *CLASSES, claim(), kept, volume("other"))
    asking = pod(volumes=using("c"))
    assert allowed(VolumeBinding(), state, asking) == ["n2"]
    needs = record_in(state, asking).pod_class.volumes
    assert state.storage.steps(needs, 1) == (
        KeepVolume(ClaimKey(NAMESPACE, "c"), "claim-c", "kept", "7", by_us=False),
    )


def test_two_claims_of_a_pod_need_two_volumes_and_the_smaller_one_chooses_first():
    claims = [claim("large", "2Gi"), claim("small", "1Gi")]
    state = state_with(
        *NODES, *CLASSES, *claims, volume("v", "2Gi", on=["n1", "n2"]), volume("w", "1Gi", on=["n2"])
    )
    asking = pod(volumes=using("large", "small"))
    assert allowed(VolumeBinding(), state, asking) == ["n2"]
    assert steps_of(state, asking, "n2") == [("small", "w"), ("large", "v")]


def test_volumes_are_made_where_the_class_offers_it():
    state = state_with(*NODES, storage_class(MADE, DRIVER, zones=("west",)), claim(of=MADE))
    asking = pod(volumes=using("c"))
    assert allowed(VolumeBinding(), state, asking) == ["n2", "n3"]
    needs = record_in(state, asking).pod_class.volumes
    assert state.storage.steps(needs, 2) == (ProvisionVolume(ClaimKey(NAMESPACE, "c"), "claim-c", "n3"),)


def test_a_claim_whose_volume_is_being_made_ties_the_pod_to_that_node():
    selected = claim(of=MADE, annotations={"volume.kubernetes.io/selected-node": "n2"})
    state = state_with(*NODES, *CLASSES, selected, volume("ready", of=MADE))
    assert allowed(VolumeBinding(), state, pod(volumes=using("c"))) == ["n2"]
    state.storage.book.put(claim(of=MADE, annotations={"volume.kubernetes.io/selected-node": "gone"}))
    assert allowed(VolumeBinding(), state, pod(volumes=using("c"))) == []


def test_a_node_may_be_refused_for_two_reasons():
    state = state_with(
        *NODES, *CLASSES, claim("b", volume="v"), volume(on=WEST, kept_for="b"), claim("c", of=LATE)
    )
    found = said(VolumeBinding(), state, pod(volumes=using("b", "c")))
    assert found == {"n1": [OUT_OF_REACH, NONE_TO_BIND], "n2": [NONE_TO_BIND], "n3": [NONE_TO_BIND]}
