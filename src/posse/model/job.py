"""Job: pods that run to completion, how many of them, and what happens when some fail."""

from typing import Annotated

from msgspec import Meta

from posse.model.constraints import UNION_MEMBER, Minimum
from posse.model.meta import ApiObject, Int32, Int64, LabelSelector, ObjectMeta, Shape, Timestamp, merge_list
from posse.model.pod import PodTemplateSpec
from posse.model.workload import (
    BasicSchedulingPolicy,
    DisruptionMode,
    ResourceClaims,
    SchedulingConstraints,
)

INDEXED = "Indexed"
NON_INDEXED = "NonIndexed"

COMPLETE = "Complete"
FAILED = "Failed"
SUSPENDED = "Suspended"
FAILURE_TARGET = "FailureTarget"
SUCCESS_CRITERIA_MET = "SuccessCriteriaMet"


class PodFailurePolicyOnExitCodesRequirement(Shape):
    container_name: str | None = None
    operator: str = ""
    values: tuple[Int32, ...] = ()


class PodFailurePolicyOnPodConditionsPattern(Shape):
    type: str = ""
    status: str = ""


class PodFailurePolicyRule(Shape):
    """Exactly one of the two requirements is set; the first rule that matches a failed pod decides."""

    action: str = ""
    on_exit_codes: PodFailurePolicyOnExitCodesRequirement | None = None
    on_pod_conditions: tuple[PodFailurePolicyOnPodConditionsPattern, ...] = ()


class PodFailurePolicy(Shape):
    rules: tuple[PodFailurePolicyRule, ...] = ()


class SuccessPolicyRule(Shape):
    succeeded_indexes: str | None = None
    succeeded_count: Int32 | None = None


class SuccessPolicy(Shape):
    rules: tuple[SuccessPolicyRule, ...] = ()


class JobGangSchedulingPolicy(Shape):
    """All pods that the Job runs at once start together, or at least `minCount` of them."""

    min_count: Annotated[
        Int32 | None,
        Minimum(1),
        Meta(description="How many must fit at once before any is bound; all of them if left out."),
    ] = None


class JobSchedulingPolicy(Shape):
    """At most one of basic and gang is set; it is basic if none is."""

    basic: Annotated[BasicSchedulingPolicy | None, UNION_MEMBER] = None
    gang: Annotated[JobGangSchedulingPolicy | None, UNION_MEMBER] = None


class JobSchedulingSpec(Shape):
    """How the pods are scheduled as a group. All but gang.minCount is fixed at creation; without a policy it
    is basic.
    """

    scheduling_policy: JobSchedulingPolicy | None = None
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    resource_claims: ResourceClaims = ()


class JobSpec(Shape):
    parallelism: Annotated[Int32 | None, Meta(description="How many pods run at once, at most.")] = None
    completions: Annotated[Int32 | None, Meta(description="How many pods must succeed.")] = None
    active_deadline_seconds: Int64 | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    success_policy: SuccessPolicy | None = None
    backoff_limit: Annotated[Int32 | None, Meta(description="How many failures make the Job fail.")] = None
    backoff_limit_per_index: Int32 | None = None
    max_failed_indexes: Int32 | None = None
    selector: LabelSelector | None = None
    manual_selector: bool | None = None
    template: Annotated[PodTemplateSpec, Meta(description="What the pods are made from.")] = PodTemplateSpec()
    ttl_seconds_after_finished: Int32 | None = None
    completion_mode: Annotated[str | None, Meta(description="NonIndexed or Indexed.")] = None
    suspend: Annotated[bool | None, Meta(description="Whether the Job is to have no pods for now.")] = None
    pod_replacement_policy: str | None = None
    managed_by: str | None = None
    scheduling: Annotated[
        JobSchedulingSpec | None, Meta(description="How the pods are scheduled as a group.")
    ] = None

    @property
    def is_indexed(self) -> bool:
        return self.completion_mode == INDEXED


class JobTemplateSpec(Shape):
    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class JobCondition(Shape):
    type: str = ""
    status: str = ""
    last_probe_time: Timestamp | None = None
    last_transition_time: Timestamp = ""
    reason: str = ""
    message: str = ""


class UncountedTerminatedPods(Shape):
    """Pods (by uid) that have ended but are not counted yet; each still has its tracking finalizer."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class JobStatus(Shape):
    conditions: Annotated[tuple[JobCondition, ...], merge_list("type")] = ()
    start_time: Timestamp = ""
    completion_time: Timestamp = ""
    active: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0
    terminating: Int32 | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: UncountedTerminatedPods | None = None
    ready: Int32 | None = None

    def condition(self, kind: str) -> JobCondition | None:
        """Return the condition of this type if it holds."""
        return next((item for item in self.conditions if item.type == kind and item.status == "True"), None)


class Job(ApiObject):
    """Runs pods until enough of them have succeeded."""

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()
