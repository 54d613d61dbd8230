"""JobSet: Jobs that are one workload, made from templates, with what their success, failure and start mean
for the whole.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, field

from posse.model.constraints import (
    OPAQUE,
    PRESENT,
    REQUIRED,
    Immutable,
    KeyedBy,
    MaxItems,
    Minimum,
    OneOf,
    Required,
)
from posse.model.formats import dns_1035_label
from posse.model.job import JobTemplateSpec
from posse.model.meta import ApiObject, Condition, Conditions, Int32, Shape, merge_list
from posse.model.volume import PersistentVolumeClaim
from posse.model.workload import DisruptionMode, SchedulingConstraints

GANG_OFF = "Off"
GANG = "Gang"
REPLICATED_GANG = "ReplicatedGang"

GANG_MODE = "scheduling.posse.dev/gang-mode"
"""Annotation of a JobSet, or of the Job template of a replicatedJob, that asks for gangs where there is no
field for it.
"""

IN_ORDER = "InOrder"
ANY_ORDER = "AnyOrder"

READY = "Ready"
COMPLETE = "Complete"

RECREATE = "Recreate"
BLOCKING_RECREATE = "BlockingRecreate"
IN_PLACE_RESTART = "InPlaceRestart"

FAIL_JOB_SET = "FailJobSet"
RESTART_JOB_SET = "RestartJobSet"
RESTART_JOB_SET_AND_IGNORE_MAX_RESTARTS = "RestartJobSetAndIgnoreMaxRestarts"
RESTART_JOB = "RestartJob"
RESTART_JOB_AND_IGNORE_MAX_RESTARTS = "RestartJobAndIgnoreMaxRestarts"
# Actions that restart the failed Job alone.
JOB_ACTIONS = (RESTART_JOB, RESTART_JOB_AND_IGNORE_MAX_RESTARTS)
UNCOUNTED_ACTIONS = (RESTART_JOB_SET_AND_IGNORE_MAX_RESTARTS, RESTART_JOB_AND_IGNORE_MAX_RESTARTS)
ACTIONS = (FAIL_JOB_SET, RESTART_JOB_SET, RESTART_JOB_SET_AND_IGNORE_MAX_RESTARTS, *JOB_ACTIONS)

FAILURE_REASONS = (
    "BackoffLimitError",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)

DELETE = "Delete"
RETAIN = "Retain"

COMPLETED = "Completed"
FAILED = "Failed"
SUSPENDED = "Suspended"
RESTARTING = "RestartingJobSet"
STARTUP_IN_PROGRESS = "StartupPolicyInProgress"
STARTUP_COMPLETED = "StartupPolicyCompleted"
GANG_BLOCKED = "GangBlocked"
JOBS_BLOCKED = "JobsBlocked"

# Validated when the JobSet is created, never changed afterwards.
FIXED = Immutable(shows_value=True)


class GangConfig(Shape):
    """Which pods start together, and what holds for them as a group. Fixed at creation."""

    gang_mode: Annotated[
        str | None,
        Meta(
            description="Off, Gang (all pods of this level), or for replicatedJobs ReplicatedGang (per Job)."
        ),
    ] = None
    scheduling_constraints: Annotated[
        SchedulingConstraints | None, Meta(description="Where each gang as a whole may go.")
    ] = None
    disruption_mode: Annotated[
        DisruptionMode | None, Meta(description="Whether its pods are preempted one by one or all at once.")
    ] = None


class DependsOn(Shape):
    """Another replicatedJob that must be Ready or Complete first."""

    name: str = ""
    status: Annotated[str, OneOf((READY, COMPLETE))] = ""


class ReplicatedJob(Shape):
    """Jobs that are all alike but for their index."""

    name: Annotated[str, REQUIRED] = ""
    group_name: Annotated[str, Required(is_defaulted=True), dns_1035_label] = ""
    template: Annotated[
        JobTemplateSpec, PRESENT, OPAQUE, Meta(description="What the Jobs are made from.")
    ] = JobTemplateSpec()
    replicas: Annotated[Int32 | None, Minimum(0), Meta(description="How many Jobs are made.")] = None
    depends_on: tuple[DependsOn, ...] = ()
    gang_config: Annotated[GangConfig | None, FIXED] = None


class Network(Shape):
    enable_dns_hostnames: Annotated[
        bool | None, Meta(description="Whether pods are reached by name, through a headless Service.")
    ] = field(default=None, name="enableDNSHostnames")
    subdomain: Annotated[str, Meta(description="Name of that Service; the name of the JobSet if empty.")] = ""
    publish_not_ready_addresses: bool | None = None


class JobSetSuccessPolicy(Shape):
    operator: Annotated[
        str, OneOf(("All", "Any")), Meta(description="All or Any of the Jobs must complete.")
    ] = ""
    target_replicated_jobs: tuple[str, ...] = ()


class FailurePolicyRule(Shape):
    """What is done when a Job fails that meets all of its conditions; an empty list is met by every Job."""

    name: str = ""
    action: Annotated[str, OneOf(ACTIONS)] = ""
    on_job_failure_reasons: Annotated[tuple[str, ...], OneOf(FAILURE_REASONS)] = ()
    on_job_failure_message_patterns: tuple[str, ...] = ()
    target_replicated_jobs: tuple[str, ...] = ()


class FailurePolicy(Shape):
    max_restarts: Annotated[Int32, Minimum(0)] = 0
    restart_strategy: Annotated[str, OneOf((RECREATE, BLOCKING_RECREATE, IN_PLACE_RESTART))] = ""
    rules: tuple[FailurePolicyRule, ...] = ()


class StartupPolicy(Shape):
    startup_policy_order: Annotated[str, OneOf((ANY_ORDER, IN_ORDER))] = ""


class Coordinator(Shape):
    """The pod that the others are told about."""

    replicated_job: str = ""
    job_index: Int32 = 0
    pod_index: Int32 = 0


class RetentionPolicy(Shape):
    when_deleted: Annotated[
        str, OneOf((DELETE, RETAIN)), Meta(description="Delete or Retain: what becomes of claims.")
    ] = ""


class VolumeClaimPolicy(Shape):
    """Claims that the pods share which mount a volume of that name, and what becomes of them afterwards."""

    templates: Annotated[tuple[PersistentVolumeClaim, ...], OPAQUE] = ()
    retention_policy: RetentionPolicy | None = None


class JobSetSpec(Shape):
    replicated_jobs: Annotated[tuple[ReplicatedJob, ...], merge_list("name"), KeyedBy("name")] = ()
    network: Annotated[Network | None, FIXED] = None
    success_policy: Annotated[JobSetSuccessPolicy | None, FIXED] = None
    failure_policy: FailurePolicy | None = None
    startup_policy: Annotated[StartupPolicy | None, FIXED] = None
    suspend: bool | None = None
    coordinator: Coordinator | None = None
    managed_by: Annotated[str | None, FIXED] = None
    ttl_seconds_after_finished: Annotated[Int32 | None, Minimum(0)] = None
    volume_claim_policies: Annotated[tuple[VolumeClaimPolicy, ...], MaxItems(50), FIXED] = ()
    gang_config: Annotated[
        GangConfig | None, FIXED, Meta(description="Whether all pods of the JobSet start together.")
    ] = None

    @property
    def restarts_in_place(self) -> bool:
        """Whether pods restart where they are when one of them fails."""
        policy = self.failure_policy
        return policy is not None and policy.restart_strategy == IN_PLACE_RESTART

    @property
    def is_sequenced(self) -> bool:
        """Whether some Jobs are made only after others have come up or ended."""
        is_in_order = self.startup_policy is not None and self.startup_policy.startup_policy_order == IN_ORDER
        return is_in_order or any(job.depends_on for job in self.replicated_jobs)


class ReplicatedJobStatus(Shape):
    """How many Jobs of the current run are in which state."""

    name: Annotated[str, REQUIRED] = ""
    ready: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0
    active: Int32 = 0
    suspended: Int32 = 0
    # By the index of a Job, how often it was restarted alone. A list may be shorter than there are Jobs.
    job_restarts: tuple[Int32, ...] = ()
    job_restarts_count_towards_max: tuple[Int32, ...] = ()


class JobSetStatus(Shape):
    conditions: Conditions = ()
    restarts: Int32 = 0
    restarts_count_towards_max: Int32 = 0
    terminal_state: str = ""
    replicated_jobs_status: Annotated[tuple[ReplicatedJobStatus, ...], merge_list("name")] = ()
    previous_in_place_restart_attempt: Annotated[
        Int32 | None, Meta(description="Pods of this attempt or an earlier one restart where they are.")
    ] = None
    current_in_place_restart_attempt: Annotated[
        Int32 | None, Meta(description="The attempt that all pods have reached: they may run.")
    ] = None

    @property
    def counted_restarts(self) -> int:
        """How many restarts, of the JobSet and of single Jobs, count against its maxRestarts."""
        of_jobs = sum(sum(job.job_restarts_count_towards_max) for job in self.replicated_jobs_status)
        return self.restarts_count_towards_max + of_jobs

    @property
    def restarts_by_job(self) -> Mapping[str, Sequence[int]]:
        """How often each Job of a replicatedJob was restarted alone, by the name of the replicatedJob."""
        return {job.name: job.job_restarts for job in self.replicated_jobs_status if job.job_restarts}

    def job_restarts(self, replicated_job: str, index: int) -> int:
        """How often a Job was restarted alone."""
        counts = self.restarts_by_job.get(replicated_job, ())
        return counts[index] if index < len(counts) else 0

    def condition(self, kind: str) -> Condition | None:
        """Return the condition of this type if it holds."""
        return next((item for item in self.conditions if item.type == kind and item.status == "True"), None)


class JobSet(ApiObject):
    """Jobs that run as one workload."""

    spec: Annotated[JobSetSpec, PRESENT] = JobSetSpec()
    status: JobSetStatus = JobSetStatus()
