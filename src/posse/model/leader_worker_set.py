"""LeaderWorkerSet: replicas that are groups of pods, each a leader with its workers."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from posse.model.constraints import OPAQUE, PRESENT, REQUIRED, SHARE, Maximum, Minimum, OneOf
from posse.model.meta import ApiObject, Conditions, Int32, Int64, IntOrString, Shape
from posse.model.pod import PodTemplateSpec
from posse.model.stateful_set import ROLLING_UPDATE, StatefulSetPersistentVolumeClaimRetentionPolicy
from posse.model.volume import PersistentVolumeClaim

RECREATE_ON_POD_RESTART = "RecreateGroupOnPodRestart"
RECREATE_AFTER_START = "RecreateGroupAfterStart"
NO_RECREATION = "None"
# An older name of "None".
DEPRECATED_RESTART_POLICY = "Default"

LEADER_CREATED = "LeaderCreated"
LEADER_READY = "LeaderReady"

SHARED = "Shared"
UNIQUE_PER_REPLICA = "UniquePerReplica"

LEADER_WORKER = "LeaderWorker"
LEADER_EXCLUDED = "LeaderExcluded"

PREFIX = "leaderworkerset.sigs.k8s.io/"
EXCLUSIVE_TOPOLOGY = f"{PREFIX}exclusive-topology"
SUBGROUP_EXCLUSIVE_TOPOLOGY = f"{PREFIX}subgroup-exclusive-topology"
RECREATE_AFTER_START_ANNOTATION = f"{PREFIX}experimental-recreate-group-after-start"

PROVIDER = "scheduling.posse.dev/provider"
"""Annotation: in whose terms the pods of a replica are scheduled together."""
PROVIDERS = ("posse", "volcano", "coscheduling", "yunikorn")
NO_PROVIDER = "none"
"""Pods of a replica are scheduled each by itself."""
SHARED_CLAIMS = "scheduling.posse.dev/shared-claims"
"""Annotation: names of entries in resourceClaims of the templates that all pods of a replica share."""
NAMED_AS_SCHEDULERS = ("volcano", "yunikorn")
"""Providers that are meant if the pods of a set without the annotation name such a scheduler."""


def provider_name(annotations: Mapping[str, str], scheduler_name: str) -> str:
    """The provider that a set asks for, by annotation or by its scheduler; by default Posse's own."""
    implied = scheduler_name if scheduler_name in NAMED_AS_SCHEDULERS else PROVIDERS[0]
    return annotations.get(PROVIDER, implied)


def shared_claims(annotations: Mapping[str, str]) -> list[str]:
    """Names of the entries for which a replica has one claim, instead of each of its pods."""
    return [name for part in annotations.get(SHARED_CLAIMS, "").split(",") if (name := part.strip())]


class SubGroupPolicy(Shape):
    sub_group_policy_type: Annotated[
        str | None,
        OneOf((LEADER_WORKER, LEADER_EXCLUDED)),
        Meta(description="Whether the leader is in the first subgroup: LeaderWorker or LeaderExcluded."),
    ] = None
    sub_group_size: Annotated[
        Int32 | None, REQUIRED, Minimum(1), Meta(description="How many pods are in each subgroup.")
    ] = None


class LeaderWorkerTemplate(Shape):
    leader_template: Annotated[
        PodTemplateSpec | None,
        OPAQUE,
        Meta(description="What leaders are made from, if not from the workerTemplate."),
    ] = None
    worker_template: Annotated[
        PodTemplateSpec, PRESENT, OPAQUE, Meta(description="What workers are made from.")
    ] = PodTemplateSpec()
    size: Annotated[
        Int32 | None, Minimum(1), Meta(description="How many pods a replica has, its leader included.")
    ] = None
    restart_policy: Annotated[
        str,
        OneOf((RECREATE_ON_POD_RESTART, RECREATE_AFTER_START, NO_RECREATION), (DEPRECATED_RESTART_POLICY,)),
        Meta(description="What happens to a replica when one of its pods is restarted or deleted."),
    ] = ""
    sub_group_policy: SubGroupPolicy | None = None
    volume_claim_templates: Annotated[tuple[PersistentVolumeClaim, ...], OPAQUE] = ()
    persistent_volume_claim_retention_policy: StatefulSetPersistentVolumeClaimRetentionPolicy | None = None

    @property
    def group_size(self) -> int:
        return 1 if self.size is None else self.size

    @property
    def leader(self) -> PodTemplateSpec:
        return self.leader_template or self.worker_template


class RollingUpdateConfiguration(Shape):
    partition: Annotated[
        Int32 | None, Minimum(0), Meta(description="Replicas with lower numbers stay as they are.")
    ] = None
    max_unavailable: Annotated[
        IntOrString | None, SHARE, Meta(description="How many replicas may be away at once during an update.")
    ] = None
    max_surge: Annotated[
        IntOrString | None,
        SHARE,
        Meta(description="How many replicas more than wanted may exist during an update."),
    ] = None


class RolloutStrategy(Shape):
    type: Annotated[str, OneOf((ROLLING_UPDATE,))] = ""
    rolling_update_configuration: RollingUpdateConfiguration | None = None


class NetworkConfig(Shape):
    subdomain_policy: Annotated[
        str | None,
        OneOf((SHARED, UNIQUE_PER_REPLICA)),
        Meta(description="One headless Service for all, Shared, or one each, UniquePerReplica."),
    ] = None


class LeaderWorkerSetSpec(Shape):
    replicas: Annotated[
        Int32 | None, Minimum(0), Maximum(1_000_000), Meta(description="How many replicas there are to be.")
    ] = None
    leader_worker_template: Annotated[LeaderWorkerTemplate, PRESENT] = LeaderWorkerTemplate()
    rollout_strategy: RolloutStrategy = RolloutStrategy()
    startup_policy: Annotated[
        str,
        OneOf((LEADER_CREATED, LEADER_READY)),
        Meta(description="When workers are made: once the leader is there, or once it is ready."),
    ] = ""
    network_config: NetworkConfig | None = None

    @property
    def wanted(self) -> int:
        return 1 if self.replicas is None else self.replicas

    @property
    def rolling(self) -> RollingUpdateConfiguration:
        return self.rollout_strategy.rolling_update_configuration or RollingUpdateConfiguration()


class LeaderWorkerSetStatus(Shape):
    conditions: Conditions = ()
    ready_replicas: Int32 = 0
    updated_replicas: Int32 = 0
    replicas: Int32 = 0
    hpa_pod_selector: str = ""
    observed_generation: Int64 = 0


class LeaderWorkerSet(ApiObject):
    """Replicas of a group of pods: a leader and workers that work on one thing and live together."""

    spec: Annotated[LeaderWorkerSetSpec, PRESENT] = LeaderWorkerSetSpec()
    status: LeaderWorkerSetStatus = LeaderWorkerSetStatus()
