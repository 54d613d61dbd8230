"""What the objects and metrics of a JobSet are called, and the labels by which objects are told apart."""

from typing import Any

Json = dict[str, Any]

PREFIX = "jobset.sigs.k8s.io/"
JOBSET_NAME = PREFIX + "jobset-name"
JOBSET_UID = PREFIX + "jobset-uid"
REPLICATED_JOB_NAME = PREFIX + "replicatedjob-name"
REPLICATED_JOB_REPLICAS = PREFIX + "replicatedjob-replicas"
GLOBAL_REPLICAS = PREFIX + "global-replicas"
JOB_INDEX = PREFIX + "job-index"
JOB_GLOBAL_INDEX = PREFIX + "job-global-index"
JOB_KEY = PREFIX + "job-key"
RESTART_ATTEMPT = PREFIX + "restart-attempt"
JOB_RESTART_ATTEMPT = PREFIX + "job-restart-attempt"
GROUP_NAME = PREFIX + "group-name"
GROUP_REPLICAS = PREFIX + "group-replicas"
JOB_GROUP_INDEX = PREFIX + "job-group-index"
COORDINATOR = PREFIX + "coordinator"
PRIORITY = PREFIX + "priority"

EXCLUSIVE_TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"
NODE_SELECTOR_STRATEGY = "alpha.jobset.sigs.k8s.io/node-selector"
NAMESPACED_JOB = "alpha.jobset.sigs.k8s.io/namespaced-job"
NO_SCHEDULE = "alpha.jobset.sigs.k8s.io/no-schedule"

COMPLETED_TOTAL = "jobset_completed_total"
FAILED_TOTAL = "jobset_failed_total"


def job_name(jobset: str, replicated_job: str, index: int) -> str:
    return f"{jobset}-{replicated_job}-{index}"


def workload_name(jobset: str, part: int = 0) -> str:
    """The name of a Workload of the JobSet; no JobSet has a dot in its name."""
    return f"w-{jobset}.{part + 1}" if part else f"w-{jobset}"


def pod_group_name(jobset: str, template: str, index: int | None = None) -> str:
    """The name of the group of a part; that of the whole is called as its template is."""
    return f"{jobset}-{template}" if index is None else f"{jobset}-{template}-{index}"


def attempt_of(obj: Json) -> int:
    """Return the number of the run that the object was made for."""
    return number_in_label(obj, RESTART_ATTEMPT)


def number_in_label(obj: Json, key: str) -> int:
    text = (obj["metadata"].get("labels") or {}).get(key, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else 0
