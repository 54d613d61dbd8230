"""The history of a Deployment: a ReplicaSet for each template of its pods, up to a limit."""

from collections.abc import Sequence

from posse.controllers.revision_hash import content_hash
from posse.controllers.steps import is_deleting, owner_reference
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import DEPLOYMENT, REPLICA_SET

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
_MAX_DIGITS = 18
# Annotations of a Deployment that say nothing about what its pods are made from.
NOT_COPIED = frozenset({"kubectl.kubernetes.io/last-applied-configuration", REVISION})


def current_set(deployment: Json, sets: Sequence[Json]) -> Json | None:
    """Return the set that is made from the template as it is now."""
    template = deployment["spec"]["template"]
    return next((each for each in sets if _template_of(each) == _without_hash(template)), None)


def revision_of(obj: Json) -> int:
    text = (obj["metadata"].get("annotations") or {}).get(REVISION, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else 0


def next_revision(current: Json | None, sets: Sequence[Json]) -> int:
    """Return the number of the current set: above those of all others."""
    others = max((revision_of(each) for each in sets if each is not current), default=0)
    return max(others + 1, revision_of(current) if current is not None else 0)


def new_set(deployment: Json, revision: int, size: int, collisions: int) -> Json:
    metadata, spec = deployment["metadata"], deployment["spec"]
    template = _without_hash(spec["template"])
    digest = content_hash(template, collisions)
    labels = {**(template.get("metadata") or {}).get("labels", {}), HASH: digest}
    selector = spec["selector"]
    return {
        "apiVersion": REPLICA_SET.api_version,
        "kind": REPLICA_SET.name,
        "metadata": {
            "name": f"{metadata['name']}-{digest}",
            "namespace": metadata["namespace"],
            "labels": labels,
            "annotations": annotations_for(deployment, revision),
            "ownerReferences": [owner_reference(DEPLOYMENT, deployment)],
        },
        "spec": {
            "replicas": size,
            "minReadySeconds": spec.get("minReadySeconds") or 0,
            "selector": selector | {"matchLabels": {**(selector.get("matchLabels") or {}), HASH: digest}},
            "template": template | {"metadata": {**(template.get("metadata") or {}), "labels": labels}},
        },
    }


def annotations_for(deployment: Json, revision: int) -> dict[str, str]:
    given = deployment["metadata"].get("annotations") or {}
    kept = {name: text for name, text in given.items() if name not in NOT_COPIED}
    return kept | {REVISION: str(revision)}


def outdated(deployment: Json, old: Sequence[Json]) -> list[Json]:
    """Return empty old sets beyond the limit, oldest first."""
    limit = deployment["spec"].get("revisionHistoryLimit")
    idle = [each for each in old if _is_idle(each)]
    idle.sort(key=revision_of)
    return idle[: max(0, len(idle) - (10 if limit is None else limit))]


def _is_idle(each: Json) -> bool:
    status = each.get("status") or {}
    is_seen = (status.get("observedGeneration") or 0) >= (each["metadata"].get("generation") or 0)
    return (
        is_seen and not each["spec"].get("replicas") and not status.get("replicas") and not is_deleting(each)
    )


def _template_of(each: Json) -> Json:
    return _without_hash(each["spec"]["template"])


def _without_hash(template: Json) -> Json:
    metadata = template.get("metadata") or {}
    labels = {name: text for name, text in (metadata.get("labels") or {}).items() if name != HASH}
    return template | {"metadata": metadata | {"labels": labels}}
