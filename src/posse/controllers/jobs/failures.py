"""What a failed pod means for its Job: the rule of the failure policy that it matches, and the backoff."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from posse.controllers.jobs.pods import JobPod, ended_at, has_failed
from posse.model.job import JobSpec, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyRule

Json = dict[str, Any]

FIRST_BACKOFF_SECONDS = 10.0
LONGEST_BACKOFF_SECONDS = 600.0

COUNT = "Count"
IGNORE = "Ignore"
FAIL_JOB = "FailJob"
FAIL_INDEX = "FailIndex"


class Match(NamedTuple):
    """The action of the rule that a failed pod meets, and how that is told."""

    action: str
    message: str


def judge(pod: JobPod, spec: JobSpec) -> Match:
    """Return what the failure policy says of a failed pod; without a rule that fits, it counts."""
    rules = spec.pod_failure_policy.rules if spec.pod_failure_policy else ()
    # Only a pod that has ended can be judged by how it ended.
    if pod.phase == "Failed":
        for number, rule in enumerate(rules):
            reason = _exit_code_reason(pod, rule) or _condition_reason(pod, rule)
            if reason:
                return Match(rule.action, f"{reason} matching {rule.action} rule at index {number}")
    return Match(COUNT, "")


def backoff_seconds(failures: int) -> float:
    """Return the pause after so many failures in a row: doubling from ten seconds to ten minutes."""
    if failures <= 0:
        return 0.0
    return min(FIRST_BACKOFF_SECONDS * (1 << min(failures - 1, 10)), LONGEST_BACKOFF_SECONDS)


def next_start(pods: Iterable[JobPod], spec: JobSpec) -> float:
    """Return the time before which no failed pod is replaced, by all failures since the last success.

    Ignored failures never fail the Job, but they count for the backoff.
    """
    pods = list(pods)
    last_success = max((ended_at(pod) for pod in pods if pod.phase == "Succeeded"), default=0.0)
    failures = [ended_at(pod) for pod in pods if has_failed(pod, spec) and _is_own_end(pod)]
    recent = [time for time in failures if time > last_success]
    return max(recent) + backoff_seconds(len(recent)) if recent else 0.0


def _is_own_end(pod: JobPod) -> bool:
    # What the controller took back itself has lost its finalizer before it ended.
    return pod.phase == "Failed" or pod.is_tracked


def _exit_code_reason(pod: JobPod, rule: PodFailurePolicyRule) -> str:
    if rule.on_exit_codes is None:
        return ""
    for name, code in _exits(pod.obj.get("status") or {}):
        if _fits(rule.on_exit_codes, name, code):
            return f"Container {name} for pod {pod.namespace}/{pod.name} failed with exit code {code}"
    return ""


def _exits(status: Json) -> Iterator[tuple[str, int]]:
    for item in (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())):
        terminated = (item.get("state") or {}).get("terminated") or {}
        if terminated.get("exitCode"):
            yield item.get("name", ""), terminated["exitCode"]


def _fits(codes: PodFailurePolicyOnExitCodesRequirement, container: str, code: int) -> bool:
    if codes.container_name not in (None, container):
        return False
    return (code in codes.values) == (codes.operator == "In")


def _condition_reason(pod: JobPod, rule: PodFailurePolicyRule) -> str:
    for condition in (pod.obj.get("status") or {}).get("conditions") or ():
        for pattern in rule.on_pod_conditions:
            if condition.get("type") == pattern.type and condition.get("status") == pattern.status:
                return f"Pod {pod.namespace}/{pod.name} has condition {pattern.type}"
    return ""
