"""What `kubectl get` shows of a Job: how it stands, how many of its pods have succeeded, how long it has
taken.

Of a JobSet it shows how it has ended, how often it was started again, and whether it is suspended.
"""

from posse.kinds.columns import AGE, NAME, NONE
from posse.kinds.machinery.durations import human_duration
from posse.kinds.machinery.kind import Json, PrintedColumn
from posse.model.job import COMPLETE, FAILED, FAILURE_TARGET, SUCCESS_CRITERIA_MET, SUSPENDED
from posse.model.timestamps import TimestampError, parse_timestamp


def _status(job: Json, _now: float) -> str:
    conditions = (job.get("status") or {}).get("conditions") or []
    holding = {item.get("type") for item in conditions if item.get("status") == "True"}
    for ended in (COMPLETE, FAILED):
        if ended in holding:
            return ended
    if job["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for state in (SUSPENDED, FAILURE_TARGET, SUCCESS_CRITERIA_MET):
        if state in holding:
            return state
    return "Running"


def _completions(job: Json, _now: float) -> str:
    spec, status = job.get("spec") or {}, job.get("status") or {}
    succeeded = status.get("succeeded") or 0
    if spec.get("completions") is not None:
        return f"{succeeded}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration(job: Json, now: float) -> str:
    status = job.get("status") or {}
    try:
        started_at = parse_timestamp(status.get("startTime") or "")
        completed = status.get("completionTime")
        return human_duration((parse_timestamp(completed) if completed else now) - started_at)
    except TimestampError:
        return ""


def _containers(job: Json) -> list[Json]:
    spec: Json = ((job.get("spec") or {}).get("template") or {}).get("spec") or {}
    return spec.get("containers") or []


def _container_names(job: Json, _now: float) -> str:
    return ",".join(container.get("name", "") for container in _containers(job))


def _images(job: Json, _now: float) -> str:
    return ",".join(container.get("image", "") for container in _containers(job))


def _selector(job: Json, _now: float) -> str:
    selector = (job.get("spec") or {}).get("selector") or {}
    labels = selector.get("matchLabels") or {}
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or NONE


JOB_STATUS_COLUMNS = (
    PrintedColumn("Status", "string", "How the job stands.", 0, _status),
    PrintedColumn("Completions", "string", "Pods that have succeeded, of how many.", 0, _completions),
    PrintedColumn("Duration", "string", "Time from its start to its completion, or until now.", 0, _duration),
)
CONTAINER_COLUMNS = (
    PrintedColumn("Containers", "string", "Names of the containers.", 1, _container_names),
    PrintedColumn("Images", "string", "Images of the containers.", 1, _images),
)
JOB_WIDE_COLUMNS = (
    *CONTAINER_COLUMNS,
    PrintedColumn("Selector", "string", "Labels by which its pods are found.", 1, _selector),
)


JOB_COLUMNS = (NAME, *JOB_STATUS_COLUMNS, AGE, *JOB_WIDE_COLUMNS)
