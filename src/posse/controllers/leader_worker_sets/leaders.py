"""The StatefulSet of the leaders: one pod for each replica."""

from typing import Any

from posse.controllers.leader_worker_sets.keys import (
    LEADER,
    NAME,
    REPLICAS,
    REVISION,
    SIZE,
    SUBDOMAIN_POLICY,
    SUBGROUP_POLICY_TYPE,
    SUBGROUP_SIZE,
    WORKER_INDEX,
    annotations_of,
    labels_of,
    number,
)
from posse.controllers.leader_worker_sets.providers.contract import SchedulerProvider
from posse.controllers.leader_worker_sets.rollout import LeaderSetState, Rollout, RolloutLimits
from posse.controllers.steps import owner_reference
from posse.kinds.registry import LEADER_WORKER_SET, STATEFUL_SET
from posse.kinds.sets.leader_worker_sets import max_surge, max_unavailable
from posse.model.leader_worker_set import (
    EXCLUSIVE_TOPOLOGY,
    PROVIDER,
    SUBGROUP_EXCLUSIVE_TOPOLOGY,
    UNIQUE_PER_REPLICA,
    LeaderWorkerSetSpec,
)

Json = dict[str, Any]

# What kubectl notes on the set is about the set alone.
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
RETENTION_POLICY = "persistentVolumeClaimRetentionPolicy"


def limits_of(spec: LeaderWorkerSetSpec) -> RolloutLimits:
    rolling, replicas = spec.rolling, spec.wanted
    return RolloutLimits(
        replicas, rolling.partition or 0, max_unavailable(rolling, replicas), max_surge(rolling, replicas)
    )


def state_of(leader_set: Json) -> LeaderSetState:
    spec = leader_set["spec"]
    rolling = (spec.get("updateStrategy") or {}).get("rollingUpdate") or {}
    asked = number(annotations_of(leader_set).get(REPLICAS))
    replicas = int(spec.get("replicas") or 0)
    return LeaderSetState(replicas, int(rolling.get("partition") or 0), replicas if asked is None else asked)


def leader_set(
    lws: Json, spec: LeaderWorkerSetSpec, key: str, rollout: Rollout, provider: SchedulerProvider | None
) -> Json:
    """Return the StatefulSet as it is to be; `key` is the revision that its template comes from."""
    name, limits, template = lws["metadata"]["name"], limits_of(spec), lws["spec"]["leaderWorkerTemplate"]
    rolling = {
        "partition": rollout.partition,
        "maxUnavailable": max(1, limits.max_unavailable + limits.max_surge),
    }
    made: Json = {
        "replicas": rollout.replicas,
        "serviceName": name,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {NAME: name, WORKER_INDEX: LEADER}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        "template": _template(lws, spec, key, provider),
        **claims_of(template),
    }
    labels, annotations = {NAME: name, REVISION: key}, {REPLICAS: str(limits.replicas)}
    return {
        "apiVersion": STATEFUL_SET.api_version,
        "kind": STATEFUL_SET.name,
        "metadata": inherited_metadata(lws, labels, annotations)
        | {"name": name, "ownerReferences": [owner_reference(LEADER_WORKER_SET, lws)]},
        "spec": made,
    }


def with_changes(existing: Json, wanted: Json) -> Json | None:
    """Return the existing StatefulSet as it is to be, None if it is so already.

    The spec of its pods is compared by the revision it comes from: a server adds defaults.
    """
    metadata, spec = existing["metadata"], existing["spec"]
    labels = labels_of(existing) | wanted["metadata"]["labels"]
    annotations = annotations_of(existing) | wanted["metadata"]["annotations"]
    fields = {
        "replicas": wanted["spec"]["replicas"],
        "updateStrategy": _strategy(spec["updateStrategy"], wanted["spec"]["updateStrategy"]),
    }
    if policy := wanted["spec"].get(RETENTION_POLICY):
        fields[RETENTION_POLICY] = (spec.get(RETENTION_POLICY) or {}) | policy
    if _parts(spec["template"]) != _parts(wanted["spec"]["template"]):
        fields["template"] = wanted["spec"]["template"]
    changed = existing | {
        "metadata": metadata | {"labels": labels, "annotations": annotations},
        "spec": spec | fields,
    }
    return None if changed == existing else changed


def _strategy(existing: Json, wanted: Json) -> Json:
    """A server that does not know how many may be away has dropped it, and would do so again."""
    known = existing.get("rollingUpdate") or {}
    rolling = wanted["rollingUpdate"]
    return wanted | {
        "rollingUpdate": {name: rolling[name] for name in rolling if name in known or name == "partition"}
    }


def _parts(template: Json) -> tuple[Json, Json]:
    return labels_of(template), annotations_of(template)


def inherited_metadata(lws: Json, labels: Json, annotations: Json) -> Json:
    """What the set says about itself holds for its StatefulSets, unless it is theirs to say."""
    inherited = {name: text for name, text in annotations_of(lws).items() if name != LAST_APPLIED}
    return {
        "namespace": lws["metadata"]["namespace"],
        "labels": {**labels_of(lws), **labels},
        "annotations": {**inherited, **annotations},
    }


def claims_of(template: Json) -> Json:
    names = ("volumeClaimTemplates", RETENTION_POLICY)
    return {name: template[name] for name in names if template.get(name)}


def group_annotations(lws: Json, template: Json) -> Json:
    """Annotations that describe the replica to its pods; `template` is that of the replica."""
    annotations = {SIZE: str(template.get("size") or 1)}
    policy = template.get("subGroupPolicy")
    if policy:
        annotations[SUBGROUP_SIZE] = str(policy["subGroupSize"])
        annotations[SUBGROUP_POLICY_TYPE] = policy.get("subGroupPolicyType") or ""
    for name in (EXCLUSIVE_TOPOLOGY, SUBGROUP_EXCLUSIVE_TOPOLOGY):
        if text := annotations_of(lws).get(name):
            annotations[name] = text
    return annotations


def pod_template(written: Json, labels: Json, annotations: Json) -> Json:
    """Return a template as it was written, with more labels and annotations."""
    metadata = written.get("metadata") or {}
    return {
        "metadata": {
            **metadata,
            "labels": {**(metadata.get("labels") or {}), **labels},
            "annotations": {**(metadata.get("annotations") or {}), **annotations},
        },
        "spec": dict(written.get("spec") or {}),
    }


def _template(lws: Json, spec: LeaderWorkerSetSpec, key: str, provider: SchedulerProvider | None) -> Json:
    template = lws["spec"]["leaderWorkerTemplate"]
    written = template.get("leaderTemplate") or template["workerTemplate"]
    labels = {NAME: lws["metadata"]["name"], WORKER_INDEX: LEADER, REVISION: key}
    annotations = group_annotations(lws, template)
    network = spec.network_config
    if network is not None and network.subdomain_policy == UNIQUE_PER_REPLICA:
        annotations[SUBDOMAIN_POLICY] = UNIQUE_PER_REPLICA
    if provider is not None:
        annotations[PROVIDER] = provider.name
    made = pod_template(written, labels, annotations)
    if provider is not None:
        provider.prepare(lws, spec, made)
    return made
