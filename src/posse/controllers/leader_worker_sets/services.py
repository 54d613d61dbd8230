"""The headless Services by which pods of a LeaderWorkerSet find each other: one for all, or one for each replica."""

from typing import Any

from posse.controllers.leader_worker_sets.keys import GROUP_INDEX, NAME, labels_of
from posse.controllers.steps import owner_reference
from posse.kinds.registry import LEADER_WORKER_SET, POD

Json = dict[str, Any]


def shared_service(lws: Json) -> Json:
    name = lws["metadata"]["name"]
    return _service(name, lws, {NAME: name}, owner_reference(LEADER_WORKER_SET, lws))


def replica_service(lws: Json, leader: Json) -> Json:
    selector = {NAME: lws["metadata"]["name"], GROUP_INDEX: labels_of(leader)[GROUP_INDEX]}
    return _service(leader["metadata"]["name"], lws, selector, owner_reference(POD, leader))


def _service(name: str, lws: Json, selector: Json, owner: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": name,
            "namespace": lws["metadata"]["namespace"],
            "labels": {NAME: lws["metadata"]["name"]},
            "ownerReferences": [owner],
        },
        # Pods must find each other before they are ready: some become ready only by that.
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector},
    }
