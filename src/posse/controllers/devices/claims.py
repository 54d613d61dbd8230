"""What the controllers of claims read in pods, groups and claims."""

from collections.abc import Iterator, Mapping
from typing import Any

from posse.controllers.steps import owner_reference
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import POD_GROUP, RESOURCE_CLAIM
from posse.model.pod import ENDED_PHASES
from posse.model.resource_claim import CONSUMERS_MAX, POD_CLAIM_ANNOTATION

Json = dict[str, Any]

# Leaves room for a dash and five random characters in a name of 63.
_NAME_BASE_MAX = 57


def entries_of(owner: Json) -> list[Json]:
    """The claims that a pod or PodGroup names in its spec."""
    return list((owner.get("spec") or {}).get("resourceClaims") or ())


def statuses_of(owner: Json) -> dict[str, str]:
    """The claims that were made for entries; an entry that needs none has none."""
    statuses = (owner.get("status") or {}).get("resourceClaimStatuses") or ()
    return {each["name"]: each.get("resourceClaimName") or "" for each in statuses}


def group_name(pod: Json) -> str:
    return str((pod["spec"].get("schedulingGroup") or {}).get("podGroupName") or "")


def is_done(pod: Json) -> bool:
    """Whether the pod has ended, or will never run."""
    if (pod.get("status") or {}).get("phase") in ENDED_PHASES:
        return True
    return bool(pod["metadata"].get("deletionTimestamp")) and not pod["spec"].get("nodeName")


def shares_entry(group: Json | None, entry: Json) -> bool:
    """Whether the entry of a pod stands for that of its group: the same name and the same source."""
    return group is not None and entry in entries_of(group)


def consumer_of(kind: Kind, obj: Json) -> Json:
    consumer = {"resource": kind.plural, "name": obj["metadata"]["name"], "uid": obj["metadata"]["uid"]}
    return {"apiGroup": kind.group} | consumer if kind.group else consumer


def consumers_of(claim: Json) -> list[Json]:
    return list((claim.get("status") or {}).get("reservedFor") or ())


def is_allocated(claim: Json) -> bool:
    return (claim.get("status") or {}).get("allocation") is not None


def may_be_reserved(claim: Json) -> bool:
    has_room = len(consumers_of(claim)) < CONSUMERS_MAX
    return is_allocated(claim) and has_room and not claim["metadata"].get("deletionTimestamp")


def is_group(consumer: Mapping[str, Any]) -> bool:
    return (consumer.get("apiGroup"), consumer["resource"]) == (POD_GROUP.group, POD_GROUP.plural)


def is_pod(consumer: Mapping[str, Any]) -> bool:
    return (consumer.get("apiGroup") or "", consumer["resource"]) == ("", "pods")


def made_for(claims: list[Json], entry: str) -> Json | None:
    """The claim among those of an owner that was made for this entry."""
    return next((claim for claim in claims if _entry_of(claim) == entry and not _is_going(claim)), None)


def new_claim(kind: Kind, owner: Json, entry: str, template: Json) -> Json:
    """A claim made from a template for one entry of a pod or PodGroup."""
    metadata = template["spec"].get("metadata") or {}
    return {
        "apiVersion": RESOURCE_CLAIM.api_version,
        "kind": RESOURCE_CLAIM.name,
        "metadata": {
            "namespace": owner["metadata"]["namespace"],
            "generateName": _prefix(owner["metadata"]["name"], entry),
            "labels": dict(metadata.get("labels") or {}),
            "annotations": {**(metadata.get("annotations") or {}), POD_CLAIM_ANNOTATION: entry},
            "ownerReferences": [owner_reference(kind, owner)],
        },
        "spec": template["spec"]["spec"],
    }


def claim_names(pod: Json) -> Iterator[tuple[Json, str]]:
    """Entries of a pod with the names of their claims, as far as these are known."""
    made = statuses_of(pod)
    for entry in entries_of(pod):
        name = entry.get("resourceClaimName") or made.get(entry["name"])
        if name:
            yield entry, name


def _prefix(owner: str, entry: str) -> str:
    """Both names are shortened, in proportion to their length."""
    prefix = f"{owner}-{entry}-"
    if len(prefix) <= _NAME_BASE_MAX:
        return prefix
    share = _NAME_BASE_MAX / len(prefix)
    return f"{owner[: int(len(owner) * share)]}-{entry[: int(len(entry) * share)]}-"


def _entry_of(claim: Json) -> str:
    return str((claim["metadata"].get("annotations") or {}).get(POD_CLAIM_ANNOTATION) or "")


def _is_going(claim: Json) -> bool:
    return bool(claim["metadata"].get("deletionTimestamp"))
