"""The StatefulSet of the workers of one replica: created from the revision of the leader, never changed."""

from typing import Any

from posse.controllers.leader_worker_sets.environment import requests_tpus
from posse.controllers.leader_worker_sets.keys import (
    GROUP_INDEX,
    GROUP_KEY,
    LEADER_NAME,
    LEADER_REQUESTS_TPUS,
    NAME,
    REVISION,
    STARTUP,
    annotations_of,
    labels_of,
)
from posse.controllers.leader_worker_sets.leaders import (
    claims_of,
    group_annotations,
    inherited_metadata,
    pod_template,
)
from posse.controllers.leader_worker_sets.providers.contract import SchedulerProvider
from posse.controllers.leader_worker_sets.revisions import restored, restored_json
from posse.controllers.leader_worker_sets.topology import make_exclusive
from posse.controllers.steps import owner_reference
from posse.kinds.registry import POD, STATEFUL_SET
from posse.model.leader_worker_set import (
    EXCLUSIVE_TOPOLOGY,
    LEADER_READY,
    UNIQUE_PER_REPLICA,
    LeaderWorkerSetSpec,
)

Json = dict[str, Any]


def worker_set(lws: Json, leader: Json, revision: Json, provider: SchedulerProvider | None) -> Json:
    name, owner = leader["metadata"]["name"], owner_reference(POD, leader)
    spec, written = restored(lws, revision), restored_json(lws, revision)["leaderWorkerTemplate"]
    labels = {key: labels_of(leader)[key] for key in (NAME, GROUP_INDEX, GROUP_KEY, REVISION)}
    made: Json = {
        "replicas": spec.leader_worker_template.group_size - 1,
        "ordinals": {"start": 1},
        "serviceName": _service_name(lws, leader, spec),
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {key: labels[key] for key in (GROUP_INDEX, NAME, GROUP_KEY)}},
        "template": _template(lws, leader, written, labels),
        **claims_of(written),
    }
    if provider is not None:
        provider.prepare(lws, spec, made["template"])
        provider.inject(made["template"], provider.group_of(leader))
    return {
        "apiVersion": STATEFUL_SET.api_version,
        "kind": STATEFUL_SET.name,
        "metadata": inherited_metadata(lws, labels, _startup(spec))
        | {"name": name, "ownerReferences": [owner]},
        "spec": made,
    }


def _startup(spec: LeaderWorkerSetSpec) -> Json:
    return {STARTUP: LEADER_READY} if spec.startup_policy == LEADER_READY else {}


def bind_to_domain(stateful_set: Json, domain: str) -> None:
    """Send the workers to the topology domain that their leader is in."""
    template = stateful_set["spec"]["template"]
    selector = dict(template["spec"].get("nodeSelector") or {})
    selector[annotations_of(template)[EXCLUSIVE_TOPOLOGY]] = domain
    template["spec"]["nodeSelector"] = selector


def draw_together(stateful_set: Json) -> None:
    """Let the workers look for a topology domain together with their leader, instead of following it."""
    template = stateful_set["spec"]["template"]
    make_exclusive(template, annotations_of(template)[EXCLUSIVE_TOPOLOGY], GROUP_KEY)


def follows_leader(spec: LeaderWorkerSetSpec, provider: SchedulerProvider | None) -> bool:
    """Whether workers in an exclusive domain can wait for their leader; in a gang, it would wait for them."""
    return provider is None or spec.startup_policy == LEADER_READY


def _service_name(lws: Json, leader: Json, spec: LeaderWorkerSetSpec) -> str:
    network = spec.network_config
    is_unique = network is not None and network.subdomain_policy == UNIQUE_PER_REPLICA
    return str(leader["metadata"]["name"] if is_unique else lws["metadata"]["name"])


def _template(lws: Json, leader: Json, written: Json, labels: Json) -> Json:
    annotations = {**group_annotations(lws, written), LEADER_NAME: leader["metadata"]["name"]}
    if requests_tpus(leader):
        annotations[LEADER_REQUESTS_TPUS] = "true"
    return pod_template(written["workerTemplate"], labels, annotations)
