"""The claims of a set: one per template and pod. Their owners say what becomes of them.

A claim that goes with the set is owned by the set. A claim that goes with its pod, because the set got
smaller, is owned by that pod before the pod is deleted; the garbage collector does the rest.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from posse.controllers.steps import owner_reference
from posse.kinds.registry import POD, STATEFUL_SET
from posse.model.stateful_set import DELETE

Json = dict[str, Any]
FindClaim = Callable[[str], Json | None]


def claims_of(stateful_set: Json) -> list[Json]:
    return stateful_set["spec"].get("volumeClaimTemplates") or []


def claim_name(template: str, pod: str) -> str:
    return f"{template}-{pod}"


def new_claims(stateful_set: Json, pod_name: str) -> Iterator[Json]:
    metadata, spec = stateful_set["metadata"], stateful_set["spec"]
    owners = [_owner(STATEFUL_SET, stateful_set)] if _is_deleted(stateful_set, "whenDeleted") else []
    for template in claims_of(stateful_set):
        given = template["metadata"]
        labels = (spec.get("selector") or {}).get("matchLabels") or {}
        yield {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": claim_name(given["name"], pod_name),
                "namespace": metadata["namespace"],
                "labels": {**(given.get("labels") or {}), **labels},
                "annotations": dict(given.get("annotations") or {}),
                "ownerReferences": owners,
            },
            "spec": template["spec"],
        }


def missing_claims(stateful_set: Json, pod_names: Iterable[str], find: FindClaim) -> list[Json]:
    """Claims are made only for pods that lack one: most plans find all of them."""
    templates = [template["metadata"]["name"] for template in claims_of(stateful_set)]
    lacking = [name for name in pod_names if any(find(claim_name(each, name)) is None for each in templates)]
    claims = [claim for name in lacking for claim in new_claims(stateful_set, name)]
    return [claim for claim in claims if find(claim["metadata"]["name"]) is None]


def is_leaving_with_pod(stateful_set: Json, pod_name: str, find: FindClaim) -> bool:
    """Whether a claim of that name still belongs to an earlier pod of the name, with which it goes."""
    found = [find(claim_name(claim["metadata"]["name"], pod_name)) for claim in claims_of(stateful_set)]
    return any(_refers_to(claim, POD.name, pod_name) for claim in found if claim is not None)


def reowned_claims(stateful_set: Json, pod: Json, find: FindClaim, *, is_surplus: bool) -> Iterator[Json]:
    """Yield the claims of a pod whose owners are not what the policy wants, as they are to be."""
    wanted = []
    if is_surplus and _is_deleted(stateful_set, "whenScaled"):
        wanted = [_owner(POD, pod)]
    elif _is_deleted(stateful_set, "whenDeleted"):
        wanted = [_owner(STATEFUL_SET, stateful_set)]
    own = {stateful_set["metadata"]["uid"], pod["metadata"]["uid"]}
    for template in claims_of(stateful_set):
        claim = find(claim_name(template["metadata"]["name"], pod["metadata"]["name"]))
        if claim is None:
            continue
        present = claim["metadata"].get("ownerReferences") or []
        if {owner["uid"] for owner in present} & own != {owner["uid"] for owner in wanted}:
            others = [owner for owner in present if owner["uid"] not in own]
            yield claim | {"metadata": claim["metadata"] | {"ownerReferences": others + wanted}}


def _is_deleted(stateful_set: Json, occasion: str) -> bool:
    policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    return bool(policy.get(occasion) == DELETE)


def _owner(kind: Any, obj: Json) -> Json:
    return owner_reference(kind, obj) | {"controller": False, "blockOwnerDeletion": False}


def _refers_to(claim: Json, kind: str, name: str) -> bool:
    owners = claim["metadata"].get("ownerReferences") or ()
    return any((owner.get("kind"), owner.get("name")) == (kind, name) for owner in owners)
