"""Job: pods that run to completion, how many of them, and what happens when some fail."""

from typing import Annotated

from msgspec import Meta

from posse.model.constraints import (
    OPAQUE,
    PRESENT,
    Immutable,
    MaxBytes,
    MaxItems,
    Minimum,
    OneOf,
    Required,
    UnionMember,
)
from posse.model.formats import label_key
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


MAX_RULES = 20
MAX_PATTERNS = 20
MAX_EXIT_CODES = 255
MAX_INDEXES_BYTES = 64 * 1024
FAIL_INDEX = "FailIndex"

Count = Annotated[Int32, Minimum(0)]
OptionalCount = Annotated[Int32 | None, Minimum(0)]
# Validated when the Job is created, never changed afterwards.
FIXED = Immutable(shows_value=True)
_Requirement = UnionMember(
    none_text="specifying one of OnExitCodes and OnPodConditions is required",
    several_text="specifying both OnExitCodes and OnPodConditions is not supported",
)
_Action = OneOf(("Count", FAIL_INDEX, "FailJob", "Ignore"))
_Operator = OneOf(("In", "NotIn"))
_Status = OneOf(("False", "True", "Unknown"))


def _chosen_of(choice: OneOf) -> Required:
    names = " ".join(f'"{name}"' for name in choice.values)
    return Required(f"valid values: [{names}]")


class PodFailurePolicyOnExitCodesRequirement(Shape):
    container_name: str | None = None
    operator: Annotated[str, _chosen_of(_Operator), _Operator] = ""
    values: Annotated[
        tuple[Int32, ...],
        Required("at least one value is required", is_invalid=True),
        MaxItems(MAX_EXIT_CODES),
    ] = ()


class PodFailurePolicyOnPodConditionsPattern(Shape):
    type: Annotated[str, PRESENT, label_key] = ""
    status: Annotated[str, _chosen_of(_Status), _Status] = ""


class PodFailurePolicyRule(Shape):
    """Exactly one of the two requirements is set; the first rule that matches a failed pod decides."""

    action: Annotated[str, _chosen_of(_Action), _Action] = ""
    on_exit_codes: Annotated[PodFailurePolicyOnExitCodesRequirement | None, _Requirement] = None
    on_pod_conditions: Annotated[
        tuple[PodFailurePolicyOnPodConditionsPattern, ...], _Requirement, MaxItems(MAX_PATTERNS)
    ] = ()


class PodFailurePolicy(Shape):
    rules: Annotated[tuple[PodFailurePolicyRule, ...], MaxItems(MAX_RULES)] = ()


class SuccessPolicyRule(Shape):
    succeeded_indexes: Annotated[str | None, MaxBytes(MAX_INDEXES_BYTES)] = None
    succeeded_count: OptionalCount = None


class SuccessPolicy(Shape):
    rules: Annotated[
        tuple[SuccessPolicyRule, ...],
        Required("at least one rules must be specified when the successPolicy is specified"),
        MaxItems(MAX_RULES),
    ] = ()


class JobGangSchedulingPolicy(Shape):
    """All pods that the Job runs at once start together, or at least `minCount` of them."""

    min_count: Annotated[
        Int32 | None,
        Minimum(1),
        Meta(description="How many must fit at once before any is bound; all of them if left out."),
    ] = None


class JobSchedulingPolicy(Shape):
    """At most one of basic and gang is set; it is basic if none is."""

    basic: Annotated[BasicSchedulingPolicy | None, UnionMember(is_optional=True)] = None
    gang: Annotated[JobGangSchedulingPolicy | None, UnionMember(is_optional=True)] = None


class JobSchedulingSpec(Shape):
    """How the pods are scheduled as a group. All but gang.minCount is fixed at creation; without a policy it
    is basic.
    """

    scheduling_policy: JobSchedulingPolicy | None = None
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    resource_claims: ResourceClaims = ()


class JobSpec(Shape):
    parallelism: Annotated[OptionalCount, Meta(description="How many pods run at once, at most.")] = None
    completions: Annotated[OptionalCount, Meta(description="How many pods must succeed.")] = None
    active_deadline_seconds: Annotated[Int64 | None, Minimum(0)] = None
    pod_failure_policy: Annotated[PodFailurePolicy | None, FIXED] = None
    success_policy: Annotated[SuccessPolicy | None, FIXED] = None
    backoff_limit: Annotated[OptionalCount, Meta(description="How many failures make the Job fail.")] = None
    backoff_limit_per_index: Annotated[OptionalCount, FIXED] = None
    max_failed_indexes: OptionalCount = None
    selector: Annotated[LabelSelector | None, FIXED] = None
    manual_selector: bool | None = None
    template: Annotated[PodTemplateSpec, OPAQUE, Meta(description="What the pods are made from.")] = (
        PodTemplateSpec()
    )
    ttl_seconds_after_finished: OptionalCount = None
    completion_mode: Annotated[
        str | None, FIXED, OneOf((NON_INDEXED, INDEXED)), Meta(description="NonIndexed or Indexed.")
    ] = None
    suspend: Annotated[bool | None, Meta(description="Whether the Job is to have no pods for now.")] = None
    pod_replacement_policy: Annotated[str | None, OneOf(("Failed", "TerminatingOrFailed"))] = None
    managed_by: Annotated[str | None, FIXED] = None
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
    active: Count = 0
    succeeded: Count = 0
    failed: Count = 0
    terminating: OptionalCount = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: UncountedTerminatedPods | None = None
    ready: OptionalCount = None

    def condition(self, kind: str) -> JobCondition | None:
        """Return the condition of this type if it holds."""
        return next((item for item in self.conditions if item.type == kind and item.status == "True"), None)


class Job(ApiObject):
    """Runs pods until enough of them have succeeded."""

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class JobRunTimeSpec(Shape):
    active_deadline_seconds: Int64 | None = None


class JobRunTimeStatus(Shape):
    start_time: Timestamp = ""


class JobRunTime(ApiObject):
    """The fields of a Job that say how long its pods run: all that a scheduler reads of it."""

    spec: JobRunTimeSpec = JobRunTimeSpec()
    status: JobRunTimeStatus = JobRunTimeStatus()
