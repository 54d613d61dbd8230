"""Rules for CronJob: what is filled in and what is refused."""

from dataclasses import replace

from posse.kinds.batch import jobs
from posse.kinds.batch.job_columns import CONTAINER_COLUMNS
from posse.kinds.columns import AGE, NAME, NONE, value_at
from posse.kinds.core.pod_defaults import default_pod
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.durations import since
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import fill, fill_text, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn, clear_status, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.cron_job import ALLOW, CronJob, CronJobSpec

SUCCESSFUL_HISTORY = 3
FAILED_HISTORY = 1
# The names of its Jobs end with a time of 10 digits and a dash.
MAX_NAME_LENGTH = 52


def default(obj: Json) -> None:
    spec = section(obj, "spec")
    fill_text(spec, "concurrencyPolicy", ALLOW)
    fill(spec, "suspend", value=False)
    fill(spec, "successfulJobsHistoryLimit", SUCCESSFUL_HISTORY)
    fill(spec, "failedJobsHistoryLimit", FAILED_HISTORY)
    default_pod(section(section(section(spec, "jobTemplate"), "spec"), "template"))


def validate(cron_job: CronJob) -> list[FieldError]:
    errors = metadata_errors(cron_job.metadata, namespaced=True)
    if len(cron_job.metadata.name) > MAX_NAME_LENGTH:
        text = f"must be no more than {MAX_NAME_LENGTH} characters"
        errors.append(FieldError.invalid("metadata.name", cron_job.metadata.name, text))
    return errors + _spec_errors(cron_job.spec)


def validate_update(new: CronJob, old: CronJob) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    return errors if new.spec == old.spec else errors + _spec_errors(new.spec)


def _spec_errors(spec: CronJobSpec) -> list[FieldError]:
    errors = declared_errors("spec", spec)
    of_jobs = jobs.spec_errors_without_selector(spec.job_template.spec)
    if spec.job_template.spec.manual_selector:
        of_jobs.append(
            FieldError.not_supported("spec.manualSelector", bad_value=True, supported=("nil", "false"))
        )
    return errors + [replace(error, field=f"spec.jobTemplate.{error.field}") for error in of_jobs]


RULES = KindRules(
    default=default,
    prepare_create=clear_status,
    prepare_status_update=keep_spec,
    validate=validate,
    validate_update=validate_update,
)


def _last_schedule(obj: Json, now: float) -> str:
    last = (obj.get("status") or {}).get("lastScheduleTime")
    return since(last, now) if last else NONE


def _active(obj: Json, _now: float) -> int:
    return len((obj.get("status") or {}).get("active") or ())


def _is_suspended(obj: Json, _now: float) -> str:
    return str(bool((obj.get("spec") or {}).get("suspend")))


def _of_template(column: PrintedColumn) -> PrintedColumn:
    def cell(obj: Json, now: float) -> str:
        return str(column.cell((obj.get("spec") or {}).get("jobTemplate") or {}, now))

    return replace(column, cell=cell)


CRON_JOB = Kind(
    name="CronJob",
    plural="cronjobs",
    group="batch",
    struct=CronJob,
    rules=RULES,
    columns=(
        NAME,
        PrintedColumn(
            "Schedule", "string", "When Jobs are made.", 0, value_at("spec", "schedule", absent="")
        ),
        PrintedColumn(
            "Timezone", "string", "The time zone of it.", 0, value_at("spec", "timeZone", absent=NONE)
        ),
        PrintedColumn("Suspend", "boolean", "Whether no Jobs are made for now.", 0, _is_suspended),
        PrintedColumn("Active", "integer", "Jobs that run.", 0, _active),
        PrintedColumn("Last Schedule", "string", "When the last Job was made.", 0, _last_schedule),
        AGE,
        *map(_of_template, CONTAINER_COLUMNS),
    ),
    short_names=("cj",),
    categories=("all",),
    has_status=True,
)
